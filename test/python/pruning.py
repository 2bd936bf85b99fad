"""Removes heads from checkpoints of NumPy tensors: what a tool that prunes has to write."""

import json

import numpy as np

from convbert import reference

KEY = "convbert_pruned_heads"


def _layer(tensors, index):
    """Names of a layer's attention tensors below `attention.`, and their full names."""
    part = f"encoder.layer.{index}.attention."
    return {name.split(part)[1]: name for name in tensors if part in name}


def built_heads(config):
    heads = config["num_attention_heads"]
    return heads if reference.family(config) != "convbert" else max(1, heads // config["head_ratio"])


def masked(config, tensors, removed):
    """The tensors with what heads give to the output layer set to zero."""
    tensors = {name: array.copy() for name, array in tensors.items()}
    built = built_heads(config)
    for index, heads in removed.items():
        names = _layer(tensors, index)
        size = tensors[names["self.query.weight"]].shape[0] // built
        output = tensors[names["output.dense.weight"]]
        for head in [*heads.get("attention", []), *(built + head for head in heads.get("conv", []))]:
            output[:, head * size:(head + 1) * size] = 0
    return tensors


def pruned(config, tensors, removed):
    """Configuration and tensors without the heads, in the form of docs/checkpoints.md."""
    tensors = dict(tensors)
    built = built_heads(config)
    for index, heads in removed.items():
        names = _layer(tensors, index)
        size = tensors[names["self.query.weight"]].shape[0] // built
        has_conv = "self.conv_kernel_layer.weight" in names
        attention = [head for head in range(built) if head not in heads.get("attention", [])]
        conv = [head for head in range(built if has_conv else 0) if head not in heads.get("conv", [])]

        def rows(kept, width=size):
            return [head * width + i for head in kept for i in range(width)]

        def keep(name, kept, axis=0, width=size):
            if kept:
                tensors[names[name]] = np.take(tensors[names[name]], rows(kept, width), axis)
            else:
                del tensors[names[name]]

        for name in ("key", "value"):
            keep(f"self.{name}.weight", attention)
            keep(f"self.{name}.bias", attention)
        keep("output.dense.weight", [*attention, *(built + head for head in conv)], axis=1)
        if has_conv:
            taps = tensors[names["self.key_conv_attn_layer.depthwise.weight"]].shape[-1]
            for name, width in (("conv_kernel_layer", taps), ("conv_out_layer", size)):
                keep(f"self.{name}.weight", conv, width=width)
                keep(f"self.{name}.bias", conv, width=width)
        if not conv:  # nothing but attention reads the query, and nothing the span-aware key
            keep("self.query.weight", attention)
            keep("self.query.bias", attention)
            for name in [name for name in names if "key_conv_attn_layer" in name]:
                del tensors[names[name]]
    return {**config, KEY: {str(index): heads for index, heads in removed.items()}}, tensors


def write(directory, config, tensors):
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "config.json").write_text(json.dumps(config), encoding="utf-8")
    reference.write_safetensors(directory / "model.safetensors", tensors)
    return directory
