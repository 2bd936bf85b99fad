"""Attention, on values of a graph."""

from __future__ import annotations

import math

from .graph import Graph, Value
from .ir_text import BATCH, TensorType
from .operations import Factors, Mask, Rows, Weight, layout_of, one, operation, out_features, squeezed


def _key_bias(graph: Graph, mask: Mask | None) -> Value | None:
    if mask is None:
        return None
    return one(graph.emit("attention_bias", "$mask", dict(mask=mask), [TensorType(mask.shape)]))


@operation
def scale_heads(x: Rows, scales: Factors) -> Value:
    """The features of head h times scales[h]."""
    return one(x.graph.emit("scale_heads", "$x, $scales", dict(x=x, scales=scales), [x.type]))


@operation
def self_attention(q: Rows, k: Rows, v: Rows, mask: Mask | None = None, head_mask: Factors | None = None, *, heads: int,
                   scale: float | None = None, with_probabilities: bool = False) -> Value | tuple[Value, ...]:
    """softmax(scale q k^T) v on heads; mask: which keys count. scale: 1 / sqrt(features of a head) if left out.

    with_probabilities: also what the values are mixed with, [B, H, T, T].
    """
    if heads < 1 or k.features % heads:
        raise ValueError(f"heads: requires a divisor of the {k.features} features of k, but found {heads}")
    scale = 1 / math.sqrt(k.features // heads) if scale is None else float(scale)
    results = [q.type.with_features(v.features)]
    if with_probabilities:
        results.append(TensorType((BATCH, heads, q.shape[1], k.shape[1])))
    made = q.graph.emit("self_attention", "$q, $k, $v [bias($bias)] [head_mask($head_mask)]",
                        dict(q=q, k=k, v=v, bias=_key_bias(q.graph, mask), head_mask=head_mask), results,
                        heads=heads, scale=scale, with_probabilities=with_probabilities)
    return made if with_probabilities else one(made)


@operation
def mixed_attention(x: Rows, wq: Weight, bq: Weight, wk: Weight | None = None, bk: Weight | None = None,
                    wv: Weight | None = None, bv: Weight | None = None, wd: Weight | None = None,
                    wp: Weight | None = None, bp: Weight | None = None, wf: Weight | None = None,
                    bf: Weight | None = None, wc: Weight | None = None, bc: Weight | None = None, *, wo: Weight,
                    bo: Weight, mask: Mask | None = None, conv_mask: Mask | None = None,
                    head_mask: Factors | None = None, attn_heads: int, conv_heads: int, head_size: int,
                    layout: str = "out_in") -> Value:
    """Self-attention heads beside span-based dynamic convolution heads, as in ConvBERT; without wc both share the
    values, as in the paper."""
    order = layout_of(layout)
    wd, wp = squeezed(wd, "wd") if wd else None, squeezed(wp, "wp", layout=order) if wp else None
    return one(x.graph.emit(
        "mixed_attention", "$x query($wq, [$bq]) [key($wk,] [$bk)] [value($wv,] [$bv)] [span($wd,] [$wp,] [$bp)] "
        "[kernel($wf,] [$bf)] [conv($wc,] [$bc)] output($wo, [$bo]) [bias($bias)] [conv_mask($conv_mask)] "
        "[head_mask($head_mask)]",
        dict(x=x, wq=wq, bq=bq, wk=wk, bk=bk, wv=wv, bv=bv, wd=wd, wp=wp, bp=bp, wf=wf, bf=bf, wc=wc, bc=bc, wo=wo,
             bo=bo, bias=_key_bias(x.graph, mask), conv_mask=conv_mask, head_mask=head_mask),
        [x.type.with_features(out_features(wo, order))], attn_heads=attn_heads, conv_heads=conv_heads,
        head_size=head_size, layout=order))
