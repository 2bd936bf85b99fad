"""Convolutions and gates beside PyTorch in float64, where there is PyTorch: any sizes, both libraries' layouts."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from convbert import ops
from test_ops import normal, weight

torch = pytest.importorskip("torch")

examples = settings(max_examples=20, deadline=None, database=None, suppress_health_check=list(HealthCheck))
#: Batch, length, taps, stride, dilation, zeros on both sides: PyTorch has as many before as behind.
SIZES = (st.integers(1, 3), st.integers(1, 40), st.integers(1, 31), st.integers(1, 4), st.integers(1, 4), st.integers(0, 40))


def check(found, want):
    want = want.numpy()
    assert found.shape == want.shape
    np.testing.assert_allclose(found, want, rtol=0, atol=4e-6 * max(1, np.abs(want).max()))


def double(array):
    return torch.from_numpy(array).double()


def fits(length, taps, stride, dilation, zeros):
    assume(length + 2 * zeros > (taps - 1) * dilation)
    return dict(stride=stride, padding=zeros, dilation=dilation)


@examples
@given(*SIZES, st.integers(1, 4), st.integers(1, 9), st.integers(1, 9), st.booleans())
def test_conv1d(batch, length, taps, stride, dilation, zeros, groups, width, out, biased):
    options = fits(length, taps, stride, dilation, zeros)
    x, w = normal(batch, groups * width, length), weight(groups * out, width, taps) / np.float32(np.sqrt(width))
    b = weight(groups * out) if biased else None
    want = torch.nn.functional.conv1d(double(x), double(w), double(b) if biased else None, groups=groups, **options)
    found = ops.conv1d(x, w, b, padding=(zeros, zeros), stride=stride, dilation=dilation, groups=groups, layout="torch",
                       axes="bct")
    check(found, want)


@examples
@given(*SIZES, st.integers(1, 40), st.integers(1, 3))
def test_depthwise(batch, length, taps, stride, dilation, zeros, channels, filters):
    options = fits(length, taps, stride, dilation, zeros)
    x, w, b = normal(batch, channels, length), weight(channels * filters, 1, taps), weight(channels * filters)
    want = torch.nn.functional.conv1d(double(x), double(w), double(b), groups=channels, **options)
    check(ops.depthwise_conv1d(x, w, b, padding=(zeros, zeros), stride=stride, dilation=dilation, layout="torch",
                               axes="bct"), want)


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")
@examples
@given(st.integers(1, 40), st.integers(1, 31), st.integers(1, 4), st.integers(1, 9))
def test_same_is_the_same(length, taps, dilation, channels):
    """Also for an even number of taps."""
    x, w = normal(2, channels, length), weight(5, channels, taps) / np.float32(np.sqrt(channels))
    want = torch.nn.functional.conv1d(double(x), double(w), padding="same", dilation=dilation)
    check(ops.conv1d(x, w, dilation=dilation, axes="bct"), want)


@examples
@given(st.integers(1, 40), st.integers(1, 31), st.integers(1, 4), st.integers(1, 20), st.integers(1, 20))
def test_separable(length, taps, dilation, channels, out):
    x, wd, wp, b = normal(2, channels, length), weight(channels, 1, taps), weight(out, channels, 1), weight(out)
    wp = wp / np.float32(np.sqrt(channels))
    y = torch.nn.functional.conv1d(double(x), double(wd), padding="same", dilation=dilation, groups=channels)
    want = torch.nn.functional.conv1d(y, double(wp), double(b))
    check(ops.separable_conv1d(x, wd, wp, b, dilation=dilation, layout="torch", axes="bct"), want)


@examples
@given(st.integers(1, 3), st.integers(1, 40), st.integers(1, 31), st.integers(0, 30), st.integers(1, 9), st.integers(1, 9))
def test_light_and_dynamic_conv(batch, length, taps, low, heads, size):
    """As fairseq computes them: windows by unfold, a softmax of taps, a batch of matrix products."""
    low, channels = min(low, taps - 1), heads * size
    x, light, generator = normal(batch, length, channels), normal(heads, 1, taps), weight(heads * taps, channels)
    padded = torch.nn.functional.pad(double(x), (0, 0, low, taps - 1 - low))
    windows = padded.unfold(1, taps, 1).reshape(batch, length, heads, size, taps)
    options = dict(padding=(low, taps - 1 - low))
    kernels = torch.softmax(double(light)[:, 0], -1)
    want = torch.einsum("bthrk,hk->bthr", windows, kernels).reshape(batch, length, channels)
    check(ops.light_conv(x, light, **options), want)
    kernels = torch.softmax((double(x) @ double(generator).T).reshape(batch, length, heads, taps), -1)
    want = torch.einsum("bthrk,bthk->bthr", windows, kernels).reshape(batch, length, channels)
    check(ops.dynamic_conv(x, generator, heads=heads, **options), want)


@examples
@given(st.integers(1, 3), st.integers(1, 40), st.integers(1, 40), st.integers(1, 9))
def test_batch_norm_and_gate(batch, length, channels, hidden):
    x, (mean, gamma, beta) = normal(batch, channels, length), (weight(channels, seed=seed) for seed in range(3))
    variance = np.abs(weight(channels, seed=3)) + np.float32(0.1)
    want = torch.nn.functional.batch_norm(double(x), double(mean), double(variance), double(gamma), double(beta))
    check(ops.batch_norm(x, mean, variance, gamma, beta, axes="bct"), want)
    w1, w2, b1, b2 = weight(hidden, channels, 1), weight(channels, hidden, 1), weight(hidden), weight(channels)
    y = torch.nn.functional.conv1d(double(x).mean(-1, keepdim=True), double(w1), double(b1)).relu()
    want = double(x) * torch.nn.functional.conv1d(y, double(w2), double(b2)).sigmoid()
    check(ops.squeeze_excite(x, w1, w2, b1, b2, axes="bct"), want)
