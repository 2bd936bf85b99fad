"""Kernels of kind span against NumPy in double precision."""

from functools import lru_cache

import numpy as np
import pytest

from kernel_harness import ISAS, supported
from row_kernels import SCRATCH, Batch, compile_kernel, same

isas = pytest.mark.parametrize(
    "isa", [pytest.param(i, marks=pytest.mark.skipif(not supported(i), reason=f"no {i} here")) for i in ISAS]
)


def rounded(heads):
    return -(-heads // 8) * 8


@lru_cache(maxsize=None)
def kernel(isa, taps, heads, pitch):
    return compile_kernel("span", isa, K=taps, HALO=taps // 2, IN=taps + 3, H=heads, HP=rounded(heads), DP=pitch,
                          W=heads * pitch, KHP=taps * rounded(heads))


class Case:
    def __init__(self, isa, lengths, taps=9, heads=6, pitch=64):
        self.isa, self.taps, self.heads, self.pitch = isa, taps, heads, pitch
        self.batch = Batch(lengths)
        self.logits = self.batch.buffer(taps * rounded(heads))
        self.v = self.batch.buffer(heads * pitch)

    def run(self):
        out = self.batch.buffer(self.heads * self.pitch, fill=False)
        kernel(self.isa, self.taps, self.heads, self.pitch)(self.logits, self.v, out, self.batch.shape, 1, SCRATCH)
        assert self.batch.untouched(out)
        return self.batch.sequences(out)

    def reference(self):
        halo, results = self.taps // 2, []
        pairs = zip(*(self.batch.sequences(b.astype(np.float64)) for b in (self.logits, self.v)))
        for logits, v in pairs:
            length = len(v)
            logits = logits.reshape(length, self.taps, -1)[:, :, : self.heads]
            weights = np.exp(logits - logits.max(axis=1, keepdims=True))
            weights /= weights.sum(axis=1, keepdims=True)
            v = np.pad(v, ((halo, halo), (0, 0))).reshape(length + 2 * halo, self.heads, self.pitch)
            y = sum(weights[:, j, :, None] * v[j : j + length] for j in range(self.taps))
            results.append(y.reshape(length, -1))
        return results

    def check(self):
        for got, want in zip(self.run(), self.reference()):
            np.testing.assert_allclose(got, want, atol=2e-6, rtol=0)


@isas
@pytest.mark.parametrize("taps, heads, pitch", [(9, 6, 64), (1, 2, 16), (7, 9, 48), (31, 1, 32), (5, 8, 32),
                                                 (3, 16, 16)])
def test_values(isa, taps, heads, pitch):
    for lengths in ([1], [2, 3, 4, 5, 12], [31, 32, 33, 34, 35, 36, 37], [100, 64]):
        Case(isa, lengths, taps, heads, pitch).check()


@isas
def test_surplus_heads_are_ignored(isa):
    case = Case(isa, [9, 17])
    for tap in range(9):
        case.logits[:, tap * 8 + 6 : tap * 8 + 8] = np.nan
    case.check()


@isas
def test_large_logits(isa):
    case = Case(isa, [20])
    case.logits *= np.float32(50)
    case.check()


@isas
@pytest.mark.parametrize("poison", [np.nan, np.inf])
def test_poison_stays_in_its_window(isa, poison):
    case = Case(isa, [12, 20, 9])
    clean = case.run()
    case.batch.sequences(case.v)[1][0, 5] = poison
    case.batch.sequences(case.v)[1][19, 70] = poison
    dirty = case.run()
    assert same([clean[0], clean[2]], [dirty[0], dirty[2]])
    broken = np.zeros((20, 6 * 64), bool)
    broken[:5, 5] = broken[15:, 70] = True
    assert (~np.isfinite(dirty[1]) == broken).all()


@isas
def test_poisoned_logit_stays_in_its_token_and_head(isa):
    case = Case(isa, [12, 20])
    case.batch.sequences(case.logits)[1][7, 3 * 8 + 2] = np.nan
    broken = np.zeros((20, 6, 64), bool)
    broken[7, 2] = True
    clean, dirty = case.run()
    assert np.isfinite(clean).all()
    assert (np.isnan(dirty).reshape(20, 6, 64) == broken).all()


@isas
def test_no_copies_and_no_scalar_loops(isa):
    buffers = kernel(isa, 9, 6, 64).buffers
    assert "memref.copy" not in buffers and "linalg" not in buffers
