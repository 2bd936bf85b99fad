"""Lightweight and dynamic convolution and gates through all phases, against the oracles in float64."""

import numpy as np
import pytest

from convbert import reference_ops as ops
from module_harness import D, check, isas, random_array, tensor, tokens

RENORM, INTERLEAVED = "edge = #convbert.edge<renorm>", "head_map = #convbert.head_map<interleaved>"


def project(width):
    """The text of a dense layer of `%x` to `%h`: what convolutions read."""
    return f"  %h = convbert.dense %x, %wh : ({tokens(D)}, {tensor(width, D)}) -> {tokens(width)}\n"


def window(pads, extra=()):
    return ", ".join([f"pads = array<i64: {pads[0]}, {pads[1]}>", *extra])


@isas
@pytest.mark.parametrize("heads, pads, biased, head_map",
                         [(4, (1, 1), True, "blocked"), (2, (4, 4), False, "interleaved"),
                          (40, (15, 15), True, "blocked"), (1, (0, 0), False, "blocked")])
def test_lightweight(isa, heads, pads, biased, head_map):
    width, taps = 40, sum(pads) + 1
    parameters = {"wh": random_array(width, D), "w": random_array(heads, taps)}
    if biased:
        parameters["b"] = random_array(width)
    operands = "%h, %w" + ", %b" * biased
    types = f"{tokens(width)}, {tensor(heads, taps)}" + f", {tensor(width)}" * biased
    body = (project(width) +
            f"  %y = convbert.light_conv {operands} {{{window(pads, [INTERLEAVED] * (head_map == 'interleaved'))}}}"
            f" : ({types}) -> {tokens(width)}\n  return %y : {tokens(width)}")

    def expected(x, mask, p):
        h = (x @ p["wh"].T)[None]
        return [ops.light_conv(h, p["w"], p.get("b"), pads, head_map=head_map)[0]]

    check(isa, D, body, parameters, [("tokens", width)], expected)


@isas
@pytest.mark.parametrize("heads, size, pads, edge, query, biased",
                         [(2, 16, (1, 1), "zero", False, False), (3, 5, (4, 0), "zero", False, True),
                          (3, 5, (2, 3), "renorm", False, True), (2, 16, (8, 0), "renorm", True, False),
                          (1, 32, (0, 30), "renorm", False, False)])
def test_dynamic(isa, heads, size, pads, edge, query, biased):
    """Centred, causal and even windows; heads of whole vectors and of others; taps from another tensor."""
    width, taps = heads * size, sum(pads) + 1
    inner = D if query else width
    parameters = {"wh": random_array(width, D), "w": random_array(heads * taps, inner), "b": random_array(heads * taps)}
    if biased:
        parameters["cb"] = random_array(width)
    operands = "%h, %w, %b" + " query(%x)" * query + " channel_bias(%cb)" * biased
    types = (f"{tokens(width)}, {tensor(heads * taps, inner)}, {tensor(heads * taps)}" + f", {tokens(D)}" * query +
             f", {tensor(width)}" * biased)
    attributes = window(pads, [f"heads = {heads} : i64"] + [RENORM] * (edge == "renorm"))
    body = (project(width) +
            f"  %y = convbert.dynamic_conv {operands} {{{attributes}}} : ({types}) -> {tokens(width)}\n"
            f"  return %y : {tokens(width)}")

    def expected(x, mask, p):
        h = (x @ p["wh"].T)[None]
        return [ops.dynamic_conv(h, p["w"], p["b"], x[None] if query else None, p.get("cb"), heads, pads, edge=edge)[0]]

    check(isa, D, body, parameters, [("tokens", width)], expected)


#: heads, size of one, taps, dilation, pads.
APART = [(3, 5, 3, 2, (2, 2)), (8, 4, 5, 1, (4, 0)), (16, 3, 4, 3, (3, 6)), (37, 1, 2, 7, (7, 0)), (1, 33, 9, 1, (4, 4)),
         (7, 16, 31, 2, (30, 30))]


@isas
@pytest.mark.parametrize("heads, size, taps, dilation, pads", APART)
@pytest.mark.parametrize("head_map", ["blocked", "interleaved"])
@pytest.mark.parametrize("edge", ["zero", "renorm"])
def test_dynamic_in_steps(isa, heads, size, taps, dilation, pads, head_map, edge):
    """Taps that lie apart, heads that are columns, and those at an end left out."""
    width = heads * size
    parameters = {"wh": random_array(width, D), "w": random_array(heads * taps, D), "b": random_array(heads * taps)}
    attributes = window(pads, [f"heads = {heads} : i64", f"dilation = {dilation} : i64"] + [RENORM] * (edge == "renorm") +
                        [INTERLEAVED] * (head_map == "interleaved"))
    body = (project(width) +
            f"  %y = convbert.dynamic_conv %h, %w, %b query(%x) {{{attributes}}} : ({tokens(width)}, "
            f"{tensor(heads * taps, D)}, {tensor(heads * taps)}, {tokens(D)}) -> {tokens(width)}\n"
            f"  return %y : {tokens(width)}")

    def expected(x, mask, p):
        h = (x @ p["wh"].T)[None]
        return [ops.dynamic_conv(h, p["w"], p["b"], x[None], None, heads, pads, dilation, edge=edge, head_map=head_map)[0]]

    check(isa, D, body, parameters, [("tokens", width)], expected)


@isas
@pytest.mark.parametrize("dilation, head_map", [(1, "blocked"), (2, "blocked"), (1, "interleaved"), (3, "interleaved")])
def test_taps_without_a_softmax(isa, dilation, head_map):
    heads, size, taps, pads = 3, 5, 4, (dilation, 2 * dilation)
    parameters = {"wh": random_array(15, D), "w": random_array(12, D) / np.float32(6)}
    attributes = window(pads, ["heads = 3 : i64", f"dilation = {dilation} : i64", "normalize = #convbert.norm<none>"] +
                        [INTERLEAVED] * (head_map == "interleaved"))
    body = (project(15) + f"  %y = convbert.dynamic_conv %h, %w query(%x) {{{attributes}}} : ({tokens(15)}, "
            f"{tensor(12, D)}, {tokens(D)}) -> {tokens(15)}\n  return %y : {tokens(15)}")

    def expected(x, mask, p):
        h = (x @ p["wh"].T)[None]
        return [ops.dynamic_conv(h, p["w"], None, x[None], None, heads, pads, dilation, "none", head_map=head_map)[0]]

    check(isa, D, body, parameters, [("tokens", 15)], expected)


@isas
@pytest.mark.parametrize("heads, taps, dilation, head_map", [(4, 3, 2, "blocked"), (2, 9, 5, "interleaved"),
                                                             (40, 2, 1, "interleaved"), (8, 31, 1, "blocked")])
@pytest.mark.parametrize("edge", ["zero", "renorm"])
def test_lightweight_in_steps(isa, heads, taps, dilation, head_map, edge):
    width, pads = 40, ((taps - 1) * dilation, 0)
    # Logits far apart: those that are left at an end may be nothing beside those that are not.
    parameters = {"wh": random_array(width, D), "w": 40 * random_array(heads, taps), "b": random_array(width)}
    attributes = window(pads, [f"dilation = {dilation} : i64"] + [INTERLEAVED] * (head_map == "interleaved") +
                        [RENORM] * (edge == "renorm"))
    body = (project(width) + f"  %y = convbert.light_conv %h, %w, %b {{{attributes}}} : ({tokens(width)}, "
            f"{tensor(heads, taps)}, {tensor(width)}) -> {tokens(width)}\n  return %y : {tokens(width)}")

    def expected(x, mask, p):
        return [ops.light_conv((x @ p["wh"].T)[None], p["w"], p["b"], pads, dilation, edge=edge, head_map=head_map)[0]]

    check(isa, D, body, parameters, [("tokens", width)], expected)


@isas
@pytest.mark.parametrize("masked, gate", [(False, "sigmoid"), (True, "sigmoid"), (True, "hard_sigmoid")])
def test_squeeze_and_excite(isa, masked, gate):
    parameters = {"w1": random_array(9, D), "b1": random_array(9), "w2": random_array(D, 9)}
    operands = "%x squeeze(%w1, %b1) excite(%w2)" + " mask(%mask)" * masked
    types = f"{tokens(D)}, {tensor(9, D)}, {tensor(9)}, {tensor(D, 9)}" + ", tensor<?x?xi1>" * masked
    body = (f"  %y = convbert.squeeze_excite {operands} {{gate = #convbert.activation<{gate}>}}"
            f" : ({types}) -> {tokens(D)}\n"
            f"  return %y : {tokens(D)}")

    def expected(x, mask, p):
        return [ops.squeeze_excite(x[None], **p, mask=mask[None] if masked else None, gate=gate)[0]]

    check(isa, D, body, parameters, [("tokens", D)], expected)


@isas
@pytest.mark.parametrize("branches", [1, 2, 3, 4, 6])
def test_selected_branches(isa, branches):
    """A branch for each layer of the input, and logits from its mean."""
    parameters = {f"w{m}": random_array(D, D, seed=m) for m in range(branches)}
    parameters |= {f"a{m}": random_array(D, D, seed=9 + m) for m in range(branches)}
    x, p = tokens(D), tensor("?", D)
    body = f"  %p = convbert.pool %x {{kind = #convbert.pool<mean>}} : ({x}) -> {p}\n"
    for m in range(branches):
        body += f"  %u{m} = convbert.dense %x, %w{m} : ({x}, {tensor(D, D)}) -> {x}\n"
        body += f"  %l{m} = convbert.dense %p, %a{m} : ({p}, {tensor(D, D)}) -> {p}\n"
    names = [", ".join(f"%{letter}{m}" for m in range(branches)) for letter in "ul"]
    types = ", ".join([x] * branches + [p] * branches)
    body += f"  %y = convbert.select_branches {names[0]} by({names[1]}) : ({types}) -> {x}\n  return %y : {x}"

    def expected(x, mask, p):
        found = [(x @ p[f"w{m}"].T)[None] for m in range(branches)]
        logits = [(x.mean(0) @ p[f"a{m}"].T)[None] for m in range(branches)]
        return [ops.select_branches(*found, *logits)[0]]

    check(isa, D, body, parameters, [("tokens", D)], expected)


@isas
@pytest.mark.parametrize("form", ["kernels", "outputs"])
@pytest.mark.parametrize("layout, biased, window_of, width, out", [
    ("out_in", True, ((1, 1), 1, 1), D, 21), ("in_out", True, ((2, 2), 1, 2), 24, 32), ("out_in", False, ((0, 0), 2, 1), D, 5)])
def test_attention_over_kernels(isa, form, layout, biased, window_of, width, out):
    count, taps = 3, 3
    pads, stride, dilation = window_of
    shape = (count, out, width, taps) if layout == "out_in" else (count, taps, width, out)
    f1, f2 = random_array(4, width), random_array(count, 4)
    parameters = {"f1": f1 if layout == "out_in" else f1.T.copy(), "f2": f2 if layout == "out_in" else f2.T.copy(),
                  "k": random_array(*shape) / np.float32(np.sqrt(taps * width))}
    if biased:
        parameters |= {"b1": random_array(4), "b2": random_array(count), "kb": random_array(count, out)}
    types = [tensor(*parameters[name].shape) for name in ("f1", "b1", "f2", "b2", "k", "kb") if name in parameters]
    with_bias = (lambda name, bias: f"%{name}, %{bias}" if biased else f"%{name}")
    body = (f"  %y = convbert.kernel_attention_conv %x squeeze({with_bias('f1', 'b1')}) excite({with_bias('f2', 'b2')}) "
            f"kernels({with_bias('k', 'kb')}) {{pads = array<i64: {pads[0]}, {pads[1]}>, stride = {stride} : i64, "
            f"dilation = {dilation} : i64, temperature = 2.5 : f64, aggregate = #convbert.aggregate<{form}>, "
            f"layout = #convbert.layout<{layout}>}} : ({tokens(width)}, {', '.join(types)}) -> {tokens(out)}\n"
            f"  return %y : {tokens(out)}")

    def follow(length):
        return max(0, (int(length) + sum(pads) - (taps - 1) * dilation - 1) // stride + 1)

    def expected(x, mask, p):
        if follow(len(x)) == 0:
            return [np.zeros((0, out))]
        return [ops.kernel_attention_conv(x[None], p["f1"], p.get("b1"), p["f2"], p.get("b2"), p["k"], p.get("kb"), pads,
                                          stride, dilation, 2.5, form, layout)[0]]

    check(isa, width, body, parameters, [("tokens", out, follow)], expected)
