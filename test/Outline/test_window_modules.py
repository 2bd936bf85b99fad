"""Convolutions and norms of the operator family through all phases, against the oracles in float64.

They become kernels that are there: a norm is a convolution of one tap or nothing at all.
"""

import numpy as np
import pytest

from convbert import reference_ops as ops
from module_harness import D, check, dense, isas, random_array, tensor, tokens

NORM = ("centre", "variance", "factor", "shift")  # gamma and beta are those of the embeddings


def norm_parameters(width):
    return {name: random_array(width, seed=i) for i, name in enumerate(NORM)} | {
        "variance": np.abs(random_array(width, seed=9)) + np.float32(0.1)}


def norm(result, x, width):
    return (f"  {result} = convbert.batch_norm {x}, %centre, %variance, %factor, %shift {{eps = 1.0e-3 : f64}}"
            f" : ({tokens(width)}, {', '.join([tensor(width)] * 4)}) -> {tokens(width)}\n")


def normed(x, p):
    return ops.batch_norm(x, *(p[name] for name in NORM), eps=1e-3)


@isas
@pytest.mark.parametrize("taps, low, biased, layout", [
    (1, 0, True, "out_in"), (4, 3, True, "in_out"), (5, 0, False, "out_in"), (8, 2, True, "out_in")])
def test_depthwise(isa, taps, low, biased, layout):
    w = random_array(*((D, taps) if layout == "out_in" else (taps, D)))
    parameters = {"w": w, "b": random_array(D)} if biased else {"w": w}
    body = (f"  %y = convbert.depthwise_conv1d %x, %w{', %b' * biased} {{pads = array<i64: {low}, {taps - 1 - low}>, "
            f"layout = #convbert.layout<{layout}>}} : ({tokens(D)}, {tensor(*w.shape)}{', ' + tensor(D) if biased else ''})"
            f" -> {tokens(D)}\n  return %y : {tokens(D)}")
    check(isa, D, body, parameters, [("tokens", D)],
          lambda x, mask, p: [ops.depthwise_conv1d(x[None], p["w"], p.get("b"), (low, taps - 1 - low), layout=layout)[0]])


@isas
def test_a_norm_alone(isa):
    body = norm("%y", "%x", D) + f"  return %y : {tokens(D)}"
    check(isa, D, body, norm_parameters(D), [("tokens", D)], lambda x, mask, p: [normed(x, p)])


@isas
@pytest.mark.parametrize("biased", [True, False])
def test_a_norm_behind_a_layer(isa, biased):
    w, b = random_array(29, D), random_array(29)
    body = dense("%h", "%x", ("w", w), ("b", b) if biased else None, tokens(D)) + norm("%y", "%h", 29)
    parameters = norm_parameters(29) | ({"w": w, "b": b} if biased else {"w": w})
    check(isa, D, body + f"  return %y : {tokens(29)}", parameters, [("tokens", 29)],
          lambda x, mask, p: [normed(ops.dense(x, p["w"], p.get("b")), p)])


@isas
def test_a_separable_convolution_with_norm_and_activation(isa):
    """A block of Xception's kind, dilation apart."""
    parameters = norm_parameters(D) | {"wd": random_array(D, 3), "wp": random_array(D, D), "b": random_array(D)}
    body = (f"  %h = convbert.separable_conv1d %x, %wd, %wp, %b {{pads = array<i64: 2, 0>}}"
            f" : ({tokens(D)}, {tensor(D, 3)}, {tensor(D, D)}, {tensor(D)}) -> {tokens(D)}\n")
    body += norm("%n", "%h", D)
    body += f"  %y = convbert.activation %n {{kind = #convbert.activation<relu>}} : {tokens(D)}\n"

    def expected(x, mask, p):
        h = ops.separable_conv1d(x[None], p["wd"], p["wp"], p["b"], (2, 0))[0]
        return [np.maximum(normed(h, p), 0)]

    check(isa, D, body + f"  return %y : {tokens(D)}", parameters, [("tokens", D)], expected)


@isas
@pytest.mark.parametrize("sizes, low, biased, layout", [
    # width, out, taps, groups
    ((D, 29, 3, 1), 1, True, "out_in"), ((D, 50, 4, 1), 3, False, "in_out"), ((30, 21, 9, 3), 4, True, "out_in"),
    ((24, 100, 2, 2), 0, True, "in_out"), ((48, 8, 31, 1), 15, False, "out_in"), ((64, 13, 33, 1), 0, True, "out_in"),
    ((128, 192, 3, 64), 1, True, "in_out")])
def test_convolution(isa, sizes, low, biased, layout):
    width, out, taps, groups = sizes
    shape = (out, width // groups, taps) if layout == "out_in" else (taps, width // groups, out)
    # Sums of up to 1488 products stay near 1, and rounding errors with them.
    w = random_array(*shape) / np.float32(np.sqrt(taps * width // groups))
    parameters = {"w": w, "b": random_array(out)} if biased else {"w": w}
    body = (f"  %y = convbert.conv1d %x, %w{', %b' * biased} {{pads = array<i64: {low}, {taps - 1 - low}>, "
            f"groups = {groups} : i64, layout = #convbert.layout<{layout}>}} : ({tokens(width)}, {tensor(*shape)}"
            f"{', ' + tensor(out) if biased else ''}) -> {tokens(out)}\n  return %y : {tokens(out)}")
    check(isa, width, body, parameters, [("tokens", out)],
          lambda x, mask, p: [ops.conv1d(x[None], p["w"], p.get("b"), (low, taps - 1 - low), groups=groups,
                                         layout=layout)[0]])


@isas
def test_convolutions_between_other_layers(isa):
    """Padded rows are temporaries: what stands beside them in the workspace stays as it is."""
    parameters = norm_parameters(40) | {"w": random_array(40, D, 3), "v": random_array(D, 40, 5), "b": random_array(D),
                                        "wd": random_array(D, D)}
    body = (f"  %g = convbert.dense %x, %wd : ({tokens(D)}, {tensor(D, D)}) -> {tokens(D)}\n"
            f"  %h = convbert.conv1d %x, %w {{pads = array<i64: 1, 1>}} : ({tokens(D)}, {tensor(40, D, 3)})"
            f" -> {tokens(40)}\n" + norm("%n", "%h", 40) +
            f"  %a = convbert.activation %n {{kind = #convbert.activation<relu>}} : {tokens(40)}\n"
            f"  %y = convbert.conv1d %a, %v, %b {{pads = array<i64: 4, 0>}} : ({tokens(40)}, {tensor(D, 40, 5)}, "
            f"{tensor(D)}) -> {tokens(D)}\n  return %y, %g : {tokens(D)}, {tokens(D)}")

    def expected(x, mask, p):
        a = np.maximum(normed(ops.conv1d(x[None], p["w"], pads=(1, 1)), p), 0)
        return [ops.conv1d(a, p["v"], p["b"], (4, 0))[0], x @ p["wd"].T]

    check(isa, D, body, parameters, [("tokens", D)] * 2, expected)


@isas
def test_a_convolution_of_one_tap(isa):
    w, b = random_array(13, D, 1), random_array(13)
    body = (f"  %y = convbert.conv1d %x, %w, %b {{pads = array<i64: 0, 0>}} : ({tokens(D)}, {tensor(13, D, 1)}, "
            f"{tensor(13)}) -> {tokens(13)}\n  return %y : {tokens(13)}")
    check(isa, D, body, {"w": w, "b": b}, [("tokens", 13)], lambda x, mask, p: [ops.conv1d(x[None], p["w"], p["b"])[0]])


# ---- strides, dilation, other numbers of tokens, several filters a channel -------------------------------------------

def made(taps, pads, stride, dilation):
    """Tokens of the result, from those of a sequence."""
    return lambda length: max(0, (int(length) + sum(pads) - (taps - 1) * dilation - 1) // stride + 1)


def steps(pads, stride, dilation):
    return f"pads = array<i64: {pads[0]}, {pads[1]}>, stride = {stride} : i64, dilation = {dilation} : i64"


#: taps, pads, stride, dilation: common factors of the steps and none, windows that do not touch, that reach far beyond
#: the sequence, that need all of it; any two numbers of zeros.
WINDOWS = [(3, (1, 1), 2, 1), (3, (2, 2), 1, 2), (5, (4, 7), 2, 3), (3, (4, 4), 6, 4), (2, (0, 1), 5, 1),
           (4, (15, 3), 4, 6), (1, (0, 0), 3, 1), (3, (0, 0), 1, 1), (9, (0, 0), 2, 1), (1, (2, 3), 1, 1),
           (31, (60, 60), 4, 2)]


@isas
@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("filters, width", [(1, 37), (3, 37), (2, 64)])
def test_depthwise_in_steps(isa, window, filters, width):
    taps, pads, stride, dilation = window
    biased = filters > 1 or stride > 1
    w, b, out = random_array(width * filters, taps), random_array(width * filters), width * filters
    follow = made(*window)
    body = (f"  %y = convbert.depthwise_conv1d %x, %w{', %b' * biased} {{{steps(*window[1:])}}}"
            f" : ({tokens(width)}, {tensor(*w.shape)}{', ' + tensor(out) if biased else ''}) -> {tokens(out)}\n"
            f"  return %y : {tokens(out)}")

    def expected(x, mask, p):
        if follow(len(x)) == 0:
            return [np.zeros((0, out))]
        return [ops.depthwise_conv1d(x[None], p["w"], p.get("b"), pads, stride, dilation)[0]]

    check(isa, width, body, {"w": w, "b": b} if biased else {"w": w}, [("tokens", out, follow)], expected)


@isas
@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("out, groups, layout", [(29, 1, "out_in"), (50, 2, "in_out")])
def test_convolution_in_steps(isa, window, out, groups, layout):
    taps, pads, stride, dilation = window
    width = 38
    shape = (out, width // groups, taps) if layout == "out_in" else (taps, width // groups, out)
    w, b = random_array(*shape) / np.float32(np.sqrt(taps * width // groups)), random_array(out)
    follow = made(*window)
    body = (f"  %y = convbert.conv1d %x, %w, %b {{{steps(*window[1:])}, groups = {groups} : i64, "
            f"layout = #convbert.layout<{layout}>}} : ({tokens(width)}, {tensor(*shape)}, {tensor(out)})"
            f" -> {tokens(out)}\n  return %y : {tokens(out)}")

    def expected(x, mask, p):
        if follow(len(x)) == 0:
            return [np.zeros((0, out))]
        return [ops.conv1d(x[None], p["w"], p["b"], pads, stride, dilation, groups, layout)[0]]

    check(isa, width, body, {"w": w, "b": b}, [("tokens", out, follow)], expected)


@isas
def test_a_network_that_halves_and_doubles(isa):
    """A strided and a dilated convolution behind each other, and what was there before them beside them."""
    w, v, d = random_array(40, D, 3), random_array(24, 40, 3), random_array(48, 5)
    first, last = made(3, (1, 1), 2, 1), made(5, (0, 8), 1, 2)

    def follow(length):
        return last(first(length))

    body = (f"  %a = convbert.conv1d %x, %w {{{steps((1, 1), 2, 1)}}} : ({tokens(D)}, {tensor(40, D, 3)}) -> {tokens(40)}\n"
            f"  %b = convbert.conv1d %a, %v {{{steps((2, 2), 1, 2)}}} : ({tokens(40)}, {tensor(24, 40, 3)}) -> {tokens(24)}\n"
            f"  %y = convbert.depthwise_conv1d %b, %d {{{steps((0, 8), 1, 2)}}} : ({tokens(24)}, {tensor(48, 5)})"
            f" -> {tokens(48)}\n  return %y, %a, %x : {tokens(48)}, {tokens(40)}, {tokens(D)}")

    def expected(x, mask, p):
        a = ops.conv1d(x[None], p["w"], pads=(1, 1), stride=2)
        b = ops.conv1d(a, p["v"], pads=(2, 2), dilation=2)
        return [ops.depthwise_conv1d(b, p["d"], pads=(0, 8), dilation=2)[0], a[0], x]

    check(isa, D, body, {"w": w, "v": v, "d": d}, [("tokens", 48, follow), ("tokens", 40, first), ("tokens", D)],
          expected, atol=2e-4)  # sums of 111 and 120 products of unit variance, one of the other


@isas
def test_a_separable_convolution_dilated(isa):
    parameters = {"wd": random_array(D, 3), "wp": random_array(50, D) / np.float32(6), "b": random_array(50)}
    body = (f"  %y = convbert.separable_conv1d %x, %wd, %wp, %b {{pads = array<i64: 6, 0>, dilation = 3 : i64}}"
            f" : ({tokens(D)}, {tensor(D, 3)}, {tensor(50, D)}, {tensor(50)}) -> {tokens(50)}\n  return %y : {tokens(50)}")
    check(isa, D, body, parameters, [("tokens", 50)],
          lambda x, mask, p: [ops.separable_conv1d(x[None], p["wd"], p["wp"], p["b"], (6, 0), 3)[0]])
