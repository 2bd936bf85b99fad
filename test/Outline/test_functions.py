"""What functions of users need and checkpoints do not: sums and products by themselves, any padding, attention without
mask or with a scale of its own."""

import numpy as np
import pytest

from convbert import reference, reference_ops as oracle
from module_harness import D, check, dense, isas, random_array, tensor, tokens, wide


@isas
@pytest.mark.parametrize("operation, expected", [("addf", np.add), ("mulf", np.multiply), ("subf", np.subtract)])
def test_elementwise(isa, operation, expected):
    """Of the input and of a value that has other users, so that nothing fuses."""
    w = random_array(D, D)
    body = dense("%h", "%x", ("w", w), None, tokens(D))
    body += (f"  %y = arith.{operation} %h, %x : {tokens(D)}\n  %z = arith.{operation} %y, %h : {tokens(D)}\n"
             f"  return %y, %z, %h : {tokens(D)}, {tokens(D)}, {tokens(D)}")

    def values(x, mask, p):
        h = x @ p["w"].T
        y = expected(h, x)
        return [y, expected(y, h), h]

    check(isa, D, body, {"w": w}, [("tokens", D)] * 3, values)


@isas
def test_elementwise_on_sequences_and_on_parts(isa):
    x, row = tokens(D), tensor("?", 5)
    w = random_array(5, D)
    body = (f"  %first = convbert.pool %x {{kind = #convbert.pool<first>}} : ({x}) -> {tensor('?', D)}\n"
            f"  %r = convbert.dense %first, %w : ({tensor('?', D)}, {tensor(5, D)}) -> {row}\n"
            f"  %s = convbert.activation %r {{kind = #convbert.activation<tanh>}} : {row}\n"
            f"  %u = arith.addf %s, %s : {row}\n"
            "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
            f"  %B = tensor.dim %x, %c0 : {x}\n  %T = tensor.dim %x, %c1 : {x}\n"
            f"  %a = tensor.extract_slice %x[0, 0, 3] [%B, %T, 7] [1, 1, 1] : {x} to {tokens(7)}\n"
            f"  %b = tensor.extract_slice %x[0, 0, 20] [%B, %T, 7] [1, 1, 1] : {x} to {tokens(7)}\n"
            f"  %y = arith.mulf %a, %b : {tokens(7)}\n"
            f"  return %u, %y : {row}, {tokens(7)}")
    check(isa, D, body, {"w": w}, [("sequences", 5), ("tokens", 7)],
          lambda x, mask, p: [2 * np.tanh(x[0] @ p["w"].T), x[:, 3:10] * x[:, 20:27]])


@isas
@pytest.mark.parametrize("taps, low", [(3, 2), (3, 0), (4, 1), (4, 3), (2, 0), (9, 6)])
def test_depthwise_with_any_pads(isa, taps, low):
    w = random_array(D, taps)
    body = (f"  %y = convbert.depthwise_conv1d %x, %w {{pads = array<i64: {low}, {taps - 1 - low}>}}"
            f" : ({tokens(D)}, {tensor(D, taps)}) -> {tokens(D)}\n  return %y : {tokens(D)}")
    check(isa, D, body, {"w": w}, [("tokens", D)],
          lambda x, mask, p: [sum(reference.shift(x[None], j - low)[0] * wide(w)[:, j] for j in range(taps))])


@isas
@pytest.mark.parametrize("taps, low", [(3, 2), (4, 1), (5, 0)])
def test_dynamic_convolution_with_any_pads(isa, taps, low):
    heads, size = 3, 5
    width = heads * size
    w, v = random_array(heads * taps, width), random_array(width, width)
    taps_type = tensor("?", "?", heads, taps)
    body = dense("%values", "%x", ("v", v), None, tokens(width))
    body += (f"  %t = convbert.dynamic_kernel %x, %w {{heads = {heads} : i64, normalize = #convbert.norm<softmax>}} : "
             f"({tokens(width)}, {tensor(heads * taps, width)}) -> {taps_type}\n"
             f"  %y = convbert.apply_kernel %values, %t {{pads = array<i64: {low}, {taps - 1 - low}>, normalize = "
             f"#convbert.norm<none>}} : ({tokens(width)}, {taps_type}) -> {tokens(width)}\n  return %y : {tokens(width)}")

    def expected(x, mask, p):
        kernel = oracle.dynamic_kernel(x[None], p["w"], heads=heads)
        return [oracle.apply_kernel((x @ p["v"].T)[None], kernel, pads=(low, taps - 1 - low))[0]]

    check(isa, width, body, {"w": w, "v": v}, [("tokens", width)], expected)


@isas
@pytest.mark.parametrize("masked", [False, True])
def test_attention_on_what_has_no_weights(isa, masked):
    """No mask: a bias of zeros is made.  A key that is no dense layer: the scale is the kernel's."""
    heads, size = 2, 16
    width, x = heads * size, tokens(heads * size)
    bias = "bias(%bias) " if masked else ""
    body = ""
    for result, source in (("%y", "%x"), ("%z", "%y")):
        body += (f"  {result} = convbert.self_attention %x, {source}, %x {bias}{{heads = 2 : i64, scale = 0.3 : f64}} : "
                 f"({x}, {x}, {x}{', tensor<?x?xf32>' if masked else ''}) -> {x}\n")
    body += f"  return %y, %z : {x}, {x}"

    def expected(x, mask, p):
        attend = lambda k: oracle.self_attention(  # noqa: E731
            x[None], k[None], x[None], oracle.attention_bias(mask[None], np.float64) if masked else None, heads=heads,
            scale=0.3)[0]
        y = attend(x)
        return [y, attend(y)]

    check(isa, width, body, {}, [("tokens", width)] * 2, expected)
