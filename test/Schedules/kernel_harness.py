"""Compiles one kernel function, from tile operations to machine code, and calls it on NumPy arrays.

The phases behind `schedule` are upstream passes only and the parallel loop becomes a sequential one, so that these
tests see conversion and schedule and nothing else.
"""

import ctypes
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "scripts"))
from host_features import host_features  # noqa: E402

LLVM_BIN = Path(os.environ.get("CONVBERT_LLVM_BIN", "/usr/lib/llvm-22/bin"))
OPT = Path(os.environ.get("CONVBERT_BUILD_DIR", ROOT / "build")) / "bin" / "convbert-opt"

#: Parameters of the instruction sets: row tile, panel width, vector lanes, and the processor to generate code for.
ISAS = {
    "generic": dict(mr=4, nr=8, nv=4, cpu="x86-64-v2"),
    "avx2": dict(mr=4, nr=24, nv=8, cpu="x86-64-v3"),
    "avx512": dict(mr=8, nr=48, nv=16, cpu="x86-64-v4"),
}

SCHEDULE = "func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=%s},canonicalize,cse"
BUFFERIZE = (
    "func.func(eliminate-empty-tensors),one-shot-bufferize,"
    "func.func(convert-linalg-to-loops,fold-memref-alias-ops),canonicalize,cse,canonicalize"
)
LLVM = (
    "func.func(scf-forall-to-for,convert-vector-to-scf),expand-strided-metadata,canonicalize,cse,lower-affine,"
    "convert-scf-to-cf,%sconvert-vector-to-llvm{enable-x86vector reassociate-fp-reductions},convert-math-to-llvm,"
    "finalize-memref-to-llvm,convert-func-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,convert-index-to-llvm,"
    "convert-ub-to-llvm,reconcile-unrealized-casts,canonicalize,cse"
)


def supported(isa):
    """Whether this machine runs code of `isa`."""
    return isa in host_features()


def expand(isa):
    """What comes before the lowering of vectors: without FMA, math.fma would become a call."""
    return "math-expand-ops{ops=fma}," if isa == "generic" else ""


def run(tool, *arguments, **options):
    """Output of a tool; its error output is in the exception when it fails."""
    result = subprocess.run([str(tool), *map(str, arguments)], capture_output=True, text=True, **options)
    if result.returncode != 0:
        raise RuntimeError(f"{tool} {' '.join(map(str, arguments))}\n{result.stderr}")
    return result.stdout


def descriptor(array):
    """Memref descriptor of a NumPy array: two pointers, offset, sizes, strides in elements."""
    words = [array.ctypes.data, array.ctypes.data, 0, *array.shape, *(s // array.itemsize for s in array.strides)]
    return (ctypes.c_int64 * len(words))(*words)


class Kernel:
    """The function `name` of the module `text`, compiled for `isa`.

    `text` may use {mr}, {nr} and {nv}.  Call it with arrays (memrefs) and ints (`i32` or `index`).
    """

    def __init__(self, text, name, isa):
        for key in ("mr", "nr", "nv"):
            text = text.replace("{" + key + "}", str(ISAS[isa][key]))
        self.name = name
        self.directory = tempfile.TemporaryDirectory()
        path = Path(self.directory.name)
        (path / "kernel.mlir").write_text(text)
        run(OPT, path / "kernel.mlir", f"--pass-pipeline=builtin.module({SCHEDULE % isa},{BUFFERIZE})", "-o",
            path / "buffers.mlir")
        #: The kernel on memrefs, for tests of what must not be in it.
        self.buffers = (path / "buffers.mlir").read_text()
        run(OPT, path / "buffers.mlir", f"--pass-pipeline=builtin.module({LLVM % expand(isa)})", "-o", path / "llvm.mlir")
        run(LLVM_BIN / "mlir-translate", "--mlir-to-llvmir", path / "llvm.mlir", "-o", path / "kernel.ll")
        cpu = ISAS[isa]["cpu"]
        run(LLVM_BIN / "opt", "-O2", f"-mcpu={cpu}", "-mtriple=x86_64-unknown-linux-gnu", path / "kernel.ll", "-o",
            path / "kernel.bc")
        run(LLVM_BIN / "llc", "-O2", f"-mcpu={cpu}", "-mattr=-prefer-256-bit", "-relocation-model=pic",
            "-filetype=obj", path / "kernel.bc", "-o", path / "kernel.o")
        # No math library on purpose: a scalar function that became a library call does not link.
        run(LLVM_BIN / "ld.lld", "-shared", "--no-undefined", path / "kernel.o", "-l:libc.so.6",
            "-L/lib/x86_64-linux-gnu", "-L/usr/lib/x86_64-linux-gnu", "-L/lib64", "-L/usr/lib64", "-o",
            path / "kernel.so")
        self.library = ctypes.CDLL(str(path / "kernel.so"))

    def __call__(self, *arguments):
        descriptors = [descriptor(a) if isinstance(a, np.ndarray) else int(a) for a in arguments]
        getattr(self.library, f"_mlir_ciface_{self.name}")(*[
            ctypes.c_int64(d) if isinstance(d, int) else ctypes.byref(d) for d in descriptors
        ])
