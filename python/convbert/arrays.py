"""From what users pass (NumPy, DLPack, lists) to the dense arrays that the runtime takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def describe_shape(shape: tuple[int, ...]) -> str:
    """[2, 5] for the shape (2, 5)."""
    return "[" + ", ".join(map(str, shape)) + "]"


def as_array(name: str, value: Any) -> npt.NDArray[Any]:
    """`value` as a NumPy array in CPU memory, without a copy where possible; ValueError naming `name` if it is none."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value
    if not isinstance(value, np.ndarray) and hasattr(value, "__dlpack__"):
        try:
            return np.from_dlpack(value)
        except Exception as error:
            if not hasattr(value, "__array__"):
                raise ValueError(
                    f"{name}: requires an array in CPU memory, but found a {type(value).__name__} "
                    f"that cannot be read there ({str(error).splitlines()[0] if str(error) else type(error).__name__})"
                ) from None
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name}: requires rows of one length, but found a ragged list; pad it and pass "
                         "attention_mask") from None
    except Exception:
        raise ValueError(f"{name}: requires an array or nested lists of numbers, but found "
                         f"a {type(value).__name__}") from None
    if array.dtype == object:
        found = f"a {type(value).__name__}" if array.ndim == 0 else f"objects of type {_first_type(array)}"
        raise ValueError(f"{name}: requires an array or nested lists of numbers, but found {found}")
    return array


def _first_type(array: npt.NDArray[Any]) -> str:
    """Type of the first element that is no number; integers are here because they exceed 64 bits."""
    return next((type(item).__name__ for item in array.flat if not isinstance(item, (int, float))), "int (too large)")


def integers(name: str, value: Any) -> npt.NDArray[np.int64]:
    """`value` as a C-contiguous int64 array; any integer type is taken, bool and floating point are not."""
    array = as_array(name, value)
    if array.dtype.kind not in "iu" and array.size:
        raise ValueError(f"{name}: requires integers (int32 or int64), but found {array.dtype}")
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name}: requires values below 2^63, but found {array.max()}")
    return np.asarray(array, dtype=np.int64, order="C")


def mask(name: str, value: Any) -> npt.NDArray[np.bool_]:
    """`value` as a C-contiguous bool array: True where it is not zero, as transformers reads a 2-D mask."""
    array = as_array(name, value)
    if array.dtype.kind not in "biuf" and array.size:
        raise ValueError(f"{name}: requires bool, integer or floating-point values, but found {array.dtype}")
    return np.asarray(array != 0 if array.dtype != bool else array, order="C")


def numbers(name: str, value: Any) -> npt.NDArray[np.float32]:
    """`value` as a C-contiguous float32 array, whatever numbers it holds."""
    array = as_array(name, value)
    if array.dtype.kind not in "biuf" and array.size:
        raise ValueError(f"{name}: requires bool, integer or floating-point values, but found {array.dtype}")
    return np.asarray(array, dtype=np.float32, order="C")


def floats(name: str, value: Any) -> npt.NDArray[np.float32]:
    """`value` as a C-contiguous float32 array; integers and bool are not taken."""
    array = as_array(name, value)
    if array.dtype.kind != "f" and array.size:
        raise ValueError(f"{name}: requires floating-point values, but found {array.dtype}")
    return np.asarray(array, dtype=np.float32, order="C")


def broadcast(name: str, array: npt.NDArray[np.int64], shape: tuple[int, ...], of: str) -> npt.NDArray[np.int64]:
    """`array`, of `shape` (that of the argument `of`) or of one row of it, as `shape`; ValueError otherwise."""
    if array.shape == shape:
        return array
    if array.ndim == len(shape) and array.shape[:-1] == (1,) * (len(shape) - 1) and array.shape[-1] == shape[-1]:
        return np.ascontiguousarray(np.broadcast_to(array, shape))
    raise ValueError(f"{name}: requires the shape {describe_shape(shape)} of {of}, but found "
                     f"{describe_shape(array.shape)}")
