"""convbert.ops.Prepared: operations that keep their weights packed."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from convbert import ops
from test_ops import B, C, MASK, T, X, normal, weight


def test_the_same_as_the_operation():
    w, b, m = weight(20, C), weight(20), normal(B, T, 20, seed=1)
    for layer in (ops.Prepared(ops.dense, weight=w, bias=b, activation="gelu"),
                  ops.Prepared("dense", weight=w.tolist(), bias=b, activation="gelu", threads=1)):
        np.testing.assert_array_equal(layer(X), ops.dense(X, w, b, activation="gelu"))
        np.testing.assert_array_equal(layer(X, m), ops.dense(X, w, b, m, activation="gelu"))
        np.testing.assert_array_equal(layer(multiplier=m, x=X), layer(X, m))
        np.testing.assert_array_equal(layer(X[:, 0]), ops.dense(X[:, 0], w, b, activation="gelu"))
    assert repr(layer) == "<dense(x, multiplier) with weight, bias, activation>"


def test_orders_of_axes_masks_lists_and_pairs_of_results():
    w1, w2 = weight(3, C), weight(C, 3)
    gate = ops.Prepared(ops.squeeze_excite, axes="tbc", w1=w1, w2=w2, b1=None)
    x = X.transpose(1, 0, 2)
    np.testing.assert_array_equal(gate(x, mask=MASK.T), ops.squeeze_excite(x, w1, w2, mask=MASK.T, axes="tbc"))
    wz, a = weight(5, C), weight(2, 5, C)
    np.testing.assert_array_equal(ops.Prepared(ops.selective_kernel, wz=wz, a=a)([X, 2 * X]),
                                  ops.selective_kernel([X, 2 * X], wz, a))
    for got, want in zip(ops.Prepared(ops.self_attention, heads=3, with_probabilities=True)(X, X, X),
                         ops.self_attention(X, X, X, heads=3, with_probabilities=True)):
        np.testing.assert_array_equal(got, want)


def test_packs_once(monkeypatch):
    w = weight(19, C)
    ops.dense(X, w)  # its code is known
    layer = ops.Prepared(ops.dense, weight=w)
    made, original = [], ops.Function.with_parameters
    monkeypatch.setattr(ops.Function, "with_parameters", lambda self, p: (made.append(p), original(self, p))[1])
    want = layer(X)
    w *= 2
    for length in (3, 7):
        np.testing.assert_array_equal(layer(X[:, :length]), want[:, :length])
    assert len(made) == 1
    layer(X, normal(B, T, 19))
    assert len(made) == 1  # other operands are other code, which packs as it is loaded
    np.testing.assert_array_equal(layer(X), want)


def test_many_threads():
    layer = ops.Prepared(ops.dense, weight=weight(30, C), threads=1)
    want = layer(X)
    with ThreadPoolExecutor(8) as pool:
        for got in pool.map(layer, [X] * 64):
            np.testing.assert_array_equal(got, want)


W = weight(5, C)


@pytest.mark.parametrize("call, error, message", [
    (lambda: ops.Prepared(ops.dense, weight=W, x=X), ValueError,
     "x: requires weights and options of dense alone, but found an operand of its calls"),
    (lambda: ops.Prepared(np.add, weight=W), ValueError, "operation: requires one of convbert.ops, but found <ufunc 'add'>"),
    (lambda: ops.Prepared(ops.dense, weights=W), TypeError, "dense() got an unexpected keyword argument 'weights'"),
    (lambda: ops.Prepared(ops.dense, weight="w"), ValueError, "weight: requires numbers, but found <U1"),
    (lambda: ops.Prepared(ops.dense, weight=W, axes="cbt"), ValueError, "axes: requires one of btc, tbc, bct, but found 'cbt'"),
    (lambda: ops.Prepared(ops.dense, weight=W)(), TypeError, "dense() missing a required argument: 'x'"),
    (lambda: ops.Prepared(ops.dense)(X), TypeError, "dense() missing a required argument: 'weight'"),
    (lambda: ops.Prepared(ops.dense, weight=W)(X, X, X), TypeError, "dense() takes 2 operands (x, multiplier), but found 3"),
    (lambda: ops.Prepared(ops.dense, weight=W)(X, x=X), TypeError, "dense() argument 'x' is given twice"),
    (lambda: ops.Prepared(ops.dense, weight=W)(X, bias=X), TypeError,
     "dense() argument 'bias' is none of the operands x, multiplier"),
    (lambda: ops.Prepared(ops.dense, weight=W)(X[..., :3]), ValueError,
     "dense: requires the input features of `weight` to be 3, but found 12"),
])
def test_wrong_uses(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message
