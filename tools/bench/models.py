"""Checkpoints of the published sizes with random weights, as speed does not depend on their values."""

import json
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "test" / "Import" / "Inputs"))
import make_checkpoint  # noqa: E402

COMMON = make_checkpoint.DEFAULTS | {"architectures": ["ConvBertModel"], "initializer_range": 0.02, "pad_token_id": 0}
#: What is particular about the configurations of YituTech/conv-bert-*.
SIZES = {size: make_checkpoint.SIZES[size] for size in ("small", "medium-small", "base")}


def shapes(config):
    """Names and shapes of the tensors of a ConvBertModel."""
    return make_checkpoint.tensor_shapes("ConvBertModel", config)


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
