"""Kernels of kind attention against NumPy in double precision."""

from functools import lru_cache

import numpy as np
import pytest

from kernel_harness import ISAS, supported
from row_kernels import PANEL, SCRATCH, Batch, compile_kernel, same

isas = pytest.mark.parametrize(
    "isa", [pytest.param(i, marks=pytest.mark.skipif(not supported(i), reason=f"no {i} here")) for i in ISAS]
)

LOWEST = np.finfo(np.float32).min


@lru_cache(maxsize=None)
def kernel(isa, pitch):
    return compile_kernel("attention", isa, NR=PANEL[isa], DP=pitch, NR_DP=PANEL[isa] * pitch)


class Case:
    """Inputs of one call: `heads` heads of `pitch` columns, sequences of `lengths` tokens."""

    def __init__(self, isa, lengths, heads=2, pitch=64, seed=0):
        self.isa, self.heads, self.pitch = isa, heads, pitch
        self.batch = Batch(lengths, seed)
        self.q, self.k, self.v = (self.batch.buffer(heads * pitch) for _ in range(3))
        self.q *= np.float32(pitch**-0.5)
        width = -(-max(lengths) // PANEL[isa]) * PANEL[isa]
        self.bias = np.full((len(lengths), width), -np.inf, np.float32)
        for row, length in zip(self.bias, lengths):
            row[:length] = 0

    def run(self):
        out = self.batch.buffer(self.heads * self.pitch, fill=False)
        kernel(self.isa, self.pitch)(self.q, self.k, self.v, self.bias, out, self.batch.shape, 1, SCRATCH)
        assert self.batch.untouched(out)
        return self.batch.sequences(out)

    def reference(self):
        results = []
        rows = zip(*(self.batch.sequences(b.astype(np.float64)) for b in (self.q, self.k, self.v)), self.bias)
        for q, k, v, bias in rows:
            parts = []
            for h in range(self.heads):
                c = slice(h * self.pitch, (h + 1) * self.pitch)
                # In single precision, finfo.min swallows the score.
                bias = bias[: len(k)]
                scores = np.where(bias == LOWEST, np.float64(LOWEST), q[:, c] @ k[:, c].T + bias)
                weights = np.exp(scores - scores.max(axis=1, keepdims=True))
                parts.append(weights @ v[:, c] / weights.sum(axis=1, keepdims=True))
            results.append(np.concatenate(parts, axis=1))
        return results

    def check(self, atol=3e-6):
        for got, want in zip(self.run(), self.reference()):
            np.testing.assert_allclose(got, want, atol=atol, rtol=0)


@isas
@pytest.mark.parametrize("pitch, heads", [(64, 6), (16, 1), (48, 3)])
def test_values(isa, pitch, heads):
    for lengths in ([1], [2, 7, 8, 9], [15, 16, 17, 31, 32, 33], [100, 128, 5]):
        Case(isa, lengths, heads, pitch).check()


@isas
def test_masked_keys(isa):
    case = Case(isa, [40, 19])
    case.bias[0, 30:40] = LOWEST
    case.bias[1, :5] = -np.inf
    case.check()


@isas
def test_all_keys_masked_is_uniform(isa):
    case = Case(isa, [21, 6])
    for row, length in zip(case.bias, [21, 6]):
        row[:length] = LOWEST
    case.check()
    for got, v in zip(case.run(), case.batch.sequences(case.v)):
        np.testing.assert_allclose(got, np.broadcast_to(v.mean(axis=0), got.shape), atol=1e-6)


@isas
def test_large_scores(isa):
    case = Case(isa, [33])
    case.q *= np.float32(1000)
    case.check(atol=1e-3)  # scores of some thousands are exact to 5e-4


@isas
@pytest.mark.parametrize("which", ["q", "k", "v"])
@pytest.mark.parametrize("poison", [np.nan, np.inf])
def test_poison_stays_in_its_sequence(isa, which, poison):
    case = Case(isa, [12, 20, 3])
    clean = case.run()
    case.batch.sequences(getattr(case, which))[1][7, 3] = poison
    dirty = case.run()
    assert same([clean[0], clean[2]], [dirty[0], dirty[2]])
    # The other head does not see it either; this one does, in the row (q), in all rows (k), in the column (v).
    assert same([clean[1][:, 64:]], [dirty[1][:, 64:]])
    broken = ~np.isfinite(dirty[1][:, :64])
    if which == "q":
        assert broken[7].all() and not np.delete(broken, 7, axis=0).any()
    elif which == "k":
        # q * inf is -inf for half of the rows: there, the key just has no weight.
        assert broken.all() if np.isnan(poison) else broken.any() and not np.isnan(clean[1]).any()
    else:
        assert broken[:, 3].all() and not np.delete(broken, 3, axis=1).any()


@isas
def test_a_row_does_not_depend_on_its_tile(isa):
    """Row t of a longer sequence equals row t of a shorter one if the further keys have no weight."""
    long, short = Case(isa, [45]), Case(isa, [32])
    for name in ("q", "k", "v"):
        short.batch.sequences(getattr(short, name))[0][:] = long.batch.sequences(getattr(long, name))[0][:32]
    long.bias[0, 32:] = -np.inf
    assert same([long.run()[0][:32].copy()], [short.run()[0].copy()])


@isas
def test_no_copies_and_no_scalar_loops(isa):
    buffers = kernel(isa, 64).buffers
    assert "memref.copy" not in buffers and "linalg" not in buffers
    body = buffers[buffers.index("scf.forall") :]
    assert "memref<8x?" not in "".join(line for line in body.split("\n") if "memref.alloc" in line)
    assert "memref.load" not in body.split("vector.transfer_read", 1)[1]
