"""The kernels that mix rows through all phases: per-thread scratch of the promised size, equal bits for any team."""

import ctypes

import numpy as np
import pytest

import test_attention
import test_depthwise
import test_span
from kernel_harness import LLVM_BIN, OPT, ISAS, descriptor, run, supported
from row_kernels import PANEL, text

isas = pytest.mark.parametrize(
    "isa", [pytest.param(i, marks=pytest.mark.skipif(not supported(i), reason=f"no {i} here")) for i in ISAS]
)

PHASES = ("linalg", "schedule", "bufferize", "threads", "memory", "llvm")
GUARD = 4096  # bytes behind the scratch that nobody may touch

ROWS = "memref<?x?xf32, strided<[?, 1], offset: ?>>"
ENTRY = """
func.func private @scratch_bytes(%shape: memref<?xi64>) -> index
func.func @bytes(%shape: memref<?xi64>) -> index attributes {llvm.emit_c_interface} {
  %n = func.call @scratch_bytes(%shape) : (memref<?xi64>) -> index
  return %n : index
}
func.func @entry(ARGS) attributes {llvm.emit_c_interface} {
  func.call @KIND(NAMES) : (TYPES) -> ()
  return
}
"""


def module(kind, types, **numbers):
    """The kernel, behind an entry that hands its arguments on."""
    types = [*types, "memref<?xi64>", "i32", "memref<?xi8>"]
    names = [f"%a{i}" for i in range(len(types))]
    entry = ENTRY.replace("ARGS", ", ".join(f"{n}: {t}" for n, t in zip(names, types))).replace("KIND", kind)
    entry = entry.replace("NAMES", ", ".join(names)).replace("TYPES", ", ".join(types))
    return text(kind, **numbers) + entry


def compile_module(source, isa, path):
    (path / "in.mlir").write_text(source)
    phases = ",".join(f"convbert-{phase}-cpu{{isa={isa}}}" for phase in PHASES)
    run(OPT, path / "in.mlir", f"--pass-pipeline=builtin.module({phases})", "-o", path / "llvm.mlir")
    run(LLVM_BIN / "mlir-translate", "--mlir-to-llvmir", path / "llvm.mlir", "-o", path / "k.ll")
    cpu = ISAS[isa]["cpu"]
    run(LLVM_BIN / "opt", "-O2", f"-mcpu={cpu}", "-mtriple=x86_64-unknown-linux-gnu", path / "k.ll", "-o",
        path / "k.bc")
    run(LLVM_BIN / "llc", "-O2", f"-mcpu={cpu}", "-relocation-model=pic", "-filetype=obj", path / "k.bc", "-o",
        path / "k.o")
    run(LLVM_BIN / "ld.lld", "-shared", "--no-undefined", path / "k.o", "-l:libomp.so.5", "-l:libc.so.6",
        f"-L{LLVM_BIN.parent / 'lib'}", "-L/lib/x86_64-linux-gnu", "-L/usr/lib/x86_64-linux-gnu", "-L/lib64",
        "-rpath", LLVM_BIN.parent / "lib", "-o", path / "k.so")
    return ctypes.CDLL(str(path / "k.so"))


def check(library, arrays, case, columns):
    """Runs with teams of 1, 2 and 5 threads; returns the rows of the sequences."""
    shape = case.batch.shape
    library._mlir_ciface_bytes.restype = ctypes.c_int64
    share = library._mlir_ciface_bytes(ctypes.byref(descriptor(shape)))
    assert share > 0 and share % 64 == 0
    results = []
    for threads in (1, 2, 5):
        memory = np.full(share * threads + GUARD + 64, 0xFF, np.uint8)  # NaN, read as floats
        memory = memory[-memory.ctypes.data % 64 :]
        out = case.batch.buffer(columns, fill=False)
        memrefs = [descriptor(a) for a in (*arrays, out, shape)]
        scratch = descriptor(memory[: share * threads])
        library._mlir_ciface_entry(*map(ctypes.byref, memrefs), ctypes.c_int32(threads), ctypes.byref(scratch))
        assert case.batch.untouched(out)
        assert (memory[share * threads :][:GUARD] == 0xFF).all()
        results.append(np.concatenate(case.batch.sequences(out)))
    assert results[0].tobytes() == results[1].tobytes() == results[2].tobytes()
    return results[0]


LENGTHS = [35, 1, 64, 12, 33]


@isas
def test_attention_teams(isa, tmp_path):
    source = module("attention", [ROWS] * 3 + ["memref<?x?xf32>", ROWS], NR=PANEL[isa], DP=64, NR_DP=PANEL[isa] * 64)
    case = test_attention.Case(isa, LENGTHS, heads=3)
    got = check(compile_module(source, isa, tmp_path), (case.q, case.k, case.v, case.bias), case, 192)
    np.testing.assert_allclose(got, np.concatenate(case.reference()), atol=3e-6)


@isas
def test_depthwise_teams(isa, tmp_path):
    source = module("depthwise", [ROWS, "memref<?x9x32xf32>", ROWS], K=9, ROWS=9, LOW=4, IN=12, W=96,
                    TILE=test_depthwise.TILES[isa])
    case = test_depthwise.Case(isa, LENGTHS)
    blocks = np.ascontiguousarray(case.weights.reshape(9, -1, 32).transpose(1, 0, 2))
    got = check(compile_module(source, isa, tmp_path), (case.x, blocks), case, 96)
    np.testing.assert_allclose(got, np.concatenate(case.reference()), atol=6e-6)


@isas
def test_span_teams(isa, tmp_path):
    source = module("span", [ROWS] * 3, K=9, HALO=4, IN=12, H=6, HP=8, DP=64, W=384, KHP=72)
    case = test_span.Case(isa, LENGTHS)
    got = check(compile_module(source, isa, tmp_path), (case.logits, case.v), case, 384)
    np.testing.assert_allclose(got, np.concatenate(case.reference()), atol=2e-6)
