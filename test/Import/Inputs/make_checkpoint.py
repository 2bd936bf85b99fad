"""Writes a checkpoint directory whose weights are one sparse file: headers are real, all numbers are zero.

    make_checkpoint.py DIR [--size small|medium-small|base|tiny] [--class ConvBertModel] [--dtype F32] [--tensorflow]
                       [key=value ...]

Classes of BERT and ELECTRA (with model_type=bert, electra) have layers without convolution heads.
`key=value` changes config.json (values are JSON where they parse, else strings); tensors follow the configuration.
`drop=NAME` and `add=NAME:2x3` take a tensor away and add one.  A base-size directory takes no space worth naming.
"""

import argparse
import json
import os
import struct

SIZES = {
    "tiny": dict(vocab_size=11, embedding_size=4, hidden_size=8, num_hidden_layers=2, num_attention_heads=4,
                 conv_kernel_size=3, intermediate_size=12, max_position_embeddings=7),
    "small": dict(embedding_size=128, hidden_size=256, num_attention_heads=4, intermediate_size=1024),
    "medium-small": dict(embedding_size=128, hidden_size=384, num_attention_heads=8, intermediate_size=1536,
                         num_groups=2),
    "base": dict(),
}
DEFAULTS = dict(model_type="convbert", vocab_size=30522, embedding_size=768, hidden_size=768, num_hidden_layers=12,
                num_attention_heads=12, head_ratio=2, conv_kernel_size=9, num_groups=1, intermediate_size=3072,
                hidden_act="gelu", max_position_embeddings=512, type_vocab_size=2, layer_norm_eps=1e-12)


def pair(shapes, name, *shape):
    shapes[name + ".weight"] = list(shape)
    shapes[name + ".bias"] = [shape[0]]


def layer_shapes(shapes, prefix, c):
    width, inner, taps, groups = (c[k] for k in ("hidden_size", "intermediate_size", "conv_kernel_size", "num_groups"))
    heads = max(1, c["num_attention_heads"] // c["head_ratio"])
    plain = c["model_type"] in ("bert", "electra")
    attention = width if plain else heads * (width // heads // 2)
    own = prefix + "attention.self."
    for name in ("query", "key", "value") if plain else ("query", "key", "value", "conv_out_layer"):
        pair(shapes, own + name, attention, width)
    if not plain:
        conv_shapes(shapes, own, width, attention, heads, taps)
    pair(shapes, prefix + "attention.output.dense", width, attention if plain else 2 * attention)
    pair(shapes, prefix + "attention.output.LayerNorm", width)
    pair(shapes, prefix + "intermediate.dense", inner, width)
    pair(shapes, prefix + "output.dense", width, inner)
    pair(shapes, prefix + "output.LayerNorm", width)
    if groups > 1:
        shapes[prefix + "intermediate.dense.weight"] = [groups, width // groups, inner // groups]
        shapes[prefix + "output.dense.weight"] = [groups, inner // groups, width // groups]


def conv_shapes(shapes, own, width, attention, heads, taps):
    shapes[own + "key_conv_attn_layer.depthwise.weight"] = [width, 1, taps]
    shapes[own + "key_conv_attn_layer.pointwise.weight"] = [attention, width, 1]
    shapes[own + "key_conv_attn_layer.bias"] = [attention, 1]
    pair(shapes, own + "conv_kernel_layer", heads * taps, attention)


def bert_head_shapes(shapes, name, c):
    width, labels = c["hidden_size"], c.get("num_labels", 2)
    if name in ("BertModel", "BertForPreTraining", "BertForSequenceClassification", "BertForMultipleChoice"):
        pair(shapes, ("" if name == "BertModel" else "bert.") + "pooler.dense", width, width)
    if name in ("BertForMaskedLM", "BertForPreTraining"):
        pair(shapes, "cls.predictions.transform.dense", width, width)
        pair(shapes, "cls.predictions.transform.LayerNorm", width)
        shapes["cls.predictions.bias"] = [c["vocab_size"]]
    if name == "BertForPreTraining":
        pair(shapes, "cls.seq_relationship", 2, width)
    if name in ("BertForSequenceClassification", "BertForTokenClassification", "BertForMultipleChoice"):
        pair(shapes, "classifier", 1 if name == "BertForMultipleChoice" else labels, width)
    if name == "BertForQuestionAnswering":
        pair(shapes, "qa_outputs", 2, width)


def head_shapes(shapes, name, c):
    name = name.replace("Electra", "ConvBert")
    width, emb, vocab = c["hidden_size"], c["embedding_size"], c["vocab_size"]
    labels = len(c["id2label"]) if "id2label" in c else c.get("num_labels", 2)
    if name == "ConvBertForMaskedLM":
        pair(shapes, "generator_predictions.dense", emb, width)
        pair(shapes, "generator_predictions.LayerNorm", emb)
        shapes["generator_lm_head.bias"] = [vocab]
        if not c.get("tie_word_embeddings", True):
            shapes["generator_lm_head.weight"] = [vocab, emb]
    elif name == "ConvBertForSequenceClassification":
        pair(shapes, "classifier.dense", width, width)
        pair(shapes, "classifier.out_proj", labels, width)
    elif name == "ConvBertForTokenClassification":
        pair(shapes, "classifier", labels, width)
    elif name == "ConvBertForQuestionAnswering":
        pair(shapes, "qa_outputs", 2, width)
    elif name == "ConvBertForPreTraining":
        pair(shapes, "discriminator_predictions.dense", width, width)
        pair(shapes, "discriminator_predictions.dense_prediction", 1, width)
    elif name == "ConvBertForMultipleChoice":
        pair(shapes, "classifier", 1, width)
        if c.get("summary_use_proj", c["model_type"] == "electra"):
            pair(shapes, "sequence_summary.summary", width, width)


def tensor_shapes(name, c):
    shapes = {}
    family = next(family for family in ("ConvBert", "Bert", "Electra") if name.startswith(family))
    prefix = "" if name == family + "Model" else family.lower() + "."
    for table, rows in (("word", "vocab_size"), ("position", "max_position_embeddings"), ("token_type", "type_vocab_size")):
        shapes[f"{prefix}embeddings.{table}_embeddings.weight"] = [c[rows], c["embedding_size"]]
    pair(shapes, prefix + "embeddings.LayerNorm", c["embedding_size"])
    if c["embedding_size"] != c["hidden_size"]:
        pair(shapes, prefix + "embeddings_project", c["hidden_size"], c["embedding_size"])
    for i in range(c["num_hidden_layers"]):
        layer_shapes(shapes, f"{prefix}encoder.layer.{i}.", c)
    (bert_head_shapes if family == "Bert" else head_shapes)(shapes, name, c)
    return shapes


def tensorflow_shapes(shapes):
    """The variables of the original code for a bare model without groups."""
    renamed = {"global_step": [1]}
    parts = {"key_conv_attn_layer": "conv_attn_key", "conv_kernel_layer": "conv_attn_kernel",
             "conv_out_layer": "conv_attn_point"}
    for name, shape in shapes.items():
        path = [parts.get(part, part) for part in name.replace("encoder.layer.", "encoder.layer_").split(".")]
        if path[-1] == "weight" and path[-2] in ("depthwise", "pointwise"):
            path[-2:] = [path[-2] + "_kernel"]
            shape = [shape[2], shape[0], 1] if path[-1] == "depthwise_kernel" else [1, shape[1], shape[0]]
        elif path[-2] == "LayerNorm":
            path[-1] = {"weight": "gamma", "bias": "beta"}[path[-1]]
        elif path[-2].endswith("_embeddings"):
            path.pop()
        elif path[-1] == "weight":
            path[-1], shape = "kernel", shape[::-1]
        else:
            shape = shape[:1]
        renamed["electra/" + "/".join(path)] = shape
    return renamed


def write_safetensors(path, shapes, dtype):
    header, offset = {}, 0
    for name, shape in shapes.items():
        size = 4 if dtype == "F32" else 2
        for dim in shape:
            size *= dim
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        f.truncate(8 + len(text) + offset)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory")
    parser.add_argument("--size", choices=SIZES, default="tiny")
    parser.add_argument("--class", dest="name", default="ConvBertModel")
    parser.add_argument("--dtype", choices=("F32", "F16", "BF16"), default="F32")
    parser.add_argument("--tensorflow", action="store_true")
    parser.add_argument("changes", nargs="*")
    args = parser.parse_intermixed_args()

    config = dict(DEFAULTS, architectures=[args.name])
    config.update(SIZES[args.size])
    if args.name.startswith("Bert"):
        config["embedding_size"] = config["hidden_size"]
    drop, add = [], []
    for change in args.changes:
        key, value = change.split("=", 1)
        if key == "drop":
            drop.append(value)
        elif key == "add":
            add.append(value)
        else:
            try:
                config[key] = json.loads(value)
            except json.JSONDecodeError:
                config[key] = value
    shapes = tensor_shapes(args.name, config)
    for name in drop:
        del shapes[name]
    for entry in add:
        name, shape = entry.split(":")
        shapes[name] = [int(d) for d in shape.split("x")]

    os.makedirs(args.directory, exist_ok=True)
    with open(os.path.join(args.directory, "config.json"), "w", encoding="utf-8") as f:
        json.dump(config, f, indent=1)
    if args.tensorflow:
        shapes = tensorflow_shapes(shapes)
    write_safetensors(os.path.join(args.directory, "model.safetensors"), shapes, args.dtype)


if __name__ == "__main__":
    main()
