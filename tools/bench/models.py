"""Checkpoints of the published sizes with random weights, as speed does not depend on their values."""

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

COMMON = {"model_type": "convbert", "architectures": ["ConvBertModel"], "vocab_size": 30522, "num_hidden_layers": 12,
          "head_ratio": 2, "conv_kernel_size": 9, "hidden_act": "gelu", "max_position_embeddings": 512,
          "type_vocab_size": 2, "layer_norm_eps": 1e-12, "initializer_range": 0.02, "pad_token_id": 0}
#: Configurations of YituTech/conv-bert-*.
SIZES = {
    "small": {"hidden_size": 256, "embedding_size": 128, "num_attention_heads": 4, "num_groups": 1,
              "intermediate_size": 1024},
    "medium-small": {"hidden_size": 384, "embedding_size": 128, "num_attention_heads": 8, "num_groups": 2,
                     "intermediate_size": 1536},
    "base": {"hidden_size": 768, "embedding_size": 768, "num_attention_heads": 12, "num_groups": 1,
             "intermediate_size": 3072},
}


def shapes(config):
    """Names and shapes of the tensors of a ConvBertModel."""
    d, e, inner, taps = (config[k] for k in ("hidden_size", "embedding_size", "intermediate_size", "conv_kernel_size"))
    heads = config["num_attention_heads"] // config["head_ratio"]
    width, groups = d // config["num_attention_heads"] * heads, config["num_groups"]

    def norm(name, size):
        return {f"{name}.LayerNorm.weight": (size,), f"{name}.LayerNorm.bias": (size,)}

    def dense(name, out, into):
        return {f"{name}.weight": (out, into), f"{name}.bias": (out,)}

    found = {"embeddings.word_embeddings.weight": (config["vocab_size"], e),
             "embeddings.position_embeddings.weight": (config["max_position_embeddings"], e),
             "embeddings.token_type_embeddings.weight": (config["type_vocab_size"], e), **norm("embeddings", e)}
    if e != d:
        found |= dense("embeddings_project", d, e)
    for layer in range(config["num_hidden_layers"]):
        prefix = f"encoder.layer.{layer}."
        attention = prefix + "attention.self."
        for name in ("query", "key", "value", "conv_out_layer"):
            found |= dense(attention + name, width, d)
        found |= {f"{attention}key_conv_attn_layer.depthwise.weight": (d, 1, taps),
                  f"{attention}key_conv_attn_layer.pointwise.weight": (width, d, 1),
                  f"{attention}key_conv_attn_layer.bias": (width, 1)}
        found |= dense(attention + "conv_kernel_layer", heads * taps, width)
        found |= dense(prefix + "attention.output.dense", d, 2 * width) | norm(prefix + "attention.output", d)
        if groups == 1:
            found |= dense(prefix + "intermediate.dense", inner, d) | dense(prefix + "output.dense", d, inner)
        else:
            for name, out, into in (("intermediate", inner, d), ("output", d, inner)):
                found |= {f"{prefix}{name}.dense.weight": (groups, into // groups, out // groups),
                          f"{prefix}{name}.dense.bias": (out,)}
        found |= norm(prefix + "output", d)
    return found


def make(size, folder):
    """The checkpoint directory of a size, written on first use."""
    path = Path(folder) / size
    if (path / "config.json").exists():
        return path
    path.mkdir(parents=True, exist_ok=True)
    config = COMMON | SIZES[size]
    rng = np.random.default_rng(0)
    tensors = {}
    for name, shape in shapes(config).items():
        if name.endswith("LayerNorm.weight"):
            tensors[name] = np.ones(shape, np.float32)
        else:
            tensors[name] = rng.standard_normal(shape, np.float32) * np.float32(config["initializer_range"])
    save_file(tensors, path / "model.safetensors", metadata={"format": "pt"})
    # Last: its presence says that the rest is there.
    (path / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    return path
