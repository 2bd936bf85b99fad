"""Encoders of lightweight and dynamic convolutions from fairseq's state dicts (Wu et al. 2019, "Pay less attention").

Kernel widths, widths, gates and the place of the norms are read off the shapes and names; what a state dict does not say
are the heads of dynamic convolutions and how its model was configured otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from .arrays import as_array, describe_shape, floats, integers, mask as as_mask
from .errors import shown
from .function import AnyArray, Function
from .graph import Graph, Value
from .nn import dynamic_conv_layer, light_conv_layer, norm, repeat
from .operations import Padding
from .state_dict import StateDict

#: What is in a state dict beside the layers: tables of embeddings, versions, buffers.
_IGNORED = r"^(embed_tokens|embed_positions|version|_float_tensor)"


@dataclass(frozen=True)
class Layer:
    """What a layer's names and shapes say."""

    #: "light" or "dynamic".
    kind: str
    heads: int
    taps: int
    channels: int
    conv_channels: int
    intermediate: int
    #: A gated linear unit before the convolution.
    gated: bool
    #: Of the taps' generator, and of the result.
    bias: bool
    channel_bias: bool

    def build(self, x: Value, mask: Value, padding: Padding, normalize: str, normalize_before: bool) -> Value:
        common = dict(heads=self.heads, taps=self.taps, intermediate=self.intermediate, gated=self.gated, padding=padding,
                      normalize=normalize, conv_channels=self.conv_channels, normalize_before=normalize_before)
        if self.kind == "light":
            return light_conv_layer(x, mask, bias=self.channel_bias, **common)  # type: ignore[arg-type]
        return dynamic_conv_layer(x, mask, bias=self.bias, channel_bias=self.channel_bias, **common)  # type: ignore[arg-type]


def _layer(state: StateDict, index: int, heads: int | None) -> Layer:
    name = f"layers.{index}."
    channels, conv_channels = state.shape(name + "linear2.weight", 2)
    rows = state.shape(name + "linear1.weight", 2)[0]
    if rows not in (conv_channels, 2 * conv_channels):
        raise ValueError(f"{state.prefix}{name}linear1.weight: requires {conv_channels} rows, or {2 * conv_channels} with a "
                         f"gate, for a convolution of {conv_channels} channels, but found {rows}")
    intermediate = state.shape(name + "fc1.weight", 2)[0]
    generator = name + "conv.weight_linear.weight"
    if generator in state:
        kind, features = "dynamic", state.shape(generator, 2)[0]
        if heads is None:
            raise ValueError(f"heads: requires the heads of the dynamic convolutions ({state.prefix}{generator} has "
                             f"{features} rows, heads times taps), but found none")
        if heads < 1 or features % heads:
            raise ValueError(f"heads: requires a divisor of the {features} rows of {state.prefix}{generator}, but found "
                             f"{heads}")
        of, taps = heads, features // heads
    else:
        kind, shape = "light", state.shape(name + "conv.weight", 2, 3)
        of, taps = shape[0], shape[-1]
        if heads not in (None, of):
            raise ValueError(f"heads: requires {of}, the rows of {state.prefix}{name}conv.weight, or None, but found {heads}")
    return Layer(kind, of, taps, channels, conv_channels, intermediate, rows != conv_channels,
                 f"{name}conv.weight_linear.bias" in state,
                 name + ("conv.conv_bias" if kind == "dynamic" else "conv.bias") in state)


def _sinusoids(count: int, channels: int) -> npt.NDArray[np.float64]:
    """[count, channels]: sines, then cosines, of positions at rates from 1 down to 1 / 10000."""
    half = channels // 2
    rates = np.exp(np.arange(half) * (-math.log(10000) / max(half - 1, 1)))
    angles = np.arange(count)[:, None] * rates
    table = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
    return np.pad(table, ((0, 0), (0, channels % 2)))


class FairseqEncoder:
    """A compiled encoder, see load_fairseq_encoder().

    function: takes x, [B, T, C], and mask, [B, T]. layers: what was read off the state dict.
    """

    def __init__(self, function: Function, layers: tuple[Layer, ...], tokens: AnyArray | None,
                 positions: AnyArray | None) -> None:
        self.function = function
        self.layers = layers
        self._tokens, self._positions = tokens, positions

    def __call__(self, x: Any, mask: Any = None, *, axes: str = "btc") -> npt.NDArray[np.float32]:
        """The last layer's output for embedded tokens, both [B, T, C], or [T, B, C] with axes="tbc", fairseq's order.

        mask: [B, T] in either order, not zero where a token is none of padding (the opposite of fairseq's
        encoder_padding_mask); all, if left out. What is computed for padding means nothing.
        """
        if axes not in ("btc", "tbc"):
            raise ValueError(f"axes: requires btc or tbc, but found {shown(axes)}")
        array = floats("x", x)
        if array.ndim != 3:
            raise ValueError(f"x: requires rank 3 [batch, tokens, channels], but found {describe_shape(array.shape)}")
        array = array.transpose(1, 0, 2) if axes == "tbc" else array
        real = np.ones(array.shape[:2], bool) if mask is None else as_mask("mask", mask)
        result: npt.NDArray[np.float32] = self.function(np.ascontiguousarray(array), real)
        return result.transpose(1, 0, 2) if axes == "tbc" else result

    def embed(self, ids: Any, *, padding_idx: int = 1) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
        """x and mask for ids, [B, T], as fairseq makes them: rows of embed_tokens times sqrt(C), and positions, learned if
        the state dict has embed_positions.weight, else sinusoidal; both counted without padding."""
        if self._tokens is None:
            raise ValueError("ids: requires embed_tokens.weight among the weights, but found none; pass vectors instead")
        array = integers("ids", ids)
        if array.ndim != 2:
            raise ValueError(f"ids: requires rank 2 [batch, tokens], but found {describe_shape(array.shape)}")
        count, channels = self._tokens.shape
        if array.size and not 0 <= array.min() <= array.max() < count:
            raise ValueError(f"ids: requires values in [0, {count}), but found "
                             f"{array.min() if array.min() < 0 else array.max()}")
        real = array != padding_idx
        places = np.where(real, np.cumsum(real, axis=1) + padding_idx, padding_idx)
        table = _sinusoids(int(places.max(initial=0)) + 1, channels) if self._positions is None else self._positions
        if places.size and places.max() >= len(table):
            raise ValueError(f"ids: requires at most {len(table) - 1 - padding_idx} tokens, the rows of "
                             f"embed_positions.weight, but found {places.max() - padding_idx}")
        rows = table[places]
        if self._positions is None:
            rows = np.where(real[..., None], rows, 0)
        return (self._tokens[array] * math.sqrt(channels) + rows).astype(np.float32), real


def load_fairseq_encoder(weights: Any, *, heads: int | None = None, padding: Padding = "same", normalize: str = "softmax",
                         prefix: str | None = None, **options: Any) -> FairseqEncoder:
    """Compiles the encoder of a fairseq model of lightweight or dynamic convolutions.

    weights: its state dict (torch.load(...)["model"]): arrays or tensors by name, or the path of a safetensors file with
    them. Layers are `layers.N.linear1`, `.conv`, `.linear2`, `.layer_norms.0`, `.fc1`, `.fc2`, `.layer_norms.1`, with a
    final `layer_norm` where norms come first; other names with the prefix are refused.
    heads: --encoder-attention-heads; lightweight convolutions have it in their shapes. padding: "same" as in encoders, or
    "causal". normalize: "softmax", or "none" for models trained without --weight-softmax. prefix: "encoder." or, if no
    name begins so, nothing. options: those of convbert.function.Function, such as threads.

    Dropout and weight dropout are those of inference, none. Where there are more taps than tokens, out-of-range taps read
    zeros after the softmax over all of them; fairseq's causal dynamic convolution takes the softmax over the last T taps
    alone there, or not, depending on which of its implementations runs.

    ValueError that names what is missing, unexpected, or of another shape than the rest of its layer says.
    """
    if prefix is None:
        state = StateDict(weights, "encoder.", _IGNORED)
        state = state if state.find("") else StateDict(weights, "", _IGNORED)
    else:
        state = StateDict(weights, prefix, _IGNORED)
    count = state.numbers(r"layers\.(\d+)\.")
    if not count:
        raise ValueError(f"weights: requires names such as {state.prefix}layers.0.linear1.weight, but found "
                         f"{', '.join(state.names[:4]) or 'none'}")
    layers = tuple(_layer(state, index, heads) for index in range(count))
    normalize_before = "layer_norm.weight" in state
    graph = Graph("encoder")
    x, mask = graph.input("x", layers[0].channels), graph.mask("mask")
    with state.scope(graph):
        first = 0
        for layer, same in groupby(layers):
            run = len(list(same))
            if layer.channels != x.features:
                raise ValueError(f"{state.prefix}layers.{first}.linear2.weight: requires {x.features} rows, as many as the "
                                 f"channels of the layers before, but found {layer.channels}")
            x = repeat(x, run, lambda x, mask: layer.build(x, mask, padding, normalize, normalize_before), mask,
                       first=first)
            first += run
        graph.output(norm(x, "layer_norm", eps=1e-5) if normalize_before else x, "encoder_out")
    arrays = state.arrays(graph, f"an encoder of {count} layers")
    tables = [state.array(name) if name in state else None for name in ("embed_tokens.weight", "embed_positions.weight")]
    return FairseqEncoder(graph.compile(arrays, **options), layers, *(
        None if table is None else as_array("embeddings", table) for table in tables))
