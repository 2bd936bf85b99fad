"""Writes the networks of torch_networks.py next to this file: state dicts, inputs, and outputs in float32 and float64.

    pip install torch safetensors numpy
    PYTHONPATH=../../build/python python make_networks.py
"""

from pathlib import Path

import numpy as np
import torch
import torch_networks as networks
from convbert.reference_files import write_safetensors

HERE = Path(__file__).resolve().parent


def arrays(prefix, values):
    return {f"{prefix}{name}": value.detach().numpy() for name, value in values.items()}


@torch.no_grad()
def main():
    for name in networks.FAIRSEQ:
        network = networks.fairseq(name)
        ids = torch.randint(2, 13, (2, 24))
        ids[1, 9:] = network.encoder.padding_idx
        mask = ids.eq(network.encoder.padding_idx)
        stored = arrays("weights.", network.state_dict()) | {"ids": ids.numpy(), "x": network.encoder.embed(ids).numpy()}
        x = network.encoder.embed(ids).transpose(0, 1)
        stored["f32"] = network.encoder(x, mask).numpy()
        stored["f64"] = network.double().encoder(x.double(), mask).numpy()
        write_safetensors(HERE / f"fairseq_{name}.safetensors", {n: np.ascontiguousarray(a) for n, a in stored.items()})
    for name in ("se", "se_stride", "sk"):
        network, x = networks.residual(name), torch.randn(2, 7, 19)
        stored = arrays("weights.", network.state_dict()) | {"x": x.numpy(), "f32": network(x).numpy()}
        stored["f64"] = network.double()(x.double()).numpy()
        write_safetensors(HERE / f"{name}.safetensors", {n: np.ascontiguousarray(a) for n, a in stored.items()})


if __name__ == "__main__":
    main()
