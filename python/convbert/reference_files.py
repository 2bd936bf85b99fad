"""Reading and writing safetensors files and checkpoint directories in plain NumPy."""

import json
import os
import struct

import numpy as np

_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1",
           "BOOL": "?"}


def read_safetensors(path):
    """Tensors of one safetensors file by name; bfloat16 becomes float32."""
    with open(path, "rb") as file:
        blob = file.read()
    (length,) = struct.unpack("<Q", blob[:8])
    header = json.loads(blob[8:8 + length].decode("utf-8"))
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        raw = blob[8 + length + begin:8 + length + end]
        if entry["dtype"] == "BF16":
            array = (np.frombuffer(raw, "<u2").astype(np.uint32) << 16).view(np.float32)
        else:
            array = np.frombuffer(raw, _DTYPES[entry["dtype"]])
        tensors[name] = array.reshape(entry["shape"]).copy()
    return tensors


def write_safetensors(path, tensors):
    """Writes arrays (float32, float64 or int64) by name, in order, as one safetensors file."""
    names = {np.dtype(dtype): name for name, dtype in _DTYPES.items()}
    header, offset = {}, 0
    for name, array in tensors.items():
        header[name] = {"dtype": names[array.dtype], "shape": list(array.shape),
                        "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in tensors.values():
            np.ascontiguousarray(array).tofile(file)


def load_checkpoint(directory):
    """config.json with the library's defaults filled in, and the tensors of model.safetensors (or its shards)."""
    config = {"embedding_size": 768, "hidden_act": "gelu", "layer_norm_eps": 1e-12}
    with open(os.path.join(directory, "config.json"), encoding="utf-8") as file:
        config.update(json.load(file))
    index = os.path.join(directory, "model.safetensors.index.json")
    files = ["model.safetensors"]
    if os.path.exists(index):
        with open(index, encoding="utf-8") as file:
            files = sorted(set(json.load(file)["weight_map"].values()))
    tensors = {}
    for file in files:
        tensors.update(read_safetensors(os.path.join(directory, file)))
    return config, tensors
