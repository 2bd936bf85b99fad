"""Checkpoints for tests: the stored ones by name, and random or empty ones of any size."""

import json
import struct
from pathlib import Path

import numpy as np

from convbert import reference

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "test" / "golden"
DEMO = ROOT / "demo"
INPUTS = ("input_ids", "inputs_embeds", "encoder_input", "attention_mask", "token_type_ids", "position_ids")

SMALL = dict(vocab_size=30522, max_position_embeddings=512, type_vocab_size=2, embedding_size=128, hidden_size=256,
             num_hidden_layers=12, num_attention_heads=4, head_ratio=2, conv_kernel_size=9, intermediate_size=1024,
             num_groups=1)
MEDIUM_SMALL = dict(SMALL, hidden_size=384, num_attention_heads=8, intermediate_size=1536, num_groups=2)
BASE = dict(SMALL, embedding_size=768, hidden_size=768, num_attention_heads=12, intermediate_size=3072)


def golden_manifest():
    """The list of stored cases."""
    return json.loads((GOLDEN / "manifest.json").read_text(encoding="utf-8"))["cases"]


def golden_inputs(case):
    """The arguments of a stored case by name."""
    stored = reference.read_safetensors(GOLDEN / case["dir"] / case["expected"])
    return {name: stored[name] for name in INPUTS if name in stored}


def body_shapes(c):
    """Names and shapes of the tensors of a bare model of configuration `c`, in file order."""
    d, e, inner, taps, groups = (c[k] for k in ("hidden_size", "embedding_size", "intermediate_size",
                                                "conv_kernel_size", "num_groups"))
    heads = max(1, c["num_attention_heads"] // c["head_ratio"])
    a = d // heads // 2 * heads
    shapes = {"embeddings.word_embeddings.weight": (c["vocab_size"], e),
              "embeddings.position_embeddings.weight": (c["max_position_embeddings"], e),
              "embeddings.token_type_embeddings.weight": (c["type_vocab_size"], e),
              "embeddings.LayerNorm.weight": (e,), "embeddings.LayerNorm.bias": (e,)}
    if e != d:
        shapes.update({"embeddings_project.weight": (d, e), "embeddings_project.bias": (d,)})
    up, down = ((inner, d), (d, inner)) if groups == 1 else ((groups, d // groups, inner // groups),
                                                             (groups, inner // groups, d // groups))
    for i in range(c["num_hidden_layers"]):
        layer = {}
        for name in ("query", "key", "value", "conv_out_layer"):
            layer.update({f"attention.self.{name}.weight": (a, d), f"attention.self.{name}.bias": (a,)})
        layer.update({
            "attention.self.key_conv_attn_layer.depthwise.weight": (d, 1, taps),
            "attention.self.key_conv_attn_layer.pointwise.weight": (a, d, 1),
            "attention.self.key_conv_attn_layer.bias": (a, 1),
            "attention.self.conv_kernel_layer.weight": (heads * taps, a),
            "attention.self.conv_kernel_layer.bias": (heads * taps,),
            "attention.output.dense.weight": (d, 2 * a), "attention.output.dense.bias": (d,),
            "attention.output.LayerNorm.weight": (d,), "attention.output.LayerNorm.bias": (d,),
            "intermediate.dense.weight": up, "intermediate.dense.bias": (inner,),
            "output.dense.weight": down, "output.dense.bias": (d,),
            "output.LayerNorm.weight": (d,), "output.LayerNorm.bias": (d,)})
        shapes.update({f"encoder.layer.{i}.{name}": shape for name, shape in layer.items()})
    return shapes


def write_config(directory, c):
    directory.mkdir(parents=True, exist_ok=True)
    text = json.dumps(dict(c, model_type="convbert", architectures=["ConvBertModel"], hidden_act="gelu",
                           layer_norm_eps=1e-12))
    (directory / "config.json").write_text(text, encoding="utf-8")


def write_random(directory, c, seed=0):
    """A bare model with random float32 weights of a trained model's size; returns the path of its weights."""
    write_config(directory, c)
    rng = np.random.default_rng(seed)
    tensors = {}
    for name, shape in body_shapes(c).items():
        values = rng.standard_normal(shape, dtype=np.float32) * np.float32(0.05)
        tensors[name] = values + 1 if name.endswith("LayerNorm.weight") else values
    reference.write_safetensors(directory / "model.safetensors", tensors)
    return directory / "model.safetensors"


def write_empty(directory, c):
    """A bare model whose weights are a hole in the file: all zero, and no room on disk."""
    write_config(directory, c)
    header, offset = {}, 0
    for name, shape in body_shapes(c).items():
        size = 4 * int(np.prod(shape))
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(directory / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + offset)


def write_changed(source, directory, change):
    """A copy of the checkpoint `source` whose tensors (a dictionary) went through `change`."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "config.json").write_bytes((source / "config.json").read_bytes())
    tensors = reference.read_safetensors(source / "model.safetensors")
    change(tensors)
    reference.write_safetensors(directory / "model.safetensors", tensors)


class LoadedModels:
    """Models by directory, number of threads and target, each loaded once a test run."""

    def __init__(self):
        self.models = {}

    def __call__(self, directory, threads=1, target=None):
        import convbert

        key = (str(directory), threads, target)
        if key not in self.models:
            self.models[key] = convbert.load(directory, threads=threads, target=target)
        return self.models[key]


loaded = LoadedModels()
