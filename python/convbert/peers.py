"""Other tools on the same checkpoint, for comparison; each needs packages that this one does not install."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
           "openvino": ("openvino", "onnx", "torch", "transformers"),
           "iree": ("iree.compiler", "iree.runtime", "onnx", "torch", "transformers"),
           "zentorch": ("zentorch", "torch", "transformers")}


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # of the package around it
        return False


def _require(*packages: str) -> None:
    missing = [name for name in packages if not _is_installed(name)]
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


def torch_compile(path: str, model_class: str, threads: int, backend: str = "inductor") -> Rival:
    """transformers through torch.compile with frozen weights, compiled anew for every shape."""
    model = _torch_model(path, model_class, threads)
    import torch as library
    import torch._inductor.config as inductor

    inductor.freezing = True
    compiled = library.compile(model, dynamic=False, backend=backend)

    def run(inputs: dict[str, Any]) -> npt.NDArray[Any]:
        library.set_num_threads(threads)
        with library.no_grad():  # freezing does not take inference mode
            outputs = compiled(**{name: library.from_numpy(inputs[name]) for name in _NAMES})
        return outputs[0].numpy()

    return run


def zentorch(path: str, model_class: str, threads: int) -> Rival:
    """transformers through torch.compile with the kernels of ZenDNN."""
    _require(*_NEEDED["zentorch"])
    import zentorch as _  # names the backend

    return torch_compile(path, model_class, threads, "zentorch")


def _export(model: Any, file: str, shape: tuple[int, ...] | None = None) -> None:
    """Writes a model of transformers as ONNX for inputs of `shape`, or with free batch and length."""
    import torch as library

    class Plain(library.nn.Module):  # type: ignore[misc, unused-ignore]
        """The model with tuples for inputs and outputs, as the exporter wants it."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *arrays: Any) -> Any:
            return self.model(**dict(zip(_NAMES, arrays))).to_tuple()

    traced = shape or ((2, 2, 8) if type(model).__name__.endswith("ForMultipleChoice") else (2, 8))
    axes = None if shape else {name: {i: f"a{i}" for i in range(len(traced))} for name in _NAMES}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of tracing: both sizes are free all the same
        library.onnx.export(Plain(), tuple(library.ones(traced, dtype=library.int64) for _ in _NAMES), file,
                            input_names=list(_NAMES), dynamic_axes=axes, dynamo=False)


def onnxruntime(path: str, model_class: str, threads: int) -> Rival:
    """onnxruntime on the model as PyTorch exports it, all graph optimisations on."""
    _require(*_NEEDED["onnxruntime"])
    import onnxruntime as library

    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "model.onnx")
        _export(_torch_model(path, model_class, threads), file)
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
        _export(_torch_model(path, model_class, threads), file)
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


def iree(path: str, model_class: str, threads: int, target: str = "native") -> Rival:
    """IREE on the model as PyTorch exports it, compiled anew for every shape, weights packed when it is loaded.

    target: this compiler's name of the CPU to compile for; the other engines only ask the CPU what it is.
    """
    _require(*_NEEDED["iree"])
    import iree.compiler
    import iree.runtime as library
    import onnx

    model = _torch_model(path, model_class, threads)
    if threads > 1:
        library.flags.parse_flags(f"--task_topology_group_count={threads}")  # of the process, read by the first device
    config = library.Config("local-task" if threads > 1 else "local-sync")
    # O1 is faster here than O2 and O3. Some shapes are refused for large vectors if that is not told to be no failure, and
    # some tiles of embeddings need more than the 32 KiB of the stack that are allowed by default.
    options = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
               f"--iree-llvmcpu-target-cpu={'host' if target == 'native' else target.removesuffix('-bf16')}",
               "--iree-opt-level=O1", "--iree-opt-data-tiling", "--iree-llvmcpu-fail-on-large-vector=false",
               "--iree-llvmcpu-stack-allocation-limit=1048576"]

    def build(shape: tuple[int, ...]) -> tuple[Any, list[str]]:
        with tempfile.TemporaryDirectory() as folder:
            exported, imported, weights = (os.path.join(folder, name) for name in ("m.onnx", "m.mlir", "m.irpa"))
            _export(model, exported, shape)
            names = [item.name for item in onnx.load(exported).graph.input]
            subprocess.run([sys.executable, "-m", "iree.compiler.tools.import_onnx", exported, "-o", imported,
                            "--opset-version=17", "--externalize-params", "--save-params-to", weights], check=True)
            code = iree.compiler.compile_file(imported, extra_args=options)
            parameters = library.ParameterIndex()
            parameters.load(weights)
            modules = library.load_vm_modules(
                library.create_io_parameters_module(config.vm_instance, parameters.create_provider("model")),
                library.create_hal_module(config.vm_instance, config.device),
                library.VmModule.copy_buffer(config.vm_instance, code), config=config)
        return modules[-1].main_graph, names

    compiled: dict[tuple[int, ...], tuple[Any, list[str]]] = {}

    def run(inputs: dict[str, Any]) -> npt.NDArray[Any]:
        shape = inputs["input_ids"].shape
        if shape not in compiled:
            compiled[shape] = build(shape)
        function, names = compiled[shape]
        outputs = function(*(inputs[name] for name in names))
        return (outputs[0] if isinstance(outputs, (list, tuple)) else outputs).to_host()

    return run


#: By name: path, class and threads to something that runs a batch. zentorch is the last one: what torch.compile makes
#: after it is slower.
PEERS: dict[str, Callable[..., Rival]] = {"torch": torch, "torch-compile": torch_compile, "onnxruntime": onnxruntime,
                                          "openvino": openvino, "iree": iree, "zentorch": zentorch}


def installed() -> list[str]:
    """Names of the peers that could run."""
    return [name for name, packages in _NEEDED.items() if all(map(_is_installed, packages))]


@contextmanager
def _one_line(name: str, path: str) -> Iterator[None]:
    """Whatever another tool raises becomes an Error of one line."""
    try:
        yield
    except Error:
        raise
    except Exception as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise Error(f"{name} does not run {path}: {first}") from None


def make_rival(name: str, path: str, model_class: str, threads: int, target: str = "native") -> Rival:
    """The peer `name` on a checkpoint; Error with one line, now or when it runs, for what it is not able to do.

    target: as for load(), for engines that can be told.
    """
    with _one_line(name, path):
        rival = PEERS[name](path, model_class, threads, **({"target": target} if name == "iree" else {}))

    def run(inputs: dict[str, Any]) -> npt.NDArray[Any]:
        with _one_line(name, path):
            return rival(inputs)

    return run


def agree(name: str, found: npt.NDArray[Any], expected: npt.NDArray[Any]) -> None:
    """Error unless both results are those of one model: float32 errors of a dozen layers stay far below 1e-3."""
    if found.shape != expected.shape:
        raise Error(f"{name} gives another result: requires shape {expected.shape}, but found {found.shape}")
    gap, scale = float(np.abs(found - expected).max()), float(np.abs(expected).max())
    if not gap <= 1e-3 * max(scale, 1.0):
        raise Error(f"{name} gives another result: requires the same numbers within 1e-3 of {scale:.3g}, but found a gap "
                    f"of {gap:.3g}")
