"""Kernels of the kinds dense, norm and embed against NumPy in double precision, for every instruction set."""

import math

import numpy as np
import pytest

from kernel_harness import ISAS, Kernel, supported

DENSE = """
!rows = memref<?x{mr}x?xf32, strided<[?, ?, 1], offset: ?>>
!panels = memref<?x?x{nr}x@WT@>
!bias = memref<?x{nr}xf32>
!out = memref<?x{mr}x?x{nr}xf32, strided<[?, ?, {nr}, 1], offset: ?>>
!trows = tensor<?x{mr}x?xf32>
!tpanels = tensor<?x?x{nr}x@WT@>
!tbias = tensor<?x{nr}xf32>
!tout = tensor<?x{mr}x?x{nr}xf32>
func.func @kernel(%a: !rows, %w: !panels, %b: !bias, %d: !out, %c: !out, %threads: i32 {convbert.threads})
    attributes {convbert.kernel = "@KIND@", llvm.emit_c_interface} {
  %rows = bufferization.to_tensor %a restrict : !rows to !trows
  %panels = bufferization.to_tensor %w restrict : !panels to !tpanels
  %bias = bufferization.to_tensor %b restrict : !bias to !tbias
  %factor = bufferization.to_tensor %d restrict : !out to !tout
  %r = convbert.packed_dense %rows, %panels, %bias @TIMES@ {@HOW@}
    : (!trows, !tpanels, !tbias@TIMESTYPE@) -> !tout
  bufferization.materialize_in_destination %r in restrict writable %c : (!tout, !out) -> ()
  return
}
"""

NORM = """
!row = memref<@C@xf32, strided<[1], offset: ?>>
!mat = memref<?x@C@xf32, strided<[?, 1], offset: ?>>
func.func @kernel(@ARGS@, %p: memref<2x@C@xf32>, %y: !mat, %threads: i32 {convbert.threads})
    attributes {convbert.kernel = "@KIND@", llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %y, %c0 : !mat
  %params = bufferization.to_tensor %p restrict : memref<2x@C@xf32> to tensor<2x@C@xf32>
  scf.forall (%t) in (%rows) {
    @LOADS@
    %r = convbert.norm_tile %params (@TENSORS@) {eps = 1.0e-12 : f64, width = @WIDTH@ : i64}
      : (tensor<2x@C@xf32>@TYPES@) -> tensor<@C@xf32>
    %yr = memref.subview %y[%t, 0] [1, @C@] [1, 1] : !mat to !row
    bufferization.materialize_in_destination %r in restrict writable %yr : (tensor<@C@xf32>, !row) -> ()
  }
  return
}
"""

isas = pytest.mark.parametrize(
    "isa", [pytest.param(i, marks=pytest.mark.skipif(not supported(i), reason=f"no {i} here")) for i in ISAS]
)

_erf = np.vectorize(math.erf)


def _sigmoid(x):
    return np.where(x > 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


ACTIVATIONS = {
    "identity": lambda x: x,
    "gelu": lambda x: x / 2 * (1 + _erf(x / np.sqrt(2))),
    "gelu_new": lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x * _sigmoid(x),
    "tanh": np.tanh,
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0))),
    "sigmoid": _sigmoid,
}
#: Absolute error allowed: the first for all x, the second times |x|.
ERRORS = {
    "identity": (0, 0), "gelu": (1e-7, 2.5e-7), "gelu_new": (1e-7, 3e-7), "relu": (0, 0), "silu": (0, 2.5e-7),
    "tanh": (4e-7, 0), "selu": (3e-7, 1.2e-7), "sigmoid": (2e-7, 0),
}


def dense(isa, activation="identity", times=False, deep=False, weights="f32", widen=False):
    how = "bias_first" if deep else f"activation = #convbert.activation<{activation}>"
    how += ", widen_first" if widen else ""
    text = DENSE.replace("@HOW@", how).replace("@TIMES@", "times %factor" if times else "")
    text = text.replace("@KIND@", "dense_deep" if deep else "dense").replace("@WT@", weights)
    kernel = Kernel(text.replace("@TIMESTYPE@", ", !tout" if times else ""), "kernel", isa)
    assert "memref.copy" not in kernel.buffers
    # One panel, or a slice of one, in f32.
    assert kernel.buffers.count("memref.alloc") == (1 if widen else 0)
    return kernel


def dense_operands(isa, rows, n, k, pitch=16):
    """Operands for `rows` x `k` times `n` panels in buffers whose pitch is larger than the row."""
    mr, nr = ISAS[isa]["mr"], ISAS[isa]["nr"]
    tiles = -(-rows // mr)
    rng = np.random.default_rng(1)
    a = rng.standard_normal((tiles, mr, k + pitch), dtype=np.float32)[:, :, :k]
    w = rng.standard_normal((n, k, nr), dtype=np.float32) / np.float32(math.sqrt(k))
    b = rng.standard_normal((n, nr), dtype=np.float32)
    d = rng.standard_normal((tiles, mr, (n * nr + pitch)), dtype=np.float32)
    c = np.full((tiles, mr, n * nr + pitch), np.nan, dtype=np.float32)
    view = lambda x: np.lib.stride_tricks.as_strided(x, (tiles, mr, n, nr), (*x.strides[:2], nr * 4, 4))
    return a, w, b, view(d), view(c), c


@isas
@pytest.mark.parametrize("times", [False, True])
def test_dense(isa, times):
    kernel = dense(isa, times=times)
    # rows, panels, K: one tile; several blocks of rows and tasks; K that the unrolled loop leaves a rest of
    for rows, n, k in [(1, 1, 4), (1, 1, 1), (5, 3, 7), (100, 9, 66), (7, 4, 3), (230, 5, 129)]:
        a, w, b, d, c, whole = dense_operands(isa, rows, n, k)
        kernel(a, w, b, d, c, 1)
        want = np.einsum("omk,nkj->omnj", a.astype(np.float64), w.astype(np.float64)) + b
        if times:
            want = want * d
        np.testing.assert_allclose(c, want, rtol=0, atol=2e-6 * max(1, math.sqrt(k) / 4))
        assert np.isnan(whole[:, :, n * ISAS[isa]["nr"]:]).all(), "wrote beyond the row"


@isas
def test_dense_deep(isa):
    """A depth of less than a slice, of one, of several with and without a rest, and a rest that is no multiple of four."""
    kernel = dense(isa, deep=True)
    for rows, n, k in [(1, 1, 1), (5, 3, 768), (9, 6, 1536), (230, 5, 2049), (150, 9, 3072)]:
        a, w, b, d, c, whole = dense_operands(isa, rows, n, k)
        kernel(a, w, b, d, c, 1)
        want = np.einsum("omk,nkj->omnj", a.astype(np.float64), w.astype(np.float64), optimize=True) + b
        np.testing.assert_allclose(c, want, rtol=0, atol=2e-6 * max(1, math.sqrt(k) / 4))
        assert np.isnan(whole[:, :, n * ISAS[isa]["nr"]:]).all(), "wrote beyond the row"


@isas
@pytest.mark.parametrize("widen", [False, True], ids=["as_multiplied", "first"])
@pytest.mark.parametrize("how", [{}, {"times": True}, {"deep": True}], ids=["plain", "times", "deep"])
def test_dense_bf16_weights(isa, how, widen):
    """Widening is exact: every bit is that of the same weights in f32."""
    narrow, wide = dense(isa, weights="bf16", widen=widen, **how), dense(isa, **how)
    for rows, n, k in [(1, 1, 1), (5, 3, 7), (230, 5, 129), (150, 9, 770)]:
        a, w, b, d, c, _ = dense_operands(isa, rows, n, k)
        bits = (w.view(np.uint32) >> 16).astype(np.uint16)
        narrow(a, bits, b, d, c, 1)
        got = c.copy()
        wide(a, (bits.astype(np.uint32) << 16).view(np.float32), b, d, c, 1)
        np.testing.assert_array_equal(got, c)


@isas
@pytest.mark.parametrize("activation", list(ACTIVATIONS))
def test_activation(isa, activation):
    """The activation alone: one input feature, weight 1, bias 0."""
    kernel = dense(isa, activation)
    mr, nr = ISAS[isa]["mr"], ISAS[isa]["nr"]
    x = np.concatenate([np.linspace(-12, 12, 4001), np.linspace(-1e-3, 1e-3, 101), np.linspace(-120, 120, 999),
                        [0.0, -0.0, 1e-30, -1e-30, np.inf, np.nan]]).astype(np.float32)
    x = np.resize(x, (-(-len(x) // mr), mr, 1)).copy()
    d = np.zeros((len(x), mr, 1, nr), np.float32)
    c = np.full((len(x), mr, 1, nr), 77, np.float32)
    kernel(x, np.ones((1, 1, nr), np.float32), np.zeros((1, nr), np.float32), d, c, 1)
    with np.errstate(all="ignore"):
        want = ACTIVATIONS[activation](x.astype(np.float64))
    got = c[:, :, 0, :].astype(np.float64)
    np.testing.assert_array_equal(got, got[:, :, :1].repeat(nr, axis=2))
    # A NaN stays one and comes from nothing else.
    np.testing.assert_array_equal(np.isnan(got[:, :, 0]), np.isnan(want[:, :, 0]))
    np.testing.assert_array_equal(got[:, :, 0][np.isinf(want[:, :, 0])], np.inf)
    finite = np.isfinite(want[:, :, 0])
    fixed, relative = ERRORS[activation]
    x, got, want = x[:, :, 0][finite], got[:, :, 0][finite], want[:, :, 0][finite]
    error = np.abs(got - want)
    allowed = fixed + relative * np.minimum(np.abs(x), 1e30) + 1.2e-7 * np.abs(want)
    worst = np.argmax(error - allowed)
    assert (error <= allowed).all(), (x[worst], error[worst], allowed[worst])


def norm(isa, row, width, addends, kind="norm"):
    names = [f"%x{i}" for i in range(addends)]
    loads = "\n    ".join(
        f"{x}r = memref.subview {x}[%t, 0] [1, {row}] [1, 1] : !mat to !row\n"
        f"    {x}t = bufferization.to_tensor {x}r restrict : !row to tensor<{row}xf32>" for x in names)
    text = NORM.replace("@LOADS@", loads).replace("@C@", str(row)).replace("@WIDTH@", str(width))
    text = text.replace("@ARGS@", ", ".join(f"{x}: !mat" for x in names)).replace("@KIND@", kind)
    text = text.replace("@TENSORS@", ", ".join(f"{x}t" for x in names))
    kernel = Kernel(text.replace("@TYPES@", f", tensor<{row}xf32>" * addends), "kernel", isa)
    # A row that is one slice of two vectors is copied onto itself; rows of models have 16 elements or more.
    assert "memref.copy" not in kernel.buffers or (isa, row) == ("generic", 8)
    allocations = [line for line in kernel.buffers.splitlines() if "memref.alloc" in line]
    assert len(allocations) <= 3 and not any("?" in line for line in allocations), "one row, one slice, one scalar"
    return kernel


@isas
@pytest.mark.parametrize("row, width, addends, kind", [
    (768, 768, 2, "norm"), (768, 768, 3, "embed"), (128, 128, 1, "norm"), (48, 45, 2, "norm"), (24, 24, 2, "norm"),
    (40, 33, 3, "embed"), (8, 5, 1, "norm"), (16, 16, 2, "norm"), (32, 32, 2, "norm"), (768, 767, 2, "norm"),
])
def test_norm(isa, row, width, addends, kind):
    kernel = norm(isa, row, width, addends, kind)
    rng = np.random.default_rng(2)
    rows = 5
    params = np.zeros((2, row), np.float32)
    params[:, :width] = rng.standard_normal((2, width))
    xs = [(rng.standard_normal((rows, row + 16)) * 3 + 10).astype(np.float32)[:, :row] for _ in range(addends)]
    for x in xs:
        x[:, width:] = np.nan  # padding may hold anything
    whole = np.full((rows, row + 16), 77, np.float32)
    kernel(*xs, params, whole[:, :row], 1)
    s = sum(x[:, :width].astype(np.float64) for x in xs)
    want = (s - s.mean(1, keepdims=True)) / np.sqrt(s.var(1, keepdims=True) + 1e-12)
    want = want * params[0, :width] + params[1, :width]
    np.testing.assert_allclose(whole[:, :width], want, rtol=0, atol=2e-5)
    assert (whole[:, width:row] == 0).all(), "padding must be zero"
    assert (whole[:, row:] == 77).all(), "wrote beyond the row"
