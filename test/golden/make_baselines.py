"""Writes the golden checkpoints of BERT and ELECTRA next to this file, and their entries of manifest.json.

    pip install torch transformers safetensors numpy
    PYTHONPATH=../../build/python python make_baselines.py

Random weights, with norms away from 1 and every bias away from 0. Expected outputs are those of transformers in float32
(`name`) and float64 (`f64.name`). suggested_atol is four times the worse of two float32 errors against float64, the
library's and NumPy's, rounded up to one digit, at least 1e-6.
"""

import json
import math
import shutil
from pathlib import Path

import numpy as np
import torch
import transformers
from convbert import reference
from safetensors.torch import save_file

HERE = Path(__file__).resolve().parent
SIZES = dict(vocab_size=31, hidden_size=24, num_hidden_layers=1, num_attention_heads=3, intermediate_size=37,
             max_position_embeddings=12, type_vocab_size=2)
BERT = dict(SIZES, model_type="bert")
ELECTRA = dict(SIZES, model_type="electra", embedding_size=10)
THREE = dict(id2label={"0": "no", "1": "maybe", "2": "yes"}, label2id={"no": 0, "maybe": 1, "yes": 2})

# directory: class, configuration, what it is there for
CASES = {
    "bert": ("BertModel", dict(BERT, num_hidden_layers=2), "pooler, hidden states"),
    "bert_no_pooler": ("BertModel", BERT, "a bare model saved without its pooler"),
    "bert_mlm": ("BertForMaskedLM", dict(BERT, hidden_act="gelu_new"),
                 "as the first published files: gamma and beta, both heads of the pre-training, both names of the "
                 "decoder's bias, position_ids; the head's activation is the encoder's"),
    "bert_pretraining": ("BertForPreTraining", BERT, "two results"),
    "bert_seqcls": ("BertForSequenceClassification", dict(BERT, **THREE, layer_norm_eps=1e-3),
                    "tanh of the pooler; a large epsilon"),
    "bert_tokcls": ("BertForTokenClassification", dict(BERT, **THREE), "no pooler"),
    "bert_qa": ("BertForQuestionAnswering", BERT, ""),
    "bert_mc": ("BertForMultipleChoice", BERT, "the pooler speaks for a choice"),
    "electra": ("ElectraModel", dict(ELECTRA, num_hidden_layers=2), "projection of the embeddings, hidden states"),
    "electra_mlm": ("ElectraForMaskedLM", dict(ELECTRA, hidden_act="relu"),
                    "gelu in the head whatever the encoder has"),
    "electra_rtd": ("ElectraForPreTraining", dict(ELECTRA, hidden_act="relu"), "the encoder's activation in the head"),
    "electra_seqcls": ("ElectraForSequenceClassification", dict(ELECTRA, **THREE, hidden_act="relu"),
                       "gelu in the head whatever the encoder has"),
    "electra_tokcls": ("ElectraForTokenClassification", dict(ELECTRA, embedding_size=24), "no projection"),
    "electra_qa": ("ElectraForQuestionAnswering", ELECTRA, ""),
    "electra_mc": ("ElectraForMultipleChoice", ELECTRA, "first token, projection, gelu by default"),
}


def randomize(model):
    """Weights of a size at which every part of the model shows in its outputs."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for name, value in model.named_parameters():
            std = 0.3 if name.endswith("bias") or "LayerNorm" in name else 1.0 / math.sqrt(value.shape[-1])
            if "embeddings.weight" in name:
                std = 0.7
            value.normal_(0, std, generator=generator)
            if name.endswith("LayerNorm.weight"):
                value += 1


def inputs_of(cls):
    ids = np.random.default_rng(7).integers(0, SIZES["vocab_size"], (2, 9))
    mask, types = np.ones_like(ids), np.zeros_like(ids)
    mask[1, 6:] = 0
    types[:, 4:] = 1
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
    if cls.endswith("ForMultipleChoice"):  # one question with two choices
        inputs = {name: array[None] for name, array in inputs.items()}
    return inputs


def run(model, inputs, dtype):
    with torch.no_grad():
        out = model.to(dtype)(**{name: torch.from_numpy(array) for name, array in inputs.items()},
                              output_hidden_states=True)
    arrays = {name: out[name].numpy() for name in out if name != "hidden_states"}
    if model.config.num_hidden_layers > 1:
        arrays.update({f"hidden_states.{i}": state.numpy() for i, state in enumerate(out.hidden_states)})
    return arrays


def as_published(tensors, model):
    """What the first files of BERT hold beside what the class needs, under the names of their time."""
    old = {}
    for name, value in tensors.items():
        old[name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")] = value
    width = model.config.hidden_size
    for name, shape in {"bert.pooler.dense.weight": (width, width), "bert.pooler.dense.bias": (width,),
                        "cls.seq_relationship.weight": (2, width), "cls.seq_relationship.bias": (2,)}.items():
        old[name] = torch.ones(shape)
    old["cls.predictions.decoder.bias"] = tensors["cls.predictions.bias"].clone()
    old["bert.embeddings.position_ids"] = torch.arange(model.config.max_position_embeddings)[None]
    return old


def rounded_up(error):
    digit = 10.0 ** math.floor(math.log10(error))
    return max(1e-6, math.ceil(error / digit) * digit)


def write(name, cls, config, tests):
    directory = HERE / name
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    kind = transformers.BertConfig if config["model_type"] == "bert" else transformers.ElectraConfig
    model = getattr(transformers, cls)(kind(**{k: v for k, v in config.items() if k != "model_type"}))
    randomize(model)
    model.tie_weights()
    model.eval()
    inputs = inputs_of(cls)
    single = run(model, inputs, torch.float32)
    tensors = dict(model.state_dict())
    exact = run(model, inputs, torch.float64)
    tensors = {key: value.float() if value.is_floating_point() else value for key, value in tensors.items()}
    for tied in ("cls.predictions.decoder.weight", "cls.predictions.decoder.bias", "generator_lm_head.weight"):
        if model.config.tie_word_embeddings:
            tensors.pop(tied, None)
    if name == "bert_mlm":
        tensors = as_published(tensors, model)
    if name == "bert_no_pooler":
        tensors = {key: value for key, value in tensors.items() if "pooler" not in key}
        single.pop("pooler_output"), exact.pop("pooler_output")
    save_file({key: value.contiguous().clone() for key, value in tensors.items()}, directory / "model.safetensors")
    written = {"architectures": [cls], **config}
    (directory / "config.json").write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    reference.write_safetensors(directory / "expected.safetensors", {
        **inputs, **single, **{"f64." + key: value for key, value in exact.items()}})
    loaded, parameters = reference.load_checkpoint(directory)
    numpy = reference.forward(loaded, parameters, inputs, cls, np.float32)
    double = reference.forward(loaded, parameters, inputs, cls)
    gap = {key: float(np.abs(value - exact[key]).max()) for key, value in single.items()}
    own = {key: float(np.abs(numpy[key] - exact[key]).max()) for key in single}
    return {"case": name, "dir": name, "expected": "expected.safetensors", "class": cls, "tests": tests,
            "inputs": {key: {"shape": list(value.shape), "dtype": str(value.dtype)} for key, value in inputs.items()},
            "outputs": {key: list(value.shape) for key, value in single.items()},
            "max_abs_err_f32_vs_f64": {key: float(f"{value:.3g}") for key, value in gap.items()},
            "max_abs_err_numpy_f32_vs_f64": {key: float(f"{value:.3g}") for key, value in own.items()},
            "numpy_f64_vs_f64": float(f"{max(np.abs(double[key] - exact[key]).max() for key in exact):.3g}"),
            "suggested_atol": {key: float(f"{rounded_up(4 * max(gap[key], own[key], 1e-9)):.1g}") for key in single},
            "equals": None}


def main():
    path = HERE / "manifest.json"
    text = path.read_text(encoding="utf-8")
    rows = [row for row in json.loads(text)["cases"] if row["dir"] not in CASES]
    rows += [write(name, *case) for name, case in CASES.items()]
    head = text[:text.index(' "cases": [')]
    lines = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text(head + ' "cases": [\n' + lines + "\n]}\n", encoding="utf-8")
    for row in rows[-len(CASES):]:
        print(row["case"], row["numpy_f64_vs_f64"], row["suggested_atol"])


if __name__ == "__main__":
    main()
