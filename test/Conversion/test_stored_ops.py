"""The single operations of test/cases: what went wrong in other programs, with the right numbers.

A masked softmax is attention with one query and heads of one feature: the query is 1, the keys are the scores.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

import step_harness

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
from stored_cases import rows  # noqa: E402

OPS = rows("ops")
GROUPED = """
func.func @grouped(%x: tensor<?x?x4xf32>, %w: tensor<2x2x3xf32>, %b: tensor<6xf32>) -> tensor<?x?x6xf32> {
  %y = convbert.grouped_dense %x, %w, %b : (tensor<?x?x4xf32>, tensor<2x2x3xf32>, tensor<6xf32>) -> tensor<?x?x6xf32>
  return %y : tensor<?x?x6xf32>
}
"""
KERNEL = """
func.func @kernel(%q: tensor<?x?x8xf16>, %s: tensor<?x?x8xf16>, %w: tensor<6x8xf16>, %b: tensor<6xf16>) -> tensor<?x?x2x3xf16> {
  %k = convbert.dynamic_kernel %q, %w, %b span(%s) {heads = 2 : i64, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x8xf16>, tensor<6x8xf16>, tensor<6xf16>, tensor<?x?x8xf16>) -> tensor<?x?x2x3xf16>
  return %k : tensor<?x?x2x3xf16>
}
"""
SOFTMAX = """
func.func @softmax_TYPE(%q: tensor<?x?x1xTYPE>, %k: tensor<?x?x1xTYPE>, %mask: tensor<?x?xi1>) -> tensor<?x1x?x?xTYPE> {
  %bias = convbert.attention_bias %mask : (tensor<?x?xi1>) -> tensor<?x?xf32>
  %y, %p = convbert.self_attention %q, %k, %k bias(%bias) {heads = 1 : i64, scale = 1.0 : f64, with_probabilities}
    : (tensor<?x?x1xTYPE>, tensor<?x?x1xTYPE>, tensor<?x?x1xTYPE>, tensor<?x?xf32>)
    -> (tensor<?x?x1xTYPE>, tensor<?x1x?x?xTYPE>)
  return %p : tensor<?x1x?x?xTYPE>
}
"""
GELU = """
func.func @KIND(%x: tensor<?x?x1xf32>) -> tensor<?x?x1xf32> {
  %y = convbert.activation %x {kind = #convbert.activation<KIND>} : tensor<?x?x1xf32>
  return %y : tensor<?x?x1xf32>
}
"""


@pytest.fixture(scope="module")
def module():
    texts = [GROUPED, KERNEL, *(SOFTMAX.replace("TYPE", element) for element in ("f16", "f32")),
             *(GELU.replace("KIND", kind) for kind in ("gelu", "gelu_new"))]
    return step_harness.Module("".join(texts))


def array(row, name, dtype):
    return np.array(row["inputs"][name], dtype)


def compute(module, row):
    """The result of a row, of its shape."""
    op = row["op"]
    if op.startswith("grouped_linear"):
        weight = array(row, "weight", np.float32)
        weight = np.ascontiguousarray(weight.T) if op.endswith("keras") else weight
        return module("grouped", array(row, "x", np.float32), weight, array(row, "bias", np.float32))
    if op == "kernel_generator":
        q, s = (array(row, name, np.float16)[None] for name in ("q", "s"))
        return module("kernel", q, s, array(row, "weight", np.float16), array(row, "bias", np.float16))[0]
    if op == "masked_softmax":
        half = "float16" in row["note"]
        scores = array(row, "scores", np.float16 if half else np.float32)[None, :, None]
        one, mask = np.ones((1, 1, 1), scores.dtype), array(row, "mask", bool)[None]
        return module("softmax_f16" if half else "softmax_f32", one, scores, mask)[0, 0, 0]
    return module(op, array(row, "x", np.float32)[None, :, None])[0, :, 0]


@pytest.mark.parametrize("case_id, row", OPS, ids=lambda item: item if isinstance(item, str) else item["note"][:40])
def test_numbers(case_id, row, module):
    (expected,) = (np.array(value, np.float64) for value in row["outputs"].values())
    with np.errstate(over="ignore"):
        found = compute(module, row).astype(np.float64)
    if isinstance(row["atol"], str):
        limit = np.where(np.abs(expected) > 1e-6, 1e-6 + 2e-6 * np.abs(expected), 1e-6)
    else:
        limit = np.full(expected.shape, row["atol"])
    assert np.isfinite(found).all()
    assert (np.abs(found - expected.reshape(found.shape)) <= limit.reshape(found.shape)).all(), (found, expected)


def test_all_are_there():
    assert len(OPS) == 10 and {case_id for case_id, _ in OPS} == {"A7", "A23", "B7", "B9", "B19"}
