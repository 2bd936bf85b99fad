"""Networks of the operator family from state dicts that other libraries trained, compiled.

    from convbert.networks import load_fairseq_encoder

    encoder = load_fairseq_encoder(torch.load("checkpoint.pt")["model"], heads=8)
    out = encoder(*encoder.embed(ids))      # [B, T, C]
"""

from __future__ import annotations

from .import_fairseq import FairseqEncoder, load_fairseq_encoder
from .import_residual import load_residual_network

__all__ = ["FairseqEncoder", "load_fairseq_encoder", "load_residual_network"]
