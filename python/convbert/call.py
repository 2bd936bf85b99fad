"""The arguments of a call: checked and turned into the dense arrays that the runtime takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .arrays import broadcast, describe_shape, floats, integers, mask, numbers
from .errors import shown

IntArray = npt.NDArray[np.int64]
AnyArray = npt.NDArray[Any]


@dataclass
class Call:
    """A batch as the runtime takes it."""

    #: Dense arrays [batch, length] by input name; those left out are absent.
    arguments: dict[str, AnyArray]
    batch: int
    length: int
    #: Shape of the user's batch without the axis of tokens: (B,), or (B, choices).
    lead: tuple[int, ...]
    #: Tokens of each sequence; None: all have `length`.
    lengths: IntArray | None = None


def flag(name: str, value: Any) -> bool:
    """A bool; ValueError naming `name` for anything else."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name}: requires True or False, but found {shown(value)}")
    return bool(value)


def head_masks(manifest: Mapping[str, Any], value: Any) -> dict[str, AnyArray]:
    """head_mask= as an array for each layer, attention heads before convolution heads, by input name."""
    array = numbers("head_mask", value)
    layers = [(int(layer["attention_heads"]), int(layer["conv_heads"])) for layer in manifest["layers"]]
    count, (attention, convolution) = len(layers), layers[0] if layers else (0, 0)
    shapes = [(attention,), (count, attention)]
    if convolution:
        shapes += [(attention + convolution,), (count, attention + convolution)]
    if array.shape not in shapes or any(layer != layers[0] for layer in layers):
        raise ValueError(f"head_mask: requires the shape {' or '.join(map(describe_shape, shapes))} (heads, or layers "
                         f"and heads; attention heads first), but found {describe_shape(array.shape)}")
    rows = np.broadcast_to(array, (count, array.shape[-1]))
    whole = np.ones((count, attention + convolution), np.float32)
    whole[:, :array.shape[-1]] = rows
    return {f"head_mask.{index}": row for index, row in enumerate(whole)}


def choose_input(manifest: Mapping[str, Any], input_ids: Any, inputs_embeds: Any, encoder_input: Any
                 ) -> tuple[str, Any]:
    """The one of the three that was passed, and its name; ValueError unless it is one that the model takes."""
    given = [(name, value) for name, value in (("input_ids", input_ids), ("inputs_embeds", inputs_embeds),
                                               ("encoder_input", encoder_input)) if value is not None]
    if len(given) != 1:
        raise ValueError("input_ids, inputs_embeds or encoder_input: requires one of them, but found "
                         f"{'none' if not given else 'both ' + ' and '.join(name for name, _ in given[:2])}")
    name, value = given[0]
    alone = manifest["inputs"][0]["name"] == "encoder_input"
    if alone != (name == "encoder_input"):
        takes = "encoder_input, for it has no embeddings" if alone else "input_ids or inputs_embeds"
        raise ValueError(f"{name}: requires None, but found an array; this model takes {takes}")
    return name, value


def embedding_width(manifest: Mapping[str, Any]) -> int:
    """Width of a row of the word embeddings."""
    for item in manifest["parameters"]:
        if item["name"].endswith("word_embeddings.weight"):
            return int(item["shape"][1])
    return int(manifest["hidden_size"])


def _main_array(manifest: Mapping[str, Any], name: str, value: Any, is_choice: bool
                ) -> tuple[AnyArray, tuple[int, ...]]:
    """Ids, or vectors in their place, and the shape of the batch, [B, T] or [B, choices, T]."""
    rank, axes = (3, "batch, choices, length") if is_choice else (2, "batch, length")
    if name == "input_ids":
        ids = integers(name, value)
        if ids.ndim != rank:
            raise ValueError(f"input_ids: requires rank {rank} [{axes}], but found rank {ids.ndim} with shape "
                             f"{describe_shape(ids.shape)}")
        return ids, ids.shape
    width = embedding_width(manifest) if name == "inputs_embeds" else manifest["hidden_size"]
    vectors = floats(name, value)
    if vectors.ndim != rank + 1 or vectors.shape[-1] != width:
        raise ValueError(f"{name}: requires the shape [{axes}, {width}], but found rank {vectors.ndim} with shape "
                         f"{describe_shape(vectors.shape)}")
    return vectors, vectors.shape[:-1]


def bind(manifest: Mapping[str, Any], name: str, value: Any, attention_mask: Any = None, token_type_ids: Any = None,
         position_ids: Any = None, exact: bool = False) -> Call:
    """A call of the model that `manifest` describes, on ids or vectors `value`, called `name`. Raises ValueError naming
    the argument, what it needs and what was found; ids outside their tables are found by the runtime, which looks at
    all of them anyway."""
    is_choice = manifest["model_class"].endswith("ForMultipleChoice")
    main, shape = _main_array(manifest, name, value, is_choice)
    arguments: dict[str, AnyArray] = {name: main}
    if attention_mask is not None:
        found = mask("attention_mask", attention_mask)
        if found.shape != shape:
            raise ValueError(f"attention_mask: requires the shape {describe_shape(shape)} of {name}, but "
                             f"found {describe_shape(found.shape)}")
        arguments["attention_mask"] = found
    for other, ids in (("token_type_ids", token_type_ids), ("position_ids", position_ids)):
        if ids is None:
            continue
        if name == "encoder_input":
            raise ValueError(f"{other}: requires None, but found an array; this model has no embeddings")
        arguments[other] = broadcast(other, integers(other, ids), shape, name)
    if is_choice:
        arguments = {key: array.reshape(-1, *array.shape[2:]) for key, array in arguments.items()}
    batch, length = arguments[name].shape[:2]
    call = Call(arguments, batch, length, shape[:-1])
    if exact and "attention_mask" in arguments:
        call.lengths = _lengths(arguments.pop("attention_mask"))
    return call


def _lengths(found: AnyArray) -> IntArray:
    """Tokens of each sequence of a padded batch, [batch], from its mask [batch, length]."""
    lengths = found.sum(axis=1, dtype=np.int64)
    if not np.array_equal(found, np.arange(found.shape[1]) < lengths[:, None]) or (lengths < 1).any():
        raise ValueError("attention_mask: requires rows of ones followed by zeros (padding on the right) for "
                         "padding=\"exact\", but found another pattern")
    return lengths


def user_shape(item: Mapping[str, Any], call: Call, is_choice: bool) -> tuple[int, ...]:
    """Shape of an output of the manifest for a call, as the user sees it."""
    sizes = {"B": call.batch, "T": call.length}
    shape = tuple(sizes[size] if isinstance(size, str) else int(size) for size in item["shape"])
    return call.lead if is_choice and item["name"] == "logits" else shape


def reuse(name: str, value: Any, shape: tuple[int, ...], inputs: Mapping[str, AnyArray]) -> npt.NDArray[np.float32]:
    """`value` of out=, if results can be written to it; ValueError naming what is in the way."""
    where = f"out[{name!r}]"
    if not isinstance(value, np.ndarray):
        raise ValueError(f"{where}: requires a NumPy array, but found a {type(value).__name__}")
    if value.dtype != np.float32 or value.shape != shape:
        raise ValueError(f"{where}: requires float32 of shape {describe_shape(shape)}, but found {value.dtype} of "
                         f"shape {describe_shape(value.shape)}")
    if not value.flags.c_contiguous or not value.flags.writeable or not value.dtype.isnative:
        raise ValueError(f"{where}: requires a C-contiguous array that can be written to, but found one that is "
                         f"{'strided' if not value.flags.c_contiguous else 'read-only'}")
    for other, array in inputs.items():
        if np.may_share_memory(value, array):
            raise ValueError(f"{where}: requires memory of its own, but found that of {other}")
    return value
