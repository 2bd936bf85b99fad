"""Rounding to bfloat16, as packing and AVX512_BF16 do it, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def to_bfloat16(array: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """The nearest bfloat16 numbers, the even ones of two."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)


def other_bfloat16(array: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """What to_bfloat16() might as well have made of numbers that float32 knows to 2^-20 of the largest: where one lies
    so close to the middle of two neighbours, the other one."""
    wide, nearest = np.asarray(array, np.float64), to_bfloat16(array)
    step = np.ldexp(1.0, np.frexp(np.where(wide == 0, 1e-30, wide))[1] - 8)  # from one neighbour to the next
    away = wide - nearest
    other = nearest + np.where(away < 0, -step, step)
    undecided = step / 2 - np.abs(away) < 2.0**-20 * np.abs(wide).max(initial=0)
    return np.where(undecided, other, nearest).astype(np.float32)
