"""Products of pairs of bfloat16: depths that are odd or no whole vectors, groups, and rows that several layers read."""

from pathlib import Path

import numpy as np
import pytest

from convbert import bfloat16, reference, reference_ops
from module_harness import BFLOAT16, Batch, Module, dense, random_array, tensor, tokens

pytestmark = pytest.mark.skipif("avx512_bf16" not in Path("/proc/cpuinfo").read_text().split(),
                                reason="this CPU has no AVX512_BF16")
BATCHES = [[1], [8], [70], [3, 1, 33, 12]]


def rounded(x):
    return bfloat16.to_bfloat16(x).astype(np.float64)


def check(width, body, parameters, outputs, expected, functions=""):
    """A number close to the middle of two bfloat16 may fall either way, so a few results may be off by a bit of one."""
    module = Module(BFLOAT16, width, body, parameters, outputs, functions=functions)
    for seed, lengths in enumerate(BATCHES):
        batch = Batch(lengths, seed)
        one, two = module.run(batch, 1), module.run(batch, 2)
        for b, x in enumerate(module.embedded(batch)):
            for got, again, want in zip(one, two, expected(rounded(x))):
                assert got.tobytes() == again.tobytes()
                error = np.abs(got[b, :len(want)] - want)
                assert np.median(error) < 1e-6 and error.max() < 1e-2


@pytest.mark.parametrize("width", [16, 17, 31, 32, 37, 48, 63])
def test_any_depth(width):
    w, v, b = random_array(30, width), random_array(51, width, seed=1), random_array(30)
    body = dense("%y", "%x", ("w", w), ("b", b), tokens(width)) + dense("%z", "%x", ("v", v), None, tokens(width))
    check(width, body + f"  return %y, %z : {tokens(30)}, {tokens(51)}", {"w": w, "v": v, "b": b},
          [("tokens", 30), ("tokens", 51)], lambda x: [x @ rounded(w).T + b, x @ rounded(v).T])


@pytest.mark.parametrize("layout", ["out_in", "in_out"])
def test_stored_layouts(layout):
    w = random_array(37, 30) if layout == "in_out" else random_array(30, 37)
    body = dense("%y", "%x", ("w", w), None, tokens(37), f"{{layout = #convbert.layout<{layout}>}}")
    check(37, body + f"  return %y : {tokens(30)}", {"w": w}, [("tokens", 30)],
          lambda x: [x @ (rounded(w) if layout == "in_out" else rounded(w).T)])


@pytest.mark.parametrize("groups, depth", [(2, 8), (3, 5), (16, 1), (3, 16)])
def test_groups(groups, depth):
    """Depths that are odd: the pair of a group's last feature reaches into the next group, or behind the row."""
    w, b = random_array(groups, depth, 7), random_array(groups * 7)
    body = (f"  %y = convbert.grouped_dense %x, %w, %b : ({tokens(groups * depth)}, {tensor(*w.shape)}, "
            f"{tensor(*b.shape)}) -> {tokens(groups * 7)}\n  return %y : {tokens(groups * 7)}")
    check(groups * depth, body, {"w": w, "b": b}, [("tokens", groups * 7)],
          lambda x: [reference.dense(x, rounded(w), b)])


@pytest.mark.parametrize("width, groups, taps, pads, stride, dilation", [
    (37, 1, 3, (1, 1), 1, 1), (30, 2, 4, (3, 0), 1, 1), (16, 1, 5, (5, 7), 2, 3), (6, 2, 1, (0, 0), 1, 1),
    (34, 2, 9, (16, 16), 1, 4)])
def test_convolution(width, groups, taps, pads, stride, dilation):
    """Groups of odd numbers of features: a pair is of features of one token, the last of them with a zero."""
    w, b = random_array(10, width // groups, taps) / np.float32(np.sqrt(taps * width // groups)), random_array(10)

    def follow(length):
        return max(0, (int(length) + sum(pads) - (taps - 1) * dilation - 1) // stride + 1)

    body = (f"  %y = convbert.conv1d %x, %w, %b {{pads = array<i64: {pads[0]}, {pads[1]}>, stride = {stride} : i64, "
            f"dilation = {dilation} : i64, groups = {groups} : i64}} : ({tokens(width)}, {tensor(*w.shape)}, {tensor(10)})"
            f" -> {tokens(10)}\n  return %y : {tokens(10)}")
    check(width, body, {"w": w, "b": b}, [("tokens", 10, follow)],
          lambda x: [reference_ops.conv1d(x[None], rounded(w), b, pads, stride, dilation, groups)[0]])
