"""From hand-written outlined code to a loaded shared object: what every compiled model does, on a small layer."""

import ctypes
import math
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

LLVM_BIN = Path(os.environ.get("CONVBERT_LLVM_BIN", "/usr/lib/llvm-22/bin"))
INPUT = Path(__file__).parent / "Inputs" / "ffn.mlir"
WIDTH, INNER = 96, 200
GUARD = 64  # bytes behind the workspace and the packed weights that nobody may touch


class Span(ctypes.Structure):
    """memref<?xT>: two pointers, offset, size, stride."""

    _fields_ = [("base", ctypes.c_void_p), ("data", ctypes.c_void_p)] + [
        (name, ctypes.c_int64) for name in ("offset", "size", "stride")
    ]

    @classmethod
    def of(cls, array, size=None):
        return cls(array.ctypes.data, array.ctypes.data, 0, array.size if size is None else size, 1)


def aligned(size, fill):
    """An array of bytes whose first one lies at a multiple of 64."""
    memory = np.full(size + 64, fill, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size]


def table(arrays):
    spans = (Span * len(arrays))(*(Span.of(a.view(np.uint8).reshape(-1)) for a in arrays))
    return spans, Span(ctypes.addressof(spans), ctypes.addressof(spans), 0, len(arrays), 1)


class Model:
    """The object, and parameters packed for it."""

    def __init__(self, path):
        self.object = ctypes.CDLL(str(path))
        for name in ("packed_bytes", "prepack_steps", "workspace_bytes"):
            getattr(self.object, "_mlir_ciface_" + name).restype = ctypes.c_int64
        random = np.random.default_rng(1)
        self.parameters = [
            random.standard_normal(shape, np.float32) / math.sqrt(shape[-1])
            for shape in ((INNER, WIDTH), (INNER,), (WIDTH, INNER), (WIDTH,), (2, WIDTH))
        ]
        size = self.object._mlir_ciface_packed_bytes()
        self.packed = aligned(size + GUARD, 0xFF)
        keep, raw = table(self.parameters)
        packed = Span.of(self.packed, size)
        for step in range(self.object._mlir_ciface_prepack_steps()):
            self.object._mlir_ciface_prepack(
                ctypes.byref(raw), ctypes.byref(packed), ctypes.c_int64(step), ctypes.c_int32(2)
            )
        assert (self.packed[size:] == 0xFF).all(), "prepack wrote behind its destination"
        assert not np.isnan(self.packed[:size].view(np.float32)).any(), "prepack left a hole"

    def __call__(self, x, lengths, threads):
        """y [B][T][WIDTH]; what is beyond a sequence's length keeps the value 7."""
        batch, longest, _ = x.shape
        starts = np.concatenate([[0], np.cumsum(np.maximum(lengths, 8))])
        shape = np.array([batch, longest, *starts, *lengths], np.int64)
        shape_span = Span.of(shape)
        size = self.object._mlir_ciface_workspace_bytes(ctypes.byref(shape_span), ctypes.c_int32(threads))
        workspace = aligned(size + GUARD, 0xFF)  # NaN everywhere
        y = np.full_like(x, 7)
        keep_in, inputs = table([x])
        keep_out, outputs = table([y])
        arguments = [Span.of(self.packed), inputs, outputs, Span.of(workspace, size), shape_span]
        self.object._mlir_ciface_forward(*map(ctypes.byref, arguments), ctypes.c_int32(threads))
        assert (workspace[size:] == 0xFF).all(), "forward wrote behind its workspace"
        return y

    def reference(self, x):
        w0, b0, w1, b1, norm = (p.astype(np.float64) for p in self.parameters)
        h = x.astype(np.float64) @ w0.T + b0
        h = h * 0.5 * (1 + np.vectorize(math.erf)(h / math.sqrt(2)))
        y = h @ w1.T + b1 + x
        y = y - y.mean(-1, keepdims=True)
        return y / np.sqrt((y**2).mean(-1, keepdims=True) + 1e-12) * norm[0] + norm[1]


@pytest.fixture(scope="module")
def object_path(tools, tmp_path_factory):
    path = tmp_path_factory.mktemp("object") / "model.so"
    subprocess.run(
        [tools / "convbert-compile", INPUT, "--compile-from=outline", "--target=x86-64-v3", "-o", path], check=True
    )
    return path


@pytest.fixture(scope="module")
def model(object_path):
    if not {"avx2", "fma"} <= set(Path("/proc/cpuinfo").read_text().split()):
        pytest.skip("requires a CPU with AVX2 and FMA")
    return Model(object_path)


@pytest.mark.parametrize("lengths", [[1], [4], [5, 1], [17, 3, 9], [128], [130]])
def test_numbers(model, lengths):
    x = np.random.default_rng(len(lengths)).standard_normal((len(lengths), max(lengths) + 1, WIDTH), np.float32)
    one = model(x, lengths, threads=1)
    expected = model.reference(x)
    for b, length in enumerate(lengths):
        assert np.abs(one[b, :length] - expected[b, :length]).max() < 2e-5
        assert (one[b, length:] == 7).all()
    for threads in (2, 3):
        assert np.array_equal(one, model(x, lengths, threads)), f"other bits with {threads} threads"


def test_neighbours_keep_apart(model):
    x = np.random.default_rng(3).standard_normal((2, 20, WIDTH), np.float32)
    clean = model(x, [20, 13], threads=1)
    x[0] = np.nan
    assert np.array_equal(clean[1], model(x, [20, 13], threads=2)[1])


def test_needs_and_exports(object_path):
    text = subprocess.run([LLVM_BIN / "llvm-readelf", "-d", object_path], capture_output=True, text=True, check=True)
    assert [line.split("[")[1].rstrip("]") for line in text.stdout.splitlines() if "(NEEDED)" in line] == [
        "libomp.so.5"
    ]
    text = subprocess.run([LLVM_BIN / "llvm-nm", "-D", object_path], capture_output=True, text=True, check=True)
    symbols = [line.split() for line in text.stdout.splitlines()]
    assert {s[-1] for s in symbols if s[-2] == "T"} == {
        "_mlir_ciface_" + name for name in ("forward", "packed_bytes", "prepack", "prepack_steps", "workspace_bytes")
    }
    assert not {"malloc", "free", "memrefCopy"} & {s[-1] for s in symbols}
