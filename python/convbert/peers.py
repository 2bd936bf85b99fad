"""Other tools on the same checkpoint, for comparison; each needs packages that this one does not install."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from .errors import Error

#: Runs a batch (NumPy arrays by name) and throws the result away.
Rival = Callable[[dict[str, Any]], Any]


def _require(*packages: str) -> None:
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise Error(f"requires the Python packages {', '.join(packages)} for this comparison, but found no "
                    f"{', '.join(missing)}")


def _torch_model(path: str, model_class: str, threads: int) -> Any:
    _require("torch", "transformers")
    import torch
    import transformers

    torch.set_num_threads(threads)
    return getattr(transformers, model_class).from_pretrained(path, dtype=torch.float32).eval()


def torch(path: str, model_class: str, threads: int) -> Rival:
    """transformers on PyTorch, eager."""
    model = _torch_model(path, model_class, threads)
    import torch as library

    def run(inputs: dict[str, Any]) -> Any:
        with library.inference_mode():
            return model(**{name: library.from_numpy(array) for name, array in inputs.items()})

    return run


def _export(path: str, model_class: str, threads: int, file: str) -> None:
    """Writes the checkpoint as ONNX with free batch and length."""
    model = _torch_model(path, model_class, threads)
    model.config.return_dict = False
    import torch as library

    names = ["input_ids", "attention_mask", "token_type_ids"]
    lead = (2, 2) if model_class == "ConvBertForMultipleChoice" else (2,)
    axes = {i: f"a{i}" for i in range(len(lead) + 1)}
    library.onnx.export(model, tuple(library.ones((*lead, 8), dtype=library.int64) for _ in names), file,
                        input_names=names, dynamic_axes={name: axes for name in names}, dynamo=False)


def onnxruntime(path: str, model_class: str, threads: int) -> Rival:
    """onnxruntime on the model as PyTorch exports it."""
    _require("onnxruntime", "onnx", "torch", "transformers")
    import onnxruntime as library

    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "model.onnx")
        _export(path, model_class, threads, file)
        options = library.SessionOptions()
        options.intra_op_num_threads = threads
        session = library.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    names = {item.name for item in session.get_inputs()}
    return lambda inputs: session.run(None, {name: array for name, array in inputs.items() if name in names})


def openvino(path: str, model_class: str, threads: int) -> Rival:
    """OpenVINO on the model as PyTorch exports it, in float32."""
    _require("openvino", "onnx", "torch", "transformers")
    import openvino as library

    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "model.onnx")
        _export(path, model_class, threads, file)
        compiled = library.Core().compile_model(file, "CPU", {"INFERENCE_NUM_THREADS": threads,
                                                              "INFERENCE_PRECISION_HINT": "f32"})
    names = {name for item in compiled.inputs for name in item.names}
    return lambda inputs: compiled({name: array for name, array in inputs.items() if name in names})


#: By name: path, class and threads to something that runs a batch.
PEERS: dict[str, Callable[[str, str, int], Rival]] = {"torch": torch, "onnxruntime": onnxruntime, "openvino": openvino}


def installed() -> list[str]:
    """Names of the peers that could run."""
    needed = {"torch": ("torch", "transformers"), "onnxruntime": ("onnxruntime", "onnx", "torch", "transformers"),
              "openvino": ("openvino", "onnx", "torch", "transformers")}
    return [name for name, packages in needed.items() if all(find_spec(package) is not None for package in packages)]
