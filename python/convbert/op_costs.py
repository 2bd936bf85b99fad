"""The operators of the family at one size, and what they cost: the rows of `convbert info --ops` and of
`convbert compare-ops`.

Each is built without biases, where the operation can do without, and the dialect is asked. A new operator is one more
function here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .compiler import module_costs
from .errors import shown
from .graph import Graph, Value
from .operations_attention import mixed_attention, self_attention
from .operations_conv import (conv1d, depthwise_conv1d, dynamic_conv, kernel_attention_conv, light_conv,
                              separable_conv1d, span_dynamic_conv)
from .operations_gating import selective_kernel, squeeze_excite
from .operations_nn import dense, grouped_dense

#: Families of operators, in the order in which they are shown.
CONVOLUTION, DYNAMIC, ATTENTION, GATE = FAMILIES = ("convolution", "lightweight and dynamic", "attention", "gates")


@dataclass(frozen=True)
class Sizes:
    """C channels, T tokens, K taps, H heads; half of the heads and channels in each branch of mixed attention."""

    channels: int = 768
    length: int = 128
    kernel: int = 9
    heads: int = 12

    def __post_init__(self) -> None:
        for name in ("channels", "length", "kernel", "heads"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name}: requires a number >= 1, but found {shown(value)}")
        if self.kernel % 2 == 0:
            raise ValueError(f"kernel: requires an odd number of taps, but found {self.kernel}")
        if self.heads % 2 or self.channels % self.heads:
            raise ValueError(f"heads: requires an even divisor of {self.channels} channels, but found {self.heads}")

    @property
    def head_size(self) -> int:
        return self.channels // self.heads

    @property
    def branch(self) -> int:
        """Channels of one branch of mixed attention."""
        return self.channels // 2


@dataclass(frozen=True)
class Row:
    """An operator: elements of its weights, multiply-accumulates, bytes of operands and results."""

    operator: str
    parameters: int
    macs: int
    reads: int
    writes: int


@dataclass(frozen=True)
class Operator:
    """One row: build(x, sizes) puts it into the graph of x, [B, T, C], with what else it reads for inputs of [B, T, n]."""

    name: str
    family: str
    #: Tokens around one that its result depends on; None: all tokens of the sequence.
    window: Callable[[Sizes], int | None]
    build: Callable[[Value, Sizes], Value]

    def graph(self, sizes: Sizes) -> Graph:
        """A function of the operator alone."""
        graph = Graph("operator")
        graph.output(self.build(graph.input("x", sizes.channels), sizes))
        return graph


OPERATORS: dict[str, Operator] = {}
Build = Callable[[Value, Sizes], Value]


def _one_token(sizes: Sizes) -> int:
    return 1


def _taps(sizes: Sizes) -> int:
    return sizes.kernel


def _all_tokens(sizes: Sizes) -> None:
    return None


def operator(name: str, family: str, window: Callable[[Sizes], int | None]) -> Callable[[Build], Build]:
    def register(build: Build) -> Build:
        OPERATORS[name] = Operator(name, family, window, build)
        return build
    return register


def _linear(x: Value, name: str, features: int) -> Value:
    return dense(x, x.graph.parameter(name, (features, x.features)))


@operator("regular", CONVOLUTION, _taps)
def _regular(x: Value, s: Sizes) -> Value:
    return conv1d(x, x.graph.parameter("w", (s.channels, s.channels, s.kernel)))


@operator("depthwise", CONVOLUTION, _taps)
def _depthwise(x: Value, s: Sizes) -> Value:
    return depthwise_conv1d(x, x.graph.parameter("w", (s.channels, s.kernel)))


@operator("pointwise", CONVOLUTION, _one_token)
def _pointwise(x: Value, s: Sizes) -> Value:
    return _linear(x, "w", s.channels)


@operator("depthwise-separable", CONVOLUTION, _taps)
def _separable(x: Value, s: Sizes) -> Value:
    parameter = x.graph.parameter
    return separable_conv1d(x, parameter("wd", (s.channels, s.kernel)), parameter("wp", (s.channels, s.channels)))


@operator("grouped dense, 2 groups", CONVOLUTION, _one_token)
def _grouped(x: Value, s: Sizes) -> Value:
    return grouped_dense(x, x.graph.parameter("w", (2, s.channels // 2, s.channels // 2)))


@operator("lightweight", DYNAMIC, _taps)
def _light(x: Value, s: Sizes) -> Value:
    return light_conv(x, x.graph.parameter("w", (s.heads, s.kernel)))


@operator("dynamic", DYNAMIC, _taps)
def _dynamic(x: Value, s: Sizes) -> Value:
    return dynamic_conv(x, x.graph.parameter("w", (s.heads * s.kernel, s.channels)), heads=s.heads)


def _span(x: Value, values: Value, s: Sizes) -> Value:
    """Span-aware key and convolution, the query given."""
    parameter, a = x.graph.parameter, s.branch
    key = separable_conv1d(x, parameter("wd", (s.channels, s.kernel)), parameter("wp", (a, s.channels)))
    return span_dynamic_conv(x.graph.input("q", a), key, values, parameter("wf", (s.heads // 2 * s.kernel, a)),
                                 heads=s.heads // 2)


@operator("span dynamic, shared values", DYNAMIC, _taps)
def _span_paper(x: Value, s: Sizes) -> Value:
    return _span(x, x.graph.input("v", s.branch), s)


@operator("span dynamic, own values", DYNAMIC, _taps)
def _span_released(x: Value, s: Sizes) -> Value:
    return _span(x, _linear(x, "wc", s.branch), s)


@operator("self-attention", ATTENTION, _all_tokens)
def _attention(x: Value, s: Sizes) -> Value:
    q, k, v = (_linear(x, name, s.channels) for name in ("wq", "wk", "wv"))
    mixed = self_attention(q, k, v, heads=s.heads)
    assert isinstance(mixed, Value)
    return _linear(mixed, "wo", s.channels)


def _mixed(x: Value, s: Sizes, own_values: bool) -> Value:
    parameter, d, a, heads = x.graph.parameter, s.channels, s.branch, s.heads // 2
    pairs = {"q": (a, d), "k": (a, d), "v": (a, d), "f": (heads * s.kernel, a), "o": (d, d),
             **({"c": (a, d)} if own_values else {})}
    weights = {f"{kind}{name}": parameter(f"{kind}{name}", shape if kind == "w" else shape[0])
               for name, shape in pairs.items() for kind in "wb"}
    return mixed_attention(x, wd=parameter("wd", (d, s.kernel)), wp=parameter("wp", (a, d)), bp=parameter("bp", a),
                               attn_heads=heads, conv_heads=heads, head_size=s.head_size, **weights)


@operator("mixed attention, own values", ATTENTION, _all_tokens)
def _mixed_released(x: Value, s: Sizes) -> Value:
    return _mixed(x, s, own_values=True)


@operator("mixed attention, shared values", ATTENTION, _all_tokens)
def _mixed_paper(x: Value, s: Sizes) -> Value:
    return _mixed(x, s, own_values=False)


@operator("squeeze-excite", GATE, _all_tokens)
def _squeeze_excite(x: Value, s: Sizes) -> Value:
    r = max(s.channels // 16, 1)
    return squeeze_excite(x, x.graph.parameter("w1", (r, s.channels)), x.graph.parameter("w2", (s.channels, r)))


@operator("selective kernel, 3 and 5 taps", GATE, _all_tokens)
def _selective_kernel(x: Value, s: Sizes) -> Value:
    parameter, d = x.graph.parameter, max(s.channels // 16, 32)
    branches = [depthwise_conv1d(x, parameter(f"w{taps}", (s.channels, taps))) for taps in (3, 5)]
    return selective_kernel(branches, parameter("wz", (d, s.channels)), parameter("a", (2, d, s.channels)))


@operator("kernel attention, 4 kernels", GATE, _all_tokens)
def _kernel_attention(x: Value, s: Sizes) -> Value:
    parameter, c, r = x.graph.parameter, s.channels, max(s.channels // 4, 1)
    return kernel_attention_conv(x, parameter("f1", (r, c)), parameter("f2", (4, r)), parameter("w", (4, c, c, s.kernel)))


def rows(sizes: Sizes) -> list[Row]:
    """All operators at a size, for one sequence."""
    result = []
    for name, found in OPERATORS.items():
        parts = module_costs(str(found.graph(sizes)), 1, sizes.length)
        result.append(Row(name, *(sum(part[key] for part in parts)
                                  for key in ("parameters", "macs", "reads", "writes"))))
    return result
