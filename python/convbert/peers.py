"""Other tools on the same checkpoint, for comparison; each needs packages that this one does not install."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import Error

#: Runs a batch (NumPy arrays by name) and returns the first output of the model.
Rival = Callable[[dict[str, Any]], npt.NDArray[Any]]

_NAMES = ("input_ids", "attention_mask", "token_type_ids")

#: Packages that a peer needs.
_NEEDED = {"torch": ("torch", "transformers"), "torch-compile": ("torch", "transformers"),
           "onnxruntime": ("onnxruntime", "onnx", "torch", "transformers"),
           "openvino": ("openvino", "onnx", "torch", "transformers")}


def _require(*packages: str) -> None:
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise Error(f"requires the Python packages {', '.join(packages)} for this comparison, but found no "
                    f"{', '.join(missing)}")


def _torch_model(path: str, model_class: str, threads: int) -> Any:
    _require(*_NEEDED["torch"])
    import torch
    import transformers

    torch.set_num_threads(threads)
    transformers.utils.logging.disable_progress_bar()
    return getattr(transformers, model_class).from_pretrained(path, dtype=torch.float32).eval()


def torch(path: str, model_class: str, threads: int) -> Rival:
    """transformers on PyTorch, eager."""
    model = _torch_model(path, model_class, threads)
    import torch as library

    def run(inputs: dict[str, Any]) -> npt.NDArray[Any]:
        library.set_num_threads(threads)
        with library.inference_mode():
            outputs = model(**{name: library.from_numpy(inputs[name]) for name in _NAMES})
        return outputs[0].numpy()

    return run


def torch_compile(path: str, model_class: str, threads: int) -> Rival:
    """transformers through torch.compile with frozen weights, compiled anew for every shape."""
    model = _torch_model(path, model_class, threads)
    import torch as library
    import torch._inductor.config as inductor

    inductor.freezing = True
    compiled = library.compile(model, dynamic=False)

    def run(inputs: dict[str, Any]) -> npt.NDArray[Any]:
        library.set_num_threads(threads)
        with library.no_grad():  # freezing does not take inference mode
            outputs = compiled(**{name: library.from_numpy(inputs[name]) for name in _NAMES})
        return outputs[0].numpy()

    return run


def _export(path: str, model_class: str, threads: int, file: str) -> None:
    """Writes the checkpoint as ONNX with free batch and length."""
    model = _torch_model(path, model_class, threads)
    import torch as library

    class Plain(library.nn.Module):  # type: ignore[misc, unused-ignore]
        """The model with tuples for inputs and outputs, as the exporter wants it."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *arrays: Any) -> Any:
            return self.model(**dict(zip(_NAMES, arrays))).to_tuple()

    lead = (2, 2) if model_class.endswith("ForMultipleChoice") else (2,)
    axes = {i: f"a{i}" for i in range(len(lead) + 1)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of tracing: both sizes are free all the same
        library.onnx.export(Plain(), tuple(library.ones((*lead, 8), dtype=library.int64) for _ in _NAMES), file,
                            input_names=list(_NAMES), dynamic_axes={name: axes for name in _NAMES}, dynamo=False)


def onnxruntime(path: str, model_class: str, threads: int) -> Rival:
    """onnxruntime on the model as PyTorch exports it, all graph optimisations on."""
    _require(*_NEEDED["onnxruntime"])
    import onnxruntime as library

    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "model.onnx")
        _export(path, model_class, threads, file)
        options = library.SessionOptions()
        options.intra_op_num_threads = threads
        session = library.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    names = {item.name for item in session.get_inputs()}

    def run(inputs: dict[str, Any]) -> npt.NDArray[Any]:
        return session.run(None, {name: inputs[name] for name in names})[0]

    return run


def openvino(path: str, model_class: str, threads: int) -> Rival:
    """OpenVINO in float32 on the model as PyTorch exports it, compiled anew for every shape, which it is fastest with."""
    _require(*_NEEDED["openvino"])
    import openvino as library

    core = library.Core()
    # Where the CPU has bf16, that is what it would take by itself.
    settings = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"}
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "model.onnx")
        _export(path, model_class, threads, file)
        model = core.read_model(file)
        names = {name for item in model.inputs for name in item.names}
        # The weights are read from the file on first use.
        core.compile_model(model, "CPU", settings)
    compiled: dict[tuple[int, ...], Any] = {}

    def run(inputs: dict[str, Any]) -> npt.NDArray[Any]:
        shape = inputs["input_ids"].shape
        if shape not in compiled:
            model.reshape({name: list(shape) for name in names})
            compiled[shape] = core.compile_model(model, "CPU", settings)
        return compiled[shape]({name: inputs[name] for name in names})[0]

    return run


#: By name: path, class and threads to something that runs a batch.
PEERS: dict[str, Callable[[str, str, int], Rival]] = {"torch": torch, "torch-compile": torch_compile,
                                                      "onnxruntime": onnxruntime, "openvino": openvino}


def installed() -> list[str]:
    """Names of the peers that could run."""
    return [name for name, packages in _NEEDED.items() if all(find_spec(package) is not None for package in packages)]


def make_rival(name: str, path: str, model_class: str, threads: int) -> Rival:
    """The peer `name` on a checkpoint; Error with one line if it is not installed or does not take the checkpoint."""
    try:
        return PEERS[name](path, model_class, threads)
    except Error:
        raise
    except Exception as error:  # whatever another tool raises
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise Error(f"{name} does not run {path}: {first}") from None


def agree(name: str, found: npt.NDArray[Any], expected: npt.NDArray[Any]) -> None:
    """Error unless both results are those of one model: float32 errors of a dozen layers stay far below 1e-3."""
    if found.shape != expected.shape:
        raise Error(f"{name} gives another result: requires shape {expected.shape}, but found {found.shape}")
    gap, scale = float(np.abs(found - expected).max()), float(np.abs(expected).max())
    if not gap <= 1e-3 * max(scale, 1.0):
        raise Error(f"{name} gives another result: requires the same numbers within 1e-3 of {scale:.3g}, but found a gap "
                    f"of {gap:.3g}")
