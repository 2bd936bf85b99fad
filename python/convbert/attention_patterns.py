"""What heads attend to: shares of attention on special tokens, on neighbours, within segments, and the class they make.

The classes are those of Kovaleva et al. 2019 ("Revealing the Dark Secrets of BERT"), decided by rules, for no classifier
of theirs is published: vertical, diagonal, vertical+diagonal, block, heterogeneous.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .arrays import as_array, describe_shape
from .errors import shown

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Thresholds:
    """Shares are rescaled: 0 for uniform attention, 1 where all of it is there."""

    most: float = 0.6  #: From here on a share decides the class.
    little: float = 0.4  #: Of the other share, below this.
    some: float = 0.2  #: Of either share of vertical+diagonal, at least.


@dataclass(frozen=True)
class Pattern:
    """Means over the rows of a map, rescaled where they are shares: 0 for uniform attention, 1 for all of it."""

    vertical: float  #: Share on special tokens.
    diagonal: float  #: Share on the token itself and its neighbours.
    union: float  #: Share on either.
    block: float  #: Share within the own segment.
    entropy: float  #: Of a row, 1 if it is uniform.
    distance: float  #: To the token that gets most.

    def classify(self, thresholds: Thresholds = Thresholds()) -> str:
        """vertical, diagonal, vertical+diagonal, block or heterogeneous."""
        most, little, some = thresholds.most, thresholds.little, thresholds.some
        if self.vertical >= most and self.diagonal < little:
            return "vertical"
        if self.diagonal >= most and self.vertical < little:
            return "diagonal"
        if self.union >= most and min(self.vertical, self.diagonal) >= some:
            return "vertical+diagonal"
        return "block" if self.block >= most else "heterogeneous"


def measure(attention: Any, special: Sequence[int] | int = 2, segments: Sequence[int] | None = None) -> Pattern:
    """The pattern of one map of a sequence without padding, [L, L], rows summing to 1.

    special: positions of special tokens, or how many of the columns that get most are taken for them. segments: the segment
    of each token; one for all if left out.
    """
    a = as_array("attention", attention).astype(np.float64)
    if a.ndim != 2 or a.shape[0] != a.shape[1] or a.size == 0:
        raise ValueError(f"attention: requires a map [L, L], but found {describe_shape(a.shape)}")
    size = len(a)
    columns = np.zeros(size, bool)
    columns[_positions(a, special)] = True
    groups = np.zeros(size, int) if segments is None else np.asarray(segments)
    if groups.shape != (size,):
        raise ValueError(f"segments: requires one number for each of {size} tokens, but found "
                         f"{describe_shape(groups.shape)}")
    apart = np.abs(np.arange(size)[:, None] - np.arange(size))
    near, vertical = apart <= 1, np.broadcast_to(columns, a.shape)
    logs = np.log(a, where=a > 0, out=np.zeros_like(a))
    return Pattern(_share(a, vertical), _share(a, near), _share(a, vertical | near), _share(a, groups[:, None] == groups),
                   float(-(a * logs).sum() / size / np.log(size)) if size > 1 else 0.0,
                   float(apart[np.arange(size), a.argmax(1)].mean()))


def _positions(a: _Floats, special: Sequence[int] | int) -> Any:
    size = len(a)
    if isinstance(special, int):
        if not 0 <= special <= size:
            raise ValueError(f"special: requires 0 to {size} columns, but found {special}")
        return np.argsort(-a.sum(0), kind="stable")[:special]
    for position in special:
        if not 0 <= position < size:
            raise ValueError(f"special: requires positions below {size}, but found {shown(position)}")
    return list(special)


def _share(a: _Floats, where: npt.NDArray[np.bool_]) -> float:
    """Mean share of a row, 0 if as much as of a uniform map."""
    uniform = where.mean()
    return float((a[where].sum() / len(a) - uniform) / (1 - uniform)) if uniform < 1 else 0.0
