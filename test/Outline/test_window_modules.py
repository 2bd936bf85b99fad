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
    ((24, 100, 2, 2), 0, True, "in_out"), ((48, 8, 31, 1), 15, False, "out_in"), ((64, 13, 33, 1), 0, True, "out_in")])
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
