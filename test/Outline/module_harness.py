"""Compiles a hand-written module of the dialect through all phases and calls it on NumPy arrays.

A module is an `@forward` around a few operations under test.  Activations enter through `convbert.embeddings` (inputs of
compiled models are integers), whose tables are random: `%x` is what the operations read, `%bias` the key bias.
"""

import ctypes
import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
COMPILE = Path(os.environ.get("CONVBERT_BUILD_DIR", ROOT / "build")) / "bin" / "convbert-compile"

sys.path.insert(0, str(ROOT / "tools" / "scripts"))
from host_features import host_features  # noqa: E402

TARGETS = {"generic": "x86-64-v2", "avx2": "x86-64-v3", "avx512": "x86-64-v4"}
#: Products of bfloat16: not among `isas`, because their results are others.
BFLOAT16 = "avx512bf16"
_BFLOAT16_OPTIONS = ["--target=x86-64-v4-bf16", "--dtype=bfloat16"]
VOCABULARY, POSITIONS, TYPES = 23, 80, 2
GUARD = 4096  # bytes behind buffers that nobody may touch
UNTOUCHED = 7  # what outputs hold before the call


def supported(isa):
    """Whether this machine runs code of `isa`."""
    return isa in host_features()


def tensor(*shape):
    """The type of a static tensor, or with "?" for dynamic extents."""
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


def tokens(width):
    return tensor("?", "?", width)


class Span(ctypes.Structure):
    """memref<?xT>: two pointers, offset, size, stride."""

    _fields_ = [("base", ctypes.c_void_p), ("data", ctypes.c_void_p)] + [
        (name, ctypes.c_int64) for name in ("offset", "size", "stride")
    ]

    @classmethod
    def of(cls, array, size=None):
        return cls(array.ctypes.data, array.ctypes.data, 0, array.size if size is None else size, 1)


def _aligned(size):
    """Bytes 0xFF (NaN, read as floats), the first at a multiple of 64, and as many to guard their end."""
    memory = np.full(size + GUARD + 64, 0xFF, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size + GUARD]


def _table(arrays):
    """A memref of memrefs, and what must be kept alive with it."""
    spans = (Span * max(len(arrays), 1))(*(Span.of(a.view(np.uint8).reshape(-1)) for a in arrays))
    return Span(ctypes.addressof(spans), ctypes.addressof(spans), 0, len(arrays), 1), (spans, arrays)


class Batch:
    """Inputs of one call: sequences of `lengths` tokens (`longest` with padding)."""

    def __init__(self, lengths, seed=0, masked=True):
        random = np.random.default_rng(seed)
        self.lengths = np.array(lengths)
        self.longest = int(max(lengths)) + (1 if len(lengths) > 1 else 0)
        shape = (len(lengths), self.longest)
        self.ids = random.integers(0, VOCABULARY, shape)
        self.types = random.integers(0, TYPES, shape)
        self.positions = random.integers(0, POSITIONS, shape)
        self.mask = random.random(shape) < 0.7 if masked else np.ones(shape, bool)
        starts = np.concatenate([[0], np.cumsum(np.maximum(lengths, 8))])
        self.shape = np.array([len(lengths), self.longest, *starts, *lengths], np.int64)

    def inputs(self):
        return [self.ids.astype(np.int64), self.mask.astype(np.uint8), self.types.astype(np.int64),
                self.positions.astype(np.int64)]


class Module:
    """`body` compiled for `isa`.

    body: operations on `%x : tensor<?x?x{width}xf32>`, `%bias : tensor<?x?xf32>` and one value `%name` for each of
    `parameters` (name: float32 array); ends with `return`.
    results: result types of `@forward`.  outputs: for each result "tokens" or "sequences", its width, and for tokens,
    where they are not as many as before, a function from the length of a sequence to that of the result.
    functions: further functions of the module.  options: further ones of the compiler.
    """

    def __init__(self, isa, width, body, parameters, outputs, functions="", seed=0, options=()):
        random = np.random.default_rng(seed)

        def normal(*shape):
            return random.standard_normal(shape).astype(np.float32)

        self.tables = {"word": normal(VOCABULARY, width), "position": normal(POSITIONS, width),
                       "type": normal(TYPES, width), "gamma": 1 + normal(width) / 4, "beta": normal(width) / 4}
        self.outputs = [(kind, width, follow[0] if follow else int) for kind, width, *follow in outputs]
        self.parameters = {**self.tables, **parameters}
        self.text = self._text(width, body, functions)
        self._directory = tempfile.TemporaryDirectory()
        source, path = Path(self._directory.name) / "module.mlir", Path(self._directory.name) / "module.so"
        source.write_text(self.text)
        done = subprocess.run([COMPILE, source, "--compile-from=import", "-o", path,
                               *(_BFLOAT16_OPTIONS if isa == BFLOAT16 else [f"--target={TARGETS[isa]}"]), *options],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        self.library = ctypes.CDLL(str(path))
        for name in ("packed_bytes", "prepack_steps", "workspace_bytes"):
            getattr(self.library, "_mlir_ciface_" + name).restype = ctypes.c_int64
        self.packed = self._prepack(threads=1)
        assert np.array_equal(self.packed, self._prepack(threads=2)), "other bits with two threads"

    def _text(self, width, body, functions):
        types = {name: tensor(*array.shape) for name, array in self.parameters.items()}
        lines = [f"ml_program.global private @{n}(#ml_program.extern : {t}) : {t}" for n, t in types.items()]
        results = []
        for kind, size, _ in self.outputs:
            results.append({"tokens": tokens(size), "sequences": tensor("?", size), "scalars": tensor("?", "?")}[kind])
        lines += [
            functions,
            "func.func @forward(%ids: tensor<?x?xi64>, %mask: tensor<?x?xi1>, %types: tensor<?x?xi64>,"
            f" %positions: tensor<?x?xi64>) -> ({', '.join(results)}) {{",
            *(f"  %{n} = ml_program.global_load_const @{n} : {t}" for n, t in types.items()),
            "  %bias = convbert.attention_bias %mask : (tensor<?x?xi1>) -> tensor<?x?xf32>",
            "  %x = convbert.embeddings %ids, %types, %positions tables(%word, %position, %type) norm(%gamma, %beta)"
            " {eps = 1.0e-12 : f64} : (tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64>, "
            + ", ".join(types[n] for n in self.tables) + f") -> {tokens(width)}",
            body,
            "}",
        ]
        return "\n".join(lines)

    def _prepack(self, threads):
        size = self.library._mlir_ciface_packed_bytes()
        packed = _aligned(size)
        raw, keep = _table([np.ascontiguousarray(p) for p in self.parameters.values()])
        span = Span.of(packed, size)
        for step in range(self.library._mlir_ciface_prepack_steps()):
            self.library._mlir_ciface_prepack(ctypes.byref(raw), ctypes.byref(span), ctypes.c_int64(step),
                                              ctypes.c_int32(threads))
        assert (packed[size:] == 0xFF).all(), "prepack wrote behind its destination"
        return packed

    def workspace_bytes(self, batch, threads):
        shape = Span.of(batch.shape)
        return self.library._mlir_ciface_workspace_bytes(ctypes.byref(shape), ctypes.c_int32(threads))

    def run(self, batch, threads):
        """Outputs of one call, in a workspace full of NaN."""
        size = self.workspace_bytes(batch, threads)
        workspace = _aligned(size)
        outputs = []
        for kind, width, follow in self.outputs:
            count = len(batch.lengths)
            shape = {"tokens": (count, follow(batch.longest), width), "sequences": (count, width),
                     "scalars": (count, batch.longest)}[kind]
            outputs.append(np.full(shape, UNTOUCHED, np.float32))
        (inputs, keep_in), (results, keep_out) = _table(batch.inputs()), _table(outputs)
        arguments = [Span.of(self.packed), inputs, results, Span.of(workspace, size), Span.of(batch.shape)]
        self.library._mlir_ciface_forward(*map(ctypes.byref, arguments), ctypes.c_int32(threads))
        assert (workspace[size:] == 0xFF).all(), "forward wrote behind its workspace"
        return outputs

    def embedded(self, batch):
        """`%x` in float64, a sequence at a time: arrays [length][width]."""
        t = {name: array.astype(np.float64) for name, array in self.tables.items()}
        for b, length in enumerate(batch.lengths):
            e = t["word"][batch.ids[b, :length]] + t["position"][batch.positions[b, :length]]
            e = e + t["type"][batch.types[b, :length]]
            e = (e - e.mean(-1, keepdims=True)) / np.sqrt(e.var(-1, keepdims=True) + 1e-12)
            yield e * t["gamma"] + t["beta"]

    def check(self, batch, expected, atol=2e-5):
        """Compares with `expected(x, mask)`, which computes a sequence's results in float64 from `x` [length][width].

        Runs with one and two threads; both give equal bits, and rows behind a sequence's end are left alone.
        """
        one, two = self.run(batch, 1), self.run(batch, 2)
        for a, b in zip(one, two):
            assert a.tobytes() == b.tobytes(), "other bits with two threads"
        for b, x in enumerate(self.embedded(batch)):
            length = batch.lengths[b]
            wanted = expected(x, batch.mask[b, :length])
            assert len(wanted) == len(one)
            for (kind, _, follow), got, want in zip(self.outputs, one, wanted):
                if kind == "sequences":
                    np.testing.assert_allclose(got[b], want, rtol=0, atol=atol)
                else:
                    made = follow(length)
                    np.testing.assert_allclose(got[b, :made], want, rtol=0, atol=atol)
                    assert (got[b, made:] == UNTOUCHED).all(), "wrote behind a sequence"


#: A test of compiled code runs for each instruction set that this machine has.
isas = pytest.mark.parametrize(
    "isa", [pytest.param(i, marks=pytest.mark.skipif(not supported(i), reason=f"no {i} here")) for i in TARGETS]
)
BATCHES = [[1], [8], [70], [3, 1, 33, 12], [5, 40]]
D = 37


@functools.lru_cache(maxsize=None)
def random_array(*shape, seed=0):
    """A weight whose last axis sums to something of order one."""
    random = np.random.default_rng((seed, *shape))
    return (random.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)


def wide(array):
    return array.astype(np.float64)


def check(isa, width, body, parameters, outputs, expected, functions="", **options):
    """Compiles once and compares on batches of all kinds."""
    module = Module(isa, width, body, parameters, outputs, functions=functions)
    p = {name: wide(array) for name, array in parameters.items()}
    for seed, lengths in enumerate(BATCHES):
        module.check(Batch(lengths, seed), lambda x, mask: expected(x, mask, p), **options)
    return module


def rounded(array):
    """As float64, after rounding to bfloat16."""
    from convbert.bfloat16 import to_bfloat16

    return to_bfloat16(array).astype(np.float64)


def check_rounded(module, want, median, most):
    """The first result of all batches, with equal bits on one and two threads, is near `want` of each sequence: a number
    close to the middle of two bfloat16 may fall either way."""
    for seed, lengths in enumerate(BATCHES):
        batch = Batch(lengths, seed)
        [one], [two] = module.run(batch, 1), module.run(batch, 2)
        assert one.tobytes() == two.tobytes()
        for b, x in enumerate(module.embedded(batch)):
            expected = want(x)
            error = np.abs(one[b, :len(expected)] - expected)
            assert len(expected) == 0 or (np.median(error) < median and error.max() < most)


def dense(result, x, weight, bias, source, attributes=""):
    """The text of a dense layer; `weight` and `bias` are (name, array), `bias` may be None."""
    operands, types = [x, "%" + weight[0]], [source, tensor(*weight[1].shape)]
    out = weight[1].shape[1] if "in_out" in attributes else weight[1].shape[0]
    if bias is not None:
        operands.append("%" + bias[0])
        types.append(tensor(*bias[1].shape))
    return (f"  {result} = convbert.dense {', '.join(operands)} {attributes} : ({', '.join(types)})"
            f" -> {source[: source.rindex('x', 0, -5)]}x{out}xf32>\n")
