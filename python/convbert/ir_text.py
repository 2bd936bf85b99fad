"""Pieces of the dialect's text: types, attributes, names."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

#: Extents that only a call knows: sequences, and tokens of the longest one.
BATCH, LENGTH = "B", "T"


@dataclass(frozen=True)
class TensorType:
    """Extents ("B", "T" or numbers) and the type of the elements."""

    shape: tuple[int | str, ...]
    element: str = "f32"

    def __str__(self) -> str:
        extents = ["?" if isinstance(size, str) else str(size) for size in self.shape]
        return f"tensor<{'x'.join([*extents, self.element])}>"

    def with_length(self, length: int | str) -> TensorType:
        """The same with another number of tokens."""
        return TensorType((self.shape[0], length, *self.shape[2:]), self.element)

    def with_features(self, features: int) -> TensorType:
        """The same with another last extent."""
        return TensorType((*self.shape[:-1], features), self.element)


def length_after(length: int | str, extra: int, stride: int) -> str:
    """The tokens floor((length + extra) / stride) + 1 that a convolution makes, as text that Python computes."""
    if stride == 1:
        return str(length) if extra == -1 else f"({length}{extra + 1:+d})"
    return f"(({length}{extra:+d})//{stride}+1)"


@dataclass(frozen=True)
class Keyword:
    """A value of one of the dialect's enumerations: #convbert.layout<in_out>."""

    kind: str
    value: str


def attribute(value: Any) -> str:
    """An attribute as the dialect's text has it."""
    if isinstance(value, Keyword):
        return f"#convbert.{value.kind}<{value.value}>"
    if isinstance(value, int):
        return f"{value} : i64"
    if isinstance(value, float):
        # Infinities and NaN have no decimal form; what they are good for the dialect says.
        return f"{value:.17e} : f64" if math.isfinite(value) else f"0x{struct.pack('>d', value).hex()} : f64"
    return f"array<i64: {', '.join(map(str, value))}>"


def symbol(name: str) -> str:
    return "@" + (name if re.fullmatch(r"[A-Za-z_][\w$.]*", name) else '"' + escaped(name) + '"')


def escaped(text: str) -> str:
    return "".join(c if c.isprintable() and c not in '"\\' and ord(c) < 128 else "".join(
        f"\\{byte:02X}" for byte in c.encode()) for c in text)


def describe_extents(shape: Sequence[int | str]) -> str:
    """[B, T, 5]."""
    return "[" + ", ".join(map(str, shape)) + "]"
