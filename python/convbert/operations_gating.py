"""Gates: what a whole sequence says about its channels, on values of a graph."""

from __future__ import annotations

from collections.abc import Sequence

from .graph import Value
from .operations import Mask, Pooled, Rows, Weight, keyword, layout_of, one, operation, squeezed


@operation
def scale_channels(x: Rows, gate: Pooled) -> Value:
    """x times one factor for each sequence and channel, [B, C]."""
    return one(x.graph.emit("scale_channels", "$x, $gate", dict(x=x, gate=gate), [x.type]))


@operation
def select_branches(branches: Sequence[Rows], logits: Sequence[Pooled]) -> Value:
    """Branches of one shape, [B, T, C], summed with the softmax over the branches of as many logits, [B, C]."""
    x = branches[0]
    return one(x.graph.emit("select_branches", "$branches by($logits)", dict(branches=branches, logits=logits), [x.type]))


@operation
def squeeze_excite(x: Rows, w1: Weight, w2: Weight, b1: Weight | None = None, b2: Weight | None = None,
                   mask: Mask | None = None, *, gate: str = "sigmoid", layout: str = "out_in") -> Value:
    """gate(relu(mean(x) W1 + b1) W2 + b2) * x; mask: which tokens the mean is taken of. gate: sigmoid or
    hard_sigmoid."""
    order = layout_of(layout)
    w1, w2 = squeezed(w1, "w1", layout=order), squeezed(w2, "w2", layout=order)
    return one(x.graph.emit("squeeze_excite", "$x squeeze($w1[, $b1]) excite($w2[, $b2]) [mask($mask)]",
                            dict(x=x, w1=w1, b1=b1, w2=w2, b2=b2, mask=mask), [x.type],
                            gate=keyword("gate", "activation", gate, ("sigmoid", "hard_sigmoid")), layout=order))


@operation
def selective_kernel(branches: Sequence[Rows], wz: Weight, a: Weight, scale: Weight | None = None,
                     shift: Weight | None = None, *, layout: str = "out_in") -> Value:
    """Branches of one shape weighed against each other for each channel: softmax over the branches of
    relu(scale * mean(sum) Wz + shift) A[m]. a: [M, D, C]."""
    x, order = branches[0], layout_of(layout)
    wz = squeezed(wz, "wz", layout=order)
    return one(x.graph.emit("selective_kernel", "$branches squeeze($wz) [scale($scale)] [shift($shift)] select($a)",
                            dict(branches=branches, wz=wz, scale=scale, shift=shift, a=a), [x.type], layout=order))
