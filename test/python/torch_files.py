"""Writes files as torch.save does, without torch: state dicts in zip archives, in the older container, in shards."""

import json
import struct
import zipfile
from dataclasses import dataclass

import numpy as np

CLASSES = {"float32": "FloatStorage", "float16": "HalfStorage", "bfloat16": "BFloat16Storage", "int64": "LongStorage",
           "int32": "IntStorage", "float64": "DoubleStorage"}


@dataclass
class View:
    """`storage[offset:]` seen with these sizes and strides (in elements)."""

    storage: np.ndarray
    size: tuple
    stride: tuple
    offset: int = 0
    dtype: str = ""  # where NumPy has none: "bfloat16", stored as uint16

    @property
    def kind(self):
        return self.dtype or str(self.storage.dtype)


def contiguous(array, dtype=""):
    """The view that torch.save makes of a tensor of its own."""
    stride, step = [], 1
    for size in reversed(array.shape):
        stride.append(step)
        step *= size
    return View(np.ascontiguousarray(array), array.shape, tuple(reversed(stride)), 0, dtype)


def transposed(array):
    """`array`, a matrix, stored column by column."""
    return View(np.ascontiguousarray(array.T), array.shape, (1, array.shape[0]))


def bfloat16(array):
    """`array` cut to bfloat16, as its upper halves."""
    return (np.ascontiguousarray(array, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def _text(value):
    raw = value.encode()
    return b"X" + struct.pack("<I", len(raw)) + raw


def _number(value):
    if 0 <= value < 1 << 31:
        return b"J" + struct.pack("<i", value)
    size = (value.bit_length() + 8) // 8
    return b"\x8a" + bytes([size]) + value.to_bytes(size, "little", signed=True)


def _tuple(values):
    return b"(" + b"".join(map(_number, values)) + b"t"


EMPTY_DICT = b"ccollections\nOrderedDict\n)R"


class State:
    """The pickle of a state dict and the storages that it names."""

    def __init__(self, tensors):
        self.storages = {}  # key -> View
        keys = {}
        parts = [b"\x80\x02", EMPTY_DICT, b"("]
        for name, value in tensors.items():
            view = value if isinstance(value, View) else contiguous(value)
            key = keys.setdefault(id(view.storage), str(len(keys)))
            self.storages.setdefault(key, view)
            parts += [_text(name), b"ctorch._utils\n_rebuild_tensor_v2\n((", _text("storage"),
                      b"ctorch\n", CLASSES[view.kind].encode(), b"\n", _text(key), _text("cpu"),
                      _number(view.storage.size), b"tQ", _number(view.offset), _tuple(view.size), _tuple(view.stride),
                      b"\x89", EMPTY_DICT, b"tR"]
        # torch gives the dict an attribute of version numbers.
        self.pickle = b"".join(parts) + b"u}" + _text("_metadata") + EMPTY_DICT + b"sb."


def write_zip(path, tensors, compression=zipfile.ZIP_STORED):
    state = State(tensors)
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("model/data.pkl", state.pickle)
        archive.writestr("model/byteorder", b"little")
        for key, view in state.storages.items():
            archive.writestr(f"model/data/{key}", view.storage.tobytes())
        archive.writestr("model/version", b"3\n")


def write_legacy(path, tensors):
    state = State(tensors)
    magic = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."
    machine = b"\x80\x02}(" + _text("protocol_version") + _number(1001) + _text("little_endian") + b"\x88u."
    keys = b"\x80\x02](" + b"".join(map(_text, state.storages)) + b"e."
    with open(path, "wb") as file:
        file.write(magic + b"\x80\x02" + _number(1001) + b"." + machine + state.pickle + keys)
        for view in state.storages.values():
            file.write(struct.pack("<Q", view.storage.size) + view.storage.tobytes())


def write_shards(directory, tensors, count):
    names = list(tensors)
    weight_map = {}
    for i in range(count):
        shard = f"pytorch_model-{i + 1:05}-of-{count:05}.bin"
        part = names[i::count]
        write_zip(directory / shard, {name: tensors[name] for name in part})
        weight_map.update(dict.fromkeys(part, shard))
    text = json.dumps({"metadata": {}, "weight_map": weight_map})
    (directory / "pytorch_model.bin.index.json").write_text(text, encoding="utf-8")
