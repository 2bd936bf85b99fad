"""Runs functions on tokens-major tensors: from step or block operations to machine code, called on NumPy arrays.

    module = Module(text)                # functions on tensors, any extent dynamic
    y = module("name", x, w, b)          # arrays in, a new array (a tuple of arrays for several results) out

What follows `convbert-to-linalg` is upstream's: one-shot bufferization across functions, loops, LLVM.  Nothing is
scheduled, so that these tests see decomposition, fusion and conversion and nothing else.
"""

import ctypes
import os
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
LLVM_BIN = Path(os.environ.get("CONVBERT_LLVM_BIN", "/usr/lib/llvm-22/bin"))
OPT = Path(os.environ.get("CONVBERT_BUILD_DIR", ROOT / "build")) / "bin" / "convbert-opt"

DECOMPOSE = "func.func(convbert-decompose)"
SIMPLIFY = "convbert-simplify"
#: Ways to linalg: the steps one by one; or fused, and what comes out of that fused once more by upstream.
ROUTES = {
    "steps": DECOMPOSE + ",func.func(convbert-to-linalg)",
    "fused": SIMPLIFY + ",func.func(convbert-to-linalg),canonicalize,cse,func.func(linalg-fuse-elementwise-ops),cse",
}
BUFFERIZE = (
    "func.func(convert-elementwise-to-linalg,eliminate-empty-tensors),"
    "one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map},"
    "buffer-deallocation-pipeline,canonicalize,cse"
)
LOOPS = (
    "convert-bufferization-to-memref,"
    "func.func(convert-linalg-to-loops,convbert-lower-copies,fold-memref-alias-ops),canonicalize,cse"
)
LLVM = (
    "func.func(arith-expand{include-bf16}),expand-strided-metadata,lower-affine,convert-scf-to-cf,"
    "convert-math-to-llvm,convert-math-to-libm,finalize-memref-to-llvm,convert-func-to-llvm,convert-arith-to-llvm,"
    "convert-cf-to-llvm,convert-index-to-llvm,convert-ub-to-llvm,reconcile-unrealized-casts,canonicalize,cse"
)


def run(tool, *arguments, **options):
    """Output of a tool; its error output is in the exception when it fails."""
    result = subprocess.run([str(tool), *map(str, arguments)], capture_output=True, text=True, **options)
    if result.returncode != 0:
        raise RuntimeError(f"{tool} {' '.join(map(str, arguments))}\n{result.stderr}")
    return result.stdout


def opt(text, *passes, generic=False):
    """The module `text` after the passes, given as pieces of a pipeline on the module; in generic form if asked."""
    form = ["--mlir-print-op-generic"] if generic else []
    return run(OPT, "-", f"--pass-pipeline=builtin.module({','.join(passes)})", *form, input=text)


def results(text):
    """Rank and element type of the results of each function of a module, by name."""
    found = {}
    for name, types in re.findall(r"func\.func @(\w+)\(.*?\) -> \(?((?:tensor<[^>]*>(?:, )?)+)", text):
        tensors = re.findall(r"tensor<((?:[?\d]+x)+)(\w+)>", types)
        found[name] = [(shape.count("x"), element) for shape, element in tensors]
    return found


#: bf16 travels as its bits.
DTYPES = {"f16": np.float16, "bf16": np.uint16, "f32": np.float32, "f64": np.float64}


def bf16_from(array):
    """Bits of float32 numbers rounded to bf16, ties to even."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def bf16_to_f32(bits):
    """Numbers of bf16 bits."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def descriptor(array):
    """Memref descriptor of an array: two pointers, offset, sizes, strides in elements."""
    words = [array.ctypes.data, array.ctypes.data, 0, *array.shape, *(s // array.itemsize for s in array.strides)]
    return (ctypes.c_int64 * len(words))(*words)


class Module:
    """The functions of the module `text`, compiled for this machine by way of `route`."""

    def __init__(self, text, route="steps"):
        self.results = results(text)
        # Callers keep their arrays, and the C interface is the one that ctypes can call.
        text = re.sub(r"(%\w+: tensor<[^>]*>)(?=[,)])", r"\1 {bufferization.writable = false}", text)
        text = re.sub(r"(func\.func @[^{]*(?:\{bufferization[^}]*\}[^{]*)*) \{\n",
                      r"\1 attributes {llvm.emit_c_interface} {\n", text)
        #: The module on buffers, for tests of what must not be in it.
        self.buffers = opt(text, ROUTES[route], BUFFERIZE)
        self.directory = tempfile.TemporaryDirectory()
        path = Path(self.directory.name)
        (path / "module.mlir").write_text(opt(self.buffers, LOOPS, LLVM))
        run(LLVM_BIN / "mlir-translate", "--mlir-to-llvmir", path / "module.mlir", "-o", path / "module.ll")
        run(LLVM_BIN / "llc", "-O1", "-mcpu=native", "-mtriple=x86_64-unknown-linux-gnu", "-relocation-model=pic",
            "-filetype=obj", path / "module.ll", "-o", path / "module.o")
        self.object = path / "module.so"
        run(LLVM_BIN / "ld.lld", "-shared", "--no-undefined", "--as-needed", path / "module.o", "-l:libc.so.6",
            "-l:libm.so.6", "-L/lib/x86_64-linux-gnu", "-L/usr/lib/x86_64-linux-gnu", "-L/lib64", "-L/usr/lib64", "-o",
            self.object)
        self.library = ctypes.CDLL(str(self.object))

    def __call__(self, name, *arrays):
        arrays = [np.ascontiguousarray(array) for array in arrays]
        kept = [descriptor(array) for array in arrays]
        returned = (ctypes.c_int64 * sum(3 + 2 * rank for rank, _ in self.results[name]))()
        getattr(self.library, f"_mlir_ciface_{name}")(ctypes.byref(returned), *map(ctypes.byref, kept))
        found, at = [], 0
        for rank, element in self.results[name]:
            base, data, offset, *shape = returned[at:at + 3 + rank]
            dtype = np.dtype(DTYPES[element])
            count = int(np.prod(shape))
            raw = ctypes.string_at(data + offset * dtype.itemsize, count * dtype.itemsize)
            found.append(np.frombuffer(raw, dtype).reshape(shape))
            libc.free(ctypes.c_void_p(base))
            at += 3 + 2 * rank
        return found[0] if len(found) == 1 else tuple(found)


libc = ctypes.CDLL(None)
