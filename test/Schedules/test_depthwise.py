"""Kernels of kind depthwise against NumPy in double precision."""

from functools import lru_cache

import numpy as np
import pytest

from kernel_harness import ISAS, supported
from row_kernels import SCRATCH, Batch, compile_kernel, same

isas = pytest.mark.parametrize(
    "isa", [pytest.param(i, marks=pytest.mark.skipif(not supported(i), reason=f"no {i} here")) for i in ISAS]
)

#: Channels of a tile: a block, or one vector where a block is two.
TILES = {isa: 16 if isa.startswith("avx512") else 32 for isa in ISAS}


@lru_cache(maxsize=None)
def kernel(isa, taps, low, bias, width):
    """The kernel of one bias row or none; `low` zeros stand before a sequence, the rest of taps - 1 behind it."""
    return compile_kernel("depthwise", isa, K=taps, LOW=low, IN=taps + 3, W=width, ROWS=taps + bias, TILE=TILES[isa],
                          **({"BIAS": ""} if bias else {}))


class Case:
    def __init__(self, isa, lengths, channels=96, taps=9, low=None, bias=False):
        self.isa, self.channels, self.taps, self.bias = isa, channels, taps, bias
        self.low = taps // 2 if low is None else low
        self.batch = Batch(lengths)
        self.padded = -(-channels // 32) * 32
        self.x = self.batch.buffer(self.padded)
        self.weights = self.batch.random.standard_normal((taps + bias, self.padded)).astype(np.float32)

    def run(self):
        out = self.batch.buffer(self.padded, fill=False)
        blocks = np.ascontiguousarray(self.weights.reshape(len(self.weights), -1, 32).transpose(1, 0, 2))
        kernel(self.isa, self.taps, self.low, self.bias, self.padded)(self.x, blocks, out, self.batch.shape, 1, SCRATCH)
        assert self.batch.untouched(out)
        return [rows[:, : self.channels] for rows in self.batch.sequences(out)]

    def reference(self):
        results = []
        for x in self.batch.sequences(self.x.astype(np.float64)):
            length = len(x)
            x = np.pad(x[:, : self.channels], ((self.low, self.taps - 1 - self.low), (0, 0)))
            weights = self.weights[:, : self.channels].astype(np.float64)
            y = sum(x[j : j + length] * weights[j] for j in range(self.taps))
            results.append(y + weights[self.taps] if self.bias else y)
        return results


@isas
@pytest.mark.parametrize("taps", [1, 3, 9, 31])
def test_values(isa, taps):
    for lengths in ([1], [2, 3, 4, 5], [40, 8, 61]):
        case = Case(isa, lengths, taps=taps)
        for got, want in zip(case.run(), case.reference()):
            np.testing.assert_allclose(got, want, atol=2e-6 * taps**0.5, rtol=0)


@isas
@pytest.mark.parametrize("taps, low, bias", [(1, 0, True), (4, 3, True), (4, 0, False), (9, 4, True), (6, 2, False)])
def test_any_pads_and_a_bias(isa, taps, low, bias):
    for lengths in ([1], [2, 3, 4, 5], [40, 8, 61]):
        case = Case(isa, lengths, channels=70, taps=taps, low=low, bias=bias)
        for got, want in zip(case.run(), case.reference()):
            np.testing.assert_allclose(got, want, atol=2e-6 * (taps + bias) ** 0.5, rtol=0)


@isas
def test_columns_behind_the_width_may_hold_anything(isa):
    case = Case(isa, [11], channels=70)
    case.x[:, 70:] = np.nan
    case.weights[:, 70:] = 0
    np.testing.assert_allclose(case.run()[0], case.reference()[0], atol=6e-6)


@isas
@pytest.mark.parametrize("poison", [np.nan, np.inf])
def test_poison_stays_in_its_window(isa, poison):
    case = Case(isa, [12, 20, 9])
    clean = case.run()
    case.batch.sequences(case.x)[1][0, 5] = poison
    case.batch.sequences(case.x)[1][19, 6] = poison
    dirty = case.run()
    assert same([clean[0], clean[2]], [dirty[0], dirty[2]])
    broken = np.zeros((20, 96), bool)
    broken[:5, 5] = broken[15:, 6] = True
    assert (~np.isfinite(dirty[1]) == broken).all()


@isas
def test_no_copies_and_no_scalar_loops(isa):
    for bias in (False, True):
        buffers = kernel(isa, 9, 4, bias, 96).buffers
        assert "memref.copy" not in buffers and "linalg" not in buffers
        assert buffers.count("memref.alloc(") == 1
