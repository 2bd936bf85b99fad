"""Residual networks over tokens, with squeeze-and-excitation and selective kernels, from state dicts of PyTorch modules.

Names are those of torchvision's and timm's two-dimensional networks, weights have one axis of taps: [out, in / groups, K].
What the network is made of is read off names and shapes; strides and dilations are not in a state dict.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .function import AnyArray, Function
from .graph import Graph, Value
from .nn import split
from .operations import squeezed
from .operations_conv import conv1d, depthwise_conv1d
from .operations_gating import select_branches, squeeze_excite
from .operations_nn import activation, batch_norm, dense, pool
from .state_dict import StateDict

_IGNORED = r"num_batches_tracked$"


@dataclass
class _Builder:
    """A graph that grows along the names of a state dict."""

    state: StateDict
    graph: Graph
    eps: float
    dilations: Sequence[int]
    #: Arrays that are not taken as they are, and names that went into them, without the prefix.
    changed: dict[str, AnyArray] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def parameter(self, name: str, *rank: int) -> Value:
        return self.graph.parameter(name, self.state.shape(name, *rank))

    def optional(self, name: str, *rank: int) -> Value | None:
        return self.parameter(name, *rank) if name in self.state else None

    def conv(self, x: Value, name: str, stride: int = 1, dilation: int = 1) -> Value:
        """A Conv1d with as many zeros on both sides as keep the length of an odd number of taps."""
        weight, bias = self.parameter(f"{name}.weight", 3), self.optional(f"{name}.bias", 1)
        _, channels, taps = (int(size) for size in weight.shape)
        if x.features % channels:
            raise ValueError(f"{self.state.prefix}{name}.weight: requires input channels that divide the {x.features} that "
                             f"come in, but found {channels}")
        zeros = (dilation * (taps // 2),) * 2
        if channels == 1 and x.features > 1:
            return depthwise_conv1d(x, weight, bias, padding=zeros, stride=stride, dilation=dilation)
        return conv1d(x, weight, bias, padding=zeros, stride=stride, dilation=dilation, groups=x.features // channels)

    def norm(self, x: Value, name: str) -> Value:
        """A BatchNorm1d, where there is one."""
        if f"{name}.running_mean" not in self.state:
            return x
        return batch_norm(x, *(self.parameter(f"{name}.{part}", 1)
                               for part in ("running_mean", "running_var", "weight", "bias")), eps=self.eps)

    def dense(self, x: Value, name: str, kind: str = "identity") -> Value:
        """A Linear, or a Conv1d of one tap that stands for it."""
        return dense(x, squeezed(self.parameter(f"{name}.weight", 2, 3)), self.optional(f"{name}.bias", 1), activation=kind)

    def squeeze_excite(self, x: Value, name: str) -> Value:
        w1, w2 = (squeezed(self.parameter(f"{name}.fc{number}.weight", 2, 3)) for number in (1, 2))
        return squeeze_excite(x, w1, w2, *(self.optional(f"{name}.fc{number}.bias", 1) for number in (1, 2)))

    def folded(self, dense_name: str, norm_name: str) -> None:
        """Has a dense layer and the norm behind it taken as one: the norm's bias stands for both."""
        get = self.state.array
        if f"{norm_name}.running_mean" not in self.state:
            return
        mean, variance, gamma, beta = (get(f"{norm_name}.{part}").astype(np.float64)
                                       for part in ("running_mean", "running_var", "weight", "bias"))
        weight = get(f"{dense_name}.weight").astype(np.float64)
        scale = gamma / np.sqrt(variance + self.eps)
        before = get(f"{dense_name}.bias") if f"{dense_name}.bias" in self.state else 0
        self.changed[f"{dense_name}.weight"] = (weight.T * scale).T
        self.changed[f"{dense_name}.bias"] = beta + (before - mean) * scale
        self.used |= {f"{norm_name}.{part}" for part in ("running_mean", "running_var", "weight", "bias")}

    def selective_kernel(self, x: Value, name: str, stride: int) -> Value:
        """timm's SelectiveKernel: `paths.M.conv`, `.bn`, `attn.fc_reduce`, `.bn`, `attn.fc_select`, branch-major."""
        count = self.state.numbers(rf"{re.escape(name)}\.paths\.(\d+)\.")
        dilations = [*self.dilations, *[1] * count][:count]
        branches = []
        for index, dilation in enumerate(dilations):
            path = f"{name}.paths.{index}"
            y = self.norm(self.conv(x, f"{path}.conv", stride, dilation), f"{path}.bn")
            branches.append(activation(y, "relu"))
        total = branches[0]
        for branch in branches[1:]:
            total = total + branch
        reduce = f"{name}.attn.fc_reduce"
        self.folded(reduce, f"{name}.attn.bn")
        weight = squeezed(self.parameter(f"{reduce}.weight", 2, 3))
        bias = self.graph.parameter(f"{reduce}.bias", int(weight.shape[0])) if f"{reduce}.bias" in self.changed else (
            self.optional(f"{reduce}.bias", 1))
        logits = self.dense(dense(pool(total, "mean"), weight, bias, activation="relu"), f"{name}.attn.fc_select")
        if logits.features != count * total.features:
            raise ValueError(f"{self.state.prefix}{name}.attn.fc_select.weight: requires {count * total.features} rows, "
                             f"{count} branches of {total.features} channels, but found {logits.features}")
        return select_branches(branches, split(logits, [total.features] * count))

    def block(self, x: Value, name: str, stride: int) -> Value:
        """conv1, bn1, ...: the last without an activation; se; the shortcut, through downsample where there is one."""
        last = self.state.numbers(rf"{re.escape(name)}\.conv(\d+)\.", first=1)
        strided = 2 if last > 2 else 1
        y = x
        for number in range(1, last + 1):
            at, step = f"{name}.conv{number}", stride if number == strided else 1
            if self.state.find(re.escape(f"{at}.paths.")):
                y = self.selective_kernel(y, at, step)
                continue
            y = self.norm(self.conv(y, at, step), f"{name}.bn{number}")
            y = activation(y, "relu") if number < last else y
        if self.state.find(re.escape(f"{name}.se.")):
            y = self.squeeze_excite(y, f"{name}.se")
        if f"{name}.downsample.0.weight" in self.state:
            x = self.norm(self.conv(x, f"{name}.downsample.0", stride), f"{name}.downsample.1")
        elif stride != 1:
            raise ValueError(f"strides: requires {self.state.prefix}{name}.downsample.0.weight for a stride of {stride}, but "
                             "found none")
        if x.features != y.features:
            raise ValueError(f"weights: requires {self.state.prefix}{name}.downsample.0.weight, from {x.features} channels to "
                             f"{y.features}, but found none")
        return activation(y + x, "relu")


def load_residual_network(weights: Any, *, strides: Sequence[int] | None = None, path_dilations: Sequence[int] = (),
                          eps: float = 1e-5, prefix: str = "", **options: Any) -> Function:
    """Compiles a residual network over tokens.

    weights: its state dict, arrays or tensors by name, or the path of a safetensors file with them:

    * `conv1`, `bn1`: the first convolution;
    * `layerS.N.conv1`, `bn1`, `conv2`, `bn2`, ...: block N of stage S (from 1 on), with `downsample.0`, `.1` for the shortcut;
    * `layerS.N.se.fc1`, `.fc2`: squeeze-and-excitation behind the last norm (Hu et al. 2018);
    * `layerS.N.convI.paths.M.conv`, `.bn`, `.attn.fc_reduce`, `.attn.bn`, `.attn.fc_select`: selective kernels in place of a
      convolution (Li et al. 2019), in timm's names and order of logits, branch by branch;
    * `fc`: a dense layer on the mean over the tokens.

    Norms and biases may be missing, and so may `fc`. strides: of the stages, 1 if left out; the second of three convolutions
    of the first block has it, or the first of two. path_dilations: of the paths of selective kernels. eps: of batch norms.
    options: those of convbert.function.Function. There is no pooling between stages.

    The function takes x, [B, T, C] (PyTorch has [B, C, T]), and gives logits, [B, classes], or features, [B, T', C'].
    ValueError that names what is missing, unexpected, or of another shape than what comes in.
    """
    state = StateDict(weights, prefix, _IGNORED)
    graph = Graph("network")
    stages = state.numbers(r"layer(\d+)\.", first=1)
    if not stages:
        raise ValueError(f"weights: requires names such as {prefix}layer1.0.conv1.weight, but found "
                         f"{', '.join(state.names[:4]) or 'none'}")
    steps = [1] * stages if strides is None else list(strides)
    if len(steps) != stages:
        raise ValueError(f"strides: requires {stages} numbers, one a stage, but found {len(steps)}")
    _, channels, _ = state.shape("conv1.weight", 3)
    x = graph.input("x", channels)
    builder = _Builder(state, graph, eps, path_dilations)
    with state.scope(graph):
        x = activation(builder.norm(builder.conv(x, "conv1"), "bn1"), "relu")
        for stage in range(1, stages + 1):
            for index in range(state.numbers(rf"layer{stage}\.(\d+)\.")):
                x = builder.block(x, f"layer{stage}.{index}", steps[stage - 1] if index == 0 else 1)
        if state.find(r"fc\."):
            graph.output(builder.dense(pool(x, "mean"), "fc"), "logits")
        else:
            graph.output(x, "features")
    return graph.compile(state.arrays(graph, f"a residual network of {stages} stages", builder.changed, builder.used),
                         **options)
