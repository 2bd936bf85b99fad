"""What the operator family refuses on arrays: one line that names the argument and both numbers."""

import numpy as np
import pytest

from convbert import ops
from test_ops import B, C, MASK, T, X, normal, weight

SPAN = (X, X, X, weight(9, C))
NORMS = [weight(C) for _ in range(3)]
GATE = (weight(3, C), weight(C, 3))


def mix(**changed):
    named = {"f1": weight(3, C), "f2": weight(4, 3), "kernels": weight(4, 10, C, 3)} | changed
    return ops.kernel_attention_conv(X, **named)


@pytest.mark.parametrize("call, message", [
    # Windows: whole numbers, zeros that keep tokens, enough tokens.
    (lambda: ops.light_conv(X, weight(3, 3), dilation=2.5), "dilation: requires a whole number, but found 2.5"),
    (lambda: ops.conv1d(X, weight(4, C, 3), stride=True), "stride: requires a whole number, but found True"),
    (lambda: ops.conv1d(X, weight(4, 4, 3), groups="3"), "groups: requires a whole number, but found '3'"),
    (lambda: ops.dynamic_conv(X, weight(9, C), heads=3.0), "heads: requires a whole number, but found 3.0"),
    (lambda: ops.light_conv(X, weight(3, 3), padding=("1", "1")),
     "padding: requires same, causal, valid or a pair of numbers, but found ('1', '1')"),
    (lambda: ops.light_conv(X, weight(3, 3), padding=(0.5, 1.5)),
     "padding: requires same, causal, valid or a pair of numbers, but found (0.5, 1.5)"),
    (lambda: ops.light_conv(X, weight(3, 3), padding="valid"),
     "light_conv: requires pads that keep the number of tokens (low + high = 2), but found [0, 0]"),
    (lambda: ops.light_conv(X, weight(3, 3), padding=(-1, 3)),
     "light_conv: requires pads that are not negative, but found [-1, 3]"),
    (lambda: ops.light_conv(X, weight(3, 3), dilation=0), "light_conv: requires a positive dilation, but found 0"),
    (lambda: ops.depthwise_conv1d(X, weight(C, 3), stride=0, padding=(1, 1)),
     "depthwise_conv1d: requires a positive stride, but found 0"),
    (lambda: ops.depthwise_conv1d(X, weight(C, 9), padding="valid"),
     "depthwise_conv1d: requires inputs of at least 9 tokens, but found 7"),
    (lambda: ops.conv1d(X, weight(4, C, 3), padding=(0, 1), stride=4, dilation=5),
     "conv1d: requires inputs of at least 10 tokens, but found 7"),
    (lambda: ops.light_conv(X, weight(3, 3), edge="renorm", dilation=2, padding=(1, 3)),
     "light_conv: requires a low pad that is a multiple of the dilation, 2, for `edge = renorm`, but found 1"),
    (lambda: ops.light_conv(X, weight(3, 3), edge="renorm", normalize="none"),
     "light_conv: requires `normalize = softmax` for `edge = renorm`, but found `none`"),
    (lambda: ops.light_conv(X, weight(3, 3), edge="reflect"), "edge: requires one of zero, renorm, but found 'reflect'"),
    (lambda: ops.light_conv(X, weight(3, 3), head_map="h"),
     "head_map: requires one of blocked, interleaved, but found 'h'"),
    # Heads and groups.
    (lambda: ops.light_conv(X, weight(5, 3)),
     "light_conv: requires the channels of `x` to be a multiple of the 5 heads, but found 12"),
    (lambda: ops.dynamic_conv(X, weight(15, C), heads=5),
     "dynamic_conv: requires the channels of `x` to be a multiple of the 5 heads, but found 12"),
    (lambda: ops.dynamic_conv(X, weight(14, C), heads=3),
     "weight: requires a multiple of 3 heads of output features, but found 14"),
    (lambda: ops.dynamic_conv(X, weight(9, C), heads=0), "heads: requires at least 1, but found 0"),
    (lambda: ops.apply_kernel(X, normal(B, T, 5, 3)),
     "apply_kernel: requires the features of `v` to be a multiple of the 5 heads, but found 12"),
    (lambda: ops.span_dynamic_conv(*SPAN[:3], weight(15, C), heads=5),
     "span_dynamic_conv: requires the features of `v` to be a multiple of the 5 heads, but found 12"),
    (lambda: ops.conv1d(X, weight(10, 2, 3), groups=5),
     "conv1d: requires the features of `x` to be a multiple of the 5 groups, but found 12"),
    (lambda: ops.conv1d(X, weight(7, 3, 3), groups=4),
     "conv1d: requires the output features of `weight` to be a multiple of the 4 groups, but found 7"),
    (lambda: ops.grouped_dense(X, weight(5, 2, 3)),
     "grouped_dense: requires groups x input features of `weight` to be 12, but found 10"),
    # Shapes of operands.
    (lambda: ops.light_conv(X, weight(3)), "weight: requires rank 2, or more with axes of 1, but found [3]"),
    (lambda: ops.conv1d(X, weight(4, C)), "weight: requires rank 3, or more with axes of 1, but found [4, 12]"),
    (lambda: ops.separable_conv1d(X, weight(C, 2, 3), weight(5, C)),
     "depthwise: requires rank 2, or more with axes of 1, but found [12, 2, 3]"),
    (lambda: ops.separable_conv1d(X, weight(C, 3), weight(5)),
     "pointwise: requires rank 2, or more with axes of 1, but found [5]"),
    (lambda: ops.separable_conv1d(X, weight(C, 3), weight(5, 11)),
     "separable_conv1d: requires the input features of `pointwise` to be 12, but found 11"),
    (lambda: ops.conv1d(X, weight(7, 11, 3)), "conv1d: requires the input features of `weight` to be 12, but found 11"),
    (lambda: ops.light_conv(X, weight(3, 3), weight(5)), "light_conv: requires the size of `bias` to be 12, but found 5"),
    (lambda: ops.apply_kernel(X, normal(B, T, 9)),
     "taps: requires rank 4 [batch, tokens, heads, taps], but found rank 3 with shape [B, T, 9]"),
    (lambda: ops.apply_kernel(X, normal(B, 6, 3, 3)), "taps: requires the shape [2, 7, 3, 3], but found [2, 6, 3, 3]"),
    (lambda: ops.dynamic_conv(X, weight(9, 5), None, normal(B, 6, 5), heads=3),
     "query: requires the shape [2, 7, 5], but found [2, 6, 5]"),
    (lambda: ops.span_dynamic_conv(*SPAN, None, MASK[:, :6], heads=3), "mask: requires the shape [2, 7], but found [2, 6]"),
    (lambda: ops.batch_norm(X, *NORMS, weight(11)), "batch_norm: requires the size of `beta` to be 12, but found 11"),
    # Gates, and attention over kernels.
    (lambda: ops.squeeze_excite(X, *GATE, gate="softmax"),
     "gate: requires one of sigmoid, hard_sigmoid, but found 'softmax'"),
    (lambda: ops.squeeze_excite(X, weight(3), GATE[1]), "w1: requires rank 2, or more with axes of 1, but found [3]"),
    (lambda: ops.squeeze_excite(X, GATE[0], weight(11, 3)),
     "squeeze_excite: requires the output features of `w2` to be 12, but found 11"),
    (lambda: ops.selective_kernel([X, X + 1, X], weight(5, C), weight(2, 5, C)),
     "selective_kernel: requires the branches of `a` to be 3, but found 2"),
    (lambda: ops.selective_kernel([X, X[:, :3]], weight(5, C), weight(2, 5, C)),
     "branches1: requires the shape [2, 7, 12], but found [2, 3, 12]"),
    (lambda: ops.selective_kernel([X], weight(5), weight(1, 5, C)),
     "wz: requires rank 2, or more with axes of 1, but found [5]"),
    (lambda: ops.selective_kernel([], weight(5, C), weight(1, 5, C)),
     "branches: requires a list of arrays, but found []"),
    (lambda: mix(f1=weight(3)), "f1: requires rank 2, or more with axes of 1, but found [3]"),
    (lambda: mix(f2=weight(0, 3), kernels=np.zeros((0, 10, C, 3))), "f2: requires no empty axis, but found [0, 3]"),
])
def test_what_is_refused(call, message):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value) == message


def test_numbers_of_numpy():
    """Whole numbers of any type are options, and axes of 1 of a convolution are none of a dense layer."""
    w, two = weight(3, 3), np.int64(2)
    np.testing.assert_array_equal(ops.light_conv(X, w, padding=np.array([4, 0]), dilation=two),
                                  ops.light_conv(X, w, padding=(4, 0), dilation=2))
    np.testing.assert_array_equal(ops.squeeze_excite(X, *(matrix[..., None] for matrix in GATE)),
                                  ops.squeeze_excite(X, *GATE))


@pytest.mark.parametrize("layout", ["torch", "keras"])
@pytest.mark.parametrize("channels, taps, out", [(1, 3, 4), (5, 1, 4), (5, 3, 1), (1, 1, 1), (5, 1, 1)])
def test_extents_of_1_beside_axes_of_1(layout, channels, taps, out):
    """PyTorch's [C, 1, K] and [out, in, 1], Keras' [K, C, 1] and [1, in, out]: only the axis that files have goes."""
    x, wd, wp = normal(B, T, channels), weight(channels, taps), weight(out, channels)
    want = ops.separable_conv1d(x, wd, wp)
    stored = (wd[:, None], wp[..., None]) if layout == "torch" else (wd.T[..., None], wp.T[None])
    np.testing.assert_array_equal(ops.separable_conv1d(x, *stored, layout=layout), want)
    np.testing.assert_array_equal(ops.dense(x, stored[1], layout=layout), ops.dense(x, wp))
    w1, w2 = weight(out, channels), weight(channels, out)
    stored = (w1[..., None], w2[..., None]) if layout == "torch" else (w1.T[None], w2.T[None])
    np.testing.assert_array_equal(ops.squeeze_excite(x, *stored, layout=layout), ops.squeeze_excite(x, w1, w2))
