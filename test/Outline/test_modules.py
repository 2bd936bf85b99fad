"""Modules of one or a few operations through all phases, against NumPy in float64.

Odd sizes throughout: widths that fill no panel, heads that fill no vector, groups that end inside a panel.
"""

import numpy as np
import pytest

from convbert import reference
from module_harness import D, Batch, Module, check, dense, isas, random_array, tensor, tokens, wide

IN_OUT = "{layout = #convbert.layout<in_out>}"


@isas
@pytest.mark.parametrize("attributes, biased", [("", False), (IN_OUT, True)])
def test_dense(isa, attributes, biased):
    w, b = random_array(D, 29) if attributes else random_array(29, D), random_array(29)
    parameters = {"w": w, "b": b} if biased else {"w": w}
    body = dense("%y", "%x", ("w", w), ("b", b) if biased else None, tokens(D), attributes)
    body += f"  return %y : {tokens(29)}"
    check(isa, D, body, parameters, [("tokens", 29)],
          lambda x, mask, p: [x @ (p["w"] if attributes else p["w"].T) + p.get("b", 0)])


@isas
@pytest.mark.parametrize("sizes, biased", [((3, 13, 11), True), ((3, 13, 50), False), ((2, 20, 24), True),
                                           ((2048, 1, 1), True)])
def test_grouped_dense(isa, sizes, biased):
    groups, given, made = sizes
    w, b = random_array(*sizes), random_array(groups * made)
    width, out = groups * given, groups * made
    body = (f"  %h = convbert.grouped_dense %x, %w{', %b' if biased else ''} : ({tokens(width)}, {tensor(*sizes)}"
            f"{', ' + tensor(out) if biased else ''}) -> {tokens(out)}\n"
            f"  %y = convbert.activation %h {{kind = #convbert.activation<gelu>}} : {tokens(out)}\n"
            f"  return %y : {tokens(out)}")
    check(isa, width, body, {"w": w, "b": b} if biased else {"w": w}, [("tokens", out)],
          lambda x, mask, p: [reference.gelu(reference.dense(x, p["w"], p.get("b")))])


@isas
def test_layer_norm(isa):
    parameters = {"g": random_array(D), "a": random_array(D, seed=1)}
    norm = "{{eps = {eps} : f64}} : ({types}{t}, {t}) -> {x}"
    body = (f"  %h = convbert.layer_norm %x, %g, %a "
            f"{norm.format(eps='1.0e-5', types=tokens(D) + ', ', t=tensor(D), x=tokens(D))}\n"
            f"  %y = convbert.layer_norm %h residual(%x), %g, %a "
            f"{norm.format(eps='0.25', types=tokens(D) + ', ' + tokens(D) + ', ', t=tensor(D), x=tokens(D))}\n"
            f"  return %h, %y : {tokens(D)}, {tokens(D)}")

    def expected(x, mask, p):
        h = reference.layer_norm(x, p["g"], p["a"], 1e-5)
        return [h, reference.layer_norm(h + x, p["g"], p["a"], 0.25)]

    check(isa, D, body, parameters, [("tokens", D)] * 2, expected)


@isas
@pytest.mark.parametrize("taps, attributes", [(1, ""), (3, ", layout = #convbert.layout<in_out>"), (31, "")])
def test_depthwise(isa, taps, attributes):
    w = random_array(D, taps)
    stored = np.ascontiguousarray(w.T) if attributes else w
    half = (taps - 1) // 2
    body = (f"  %y = convbert.depthwise_conv1d %x, %w {{pads = array<i64: {half}, {half}>{attributes}}}"
            f" : ({tokens(D)}, {tensor(*stored.shape)}) -> {tokens(D)}\n  return %y : {tokens(D)}")
    check(isa, D, body, {"w": stored}, [("tokens", D)],
          lambda x, mask, p: [sum(reference.shift(x[None], j - half)[0] * wide(w)[:, j] for j in range(taps))])


def span_body(width, size, heads, taps, layout=""):
    """Queries, span keys and values, then the convolution, then a dense layer that takes the padding off."""
    a, half = heads * size, (taps - 1) // 2
    attributes = f"{{{layout[2:]}}}" if layout else ""
    kernel = (heads * taps, a) if not layout else (a, heads * taps)
    proj = (a, width) if not layout else (width, a)
    back = (11, a) if not layout else (a, 11)
    parameters = {"wq": random_array(*proj), "bq": random_array(a), "ws": random_array(*proj, seed=1),
                  "wd": random_array(*((taps, width) if layout else (width, taps))), "bs": random_array(a, seed=1), "wv": random_array(*proj, seed=2), "bv": random_array(a, seed=2),
                  "wf": 3 * random_array(*kernel), "bf": random_array(heads * taps), "wo": random_array(*back),
                  "bo": random_array(11)}
    named = {name: (name, array) for name, array in parameters.items()}
    body = dense("%q", "%x", named["wq"], named["bq"], tokens(width), attributes)
    body += dense("%v", "%x", named["wv"], named["bv"], tokens(width), attributes)
    body += (f"  %s = convbert.separable_conv1d %x, %wd, %ws, %bs {{pads = array<i64: {half}, {half}>{layout}}}"
             f" : ({tokens(width)}, {tensor(*parameters['wd'].shape)}, {tensor(*proj)}, {tensor(a)}) -> {tokens(a)}\n")
    body += (f"  %o = convbert.span_dynamic_conv %q, %s, %v, %wf, %bf {{heads = {heads} : i64, "
             f"pads = array<i64: {half}, {half}>{layout}}} : ({tokens(a)}, {tokens(a)}, {tokens(a)}, "
             f"{tensor(*kernel)}, {tensor(heads * taps)}) -> {tokens(a)}\n")
    body += dense("%y", "%o", named["wo"], named["bo"], tokens(a), attributes)
    return body + f"  return %y : {tokens(11)}", parameters


@isas
@pytest.mark.parametrize("heads, taps", [(1, 31), (9, 1), (9, 3), (17, 3), (1, 1)])
def test_span_convolution(isa, heads, taps):
    layout = ", layout = #convbert.layout<in_out>" if heads == 9 else ""
    body, parameters = span_body(D, 5, heads, taps, layout)

    def expected(x, mask, p):
        def layer(value, name):
            return value @ (p["w" + name] if layout else p["w" + name].T) + p["b" + name]

        x = x[None]
        wd = p["wd"].T if layout else p["wd"]
        z = sum(reference.shift(x, j - (taps - 1) // 2) * wd[:, j] for j in range(taps))
        kernel = reference.softmax(layer(layer(z, "s") * layer(x, "q"), "f").reshape(1, x.shape[1], heads, taps))
        return [layer(reference.apply_kernel(kernel, layer(x, "v")), "o")[0]]

    check(isa, D, body, parameters, [("tokens", 11)], expected)


@isas
@pytest.mark.parametrize("heads, size", [(3, 5), (1, 16), (2, 33)])
def test_attention(isa, heads, size):
    a = heads * size
    parameters, body = {}, ""
    for i, name in enumerate("qkv"):
        parameters |= {"w" + name: 2 * random_array(a, D, seed=i), "b" + name: random_array(a, seed=i)}
        body += dense("%" + name, "%x", ("w" + name, parameters["w" + name]), ("b" + name, parameters["b" + name]),
                      tokens(D))
    parameters |= {"wo": random_array(13, a)}
    body += (f"  %c = convbert.self_attention %q, %k, %v bias(%bias) {{heads = {heads} : i64, scale = 0.3 : f64}}"
             f" : ({tokens(a)}, {tokens(a)}, {tokens(a)}, tensor<?x?xf32>) -> {tokens(a)}\n")
    body += dense("%y", "%c", ("wo", parameters["wo"]), None, tokens(a))
    body += f"  return %y : {tokens(13)}"

    def expected(x, mask, p):
        q, k, v = (reference.dense(x[None], p["w" + n], p["b" + n]) for n in "qkv")
        bias = reference.mask_bias(mask[None], np.float64)
        # The reference divides by the square root of the head size; here the scale is 0.3.
        context, _ = reference.self_attention(q * 0.3 * np.sqrt(size), k, v, heads, bias)
        return [context[0] @ p["wo"].T]

    check(isa, D, body, parameters, [("tokens", 13)], expected)


@isas
def test_pool(isa):
    parameters = {"w": random_array(3, D), "b": random_array(3), "w2": random_array(5, D), "b2": random_array(5)}
    kinds, body = ("first", "last", "mean"), ""
    for kind in kinds:
        body += f"  %{kind} = convbert.pool %x {{kind = #convbert.pool<{kind}>}} : ({tokens(D)}) -> {tensor('?', D)}\n"
    body += dense("%y", "%last", ("w", parameters["w"]), ("b", parameters["b"]), tensor("?", D))
    body += dense("%z", "%last", ("w2", parameters["w2"]), ("b2", parameters["b2"]), tensor("?", D))
    body += f"  return %first, %last, %mean, %y, %z : {(tensor('?', D) + ', ') * 3}{tensor('?', 3)}, {tensor('?', 5)}"
    check(isa, D, body, parameters, [("sequences", D)] * 3 + [("sequences", 3), ("sequences", 5)],
          lambda x, mask, p: [x[0], x[-1], x.mean(0), reference.dense(x[-1], p["w"], p["b"]),
                              reference.dense(x[-1], p["w2"], p["b2"])])


@isas
def test_masks_of_tokens_and_heads(isa):
    parameters = {"s": random_array(4), "w": random_array(20, D), "o": random_array(11, 20)}
    body = f"  %m = convbert.mask_tokens %x, %mask : ({tokens(D)}, tensor<?x?xi1>) -> {tokens(D)}\n"
    body += dense("%h", "%m", ("w", parameters["w"]), None, tokens(D))
    body += f"  %n = convbert.scale_heads %h, %s : ({tokens(20)}, {tensor(4)}) -> {tokens(20)}\n"
    body += dense("%y", "%n", ("o", parameters["o"]), None, tokens(20))
    body += f"  return %m, %y : {tokens(D)}, {tokens(11)}"

    def expected(x, mask, p):
        kept = np.where(mask[:, None], x, 0)
        return [kept, (kept @ p["w"].T * np.repeat(p["s"], 5)) @ p["o"].T]

    check(isa, D, body, parameters, [("tokens", D), ("tokens", 11)], expected)


@isas
def test_slices_and_a_value_returned_twice(isa):
    """Layers of one input become one; results are parts of its rows."""
    parameters, body, names = {}, "", []
    for i, out in enumerate((7, 30, 25)):
        parameters |= {f"w{i}": random_array(out, D), f"b{i}": random_array(out)}
        body += dense(f"%y{i}", "%x", (f"w{i}", parameters[f"w{i}"]), (f"b{i}", parameters[f"b{i}"]), tokens(D))
    body += f"  return %y2, %y0, %y1, %y0 : {tokens(25)}, {tokens(7)}, {tokens(30)}, {tokens(7)}"
    check(isa, D, body, parameters, [("tokens", 25), ("tokens", 7), ("tokens", 30), ("tokens", 7)],
          lambda x, mask, p: [reference.dense(x, p[f"w{i}"], p[f"b{i}"]) for i in (2, 0, 1, 0)])


@isas
def test_product(isa):
    """The second factor is a part of rows that ends inside a panel."""
    parameters = {"w": random_array(29, D), "b": random_array(29), "v": random_array(29, D, seed=1),
                  "c": random_array(29, seed=1), "u": random_array(29, D, seed=2), "d": random_array(29, seed=2)}
    body = dense("%s", "%x", ("w", parameters["w"]), ("b", parameters["b"]), tokens(D))
    body += dense("%t", "%x", ("v", parameters["v"]), ("c", parameters["c"]), tokens(D))
    body += dense("%r", "%s", ("e", random_array(29, 29)), None, tokens(29))
    body += f"  %y = arith.mulf %t, %r : {tokens(29)}\n  return %y, %s : {tokens(29)}, {tokens(29)}"
    parameters["e"] = random_array(29, 29)
    check(isa, D, body, parameters, [("tokens", 29)] * 2,
          lambda x, mask, p: [reference.dense(x, p["v"], p["c"]) * (reference.dense(x, p["w"], p["b"]) @ p["e"].T),
                              reference.dense(x, p["w"], p["b"])])


@isas
def test_concatenations(isa):
    """Parts that end inside panels, one concatenation in another."""
    parameters = {"w": random_array(25, D), "v": random_array(7, 25), "u": random_array(31, 7),
                  "o": random_array(9, 63)}
    body = dense("%a", "%x", ("w", parameters["w"]), None, tokens(D))
    body += dense("%b", "%a", ("v", parameters["v"]), None, tokens(25))
    body += dense("%c", "%b", ("u", parameters["u"]), None, tokens(7))
    body += f"""  %ab = tensor.concat dim(2) %a, %b : ({tokens(25)}, {tokens(7)}) -> {tokens(32)}
  %abc = tensor.concat dim(2) %ab, %c : ({tokens(32)}, {tokens(31)}) -> {tokens(63)}
"""
    body += dense("%y", "%abc", ("o", parameters["o"]), None, tokens(63))
    body += f"  return %y, %abc, %ab : {tokens(9)}, {tokens(63)}, {tokens(32)}"

    def expected(x, mask, p):
        a = x @ p["w"].T
        b = a @ p["v"].T
        abc = np.concatenate([a, b, b @ p["u"].T], -1)
        return [abc @ p["o"].T, abc, abc[:, :32]]

    check(isa, D, body, parameters, [("tokens", 9), ("tokens", 63), ("tokens", 32)], expected)


@isas
def test_nothing_returned(isa):
    module = Module(isa, D, "  return", {}, [])
    assert module.run(Batch([3, 9]), threads=2) == []


@isas
def test_random_shapes(isa):
    """Forty batches of random sizes from one compiled module, attention and convolution in it."""
    body, parameters = span_body(D, 5, 3, 9)
    module = Module(isa, D, body, parameters, [("tokens", 11)])
    p = {name: wide(array) for name, array in parameters.items()}

    def expected(x, mask):
        x = x[None]
        q, v = (reference.dense(x, p["w" + n], p["b" + n]) for n in "qv")
        s = reference.separable_conv1d(x, p["wd"][:, None, :], p["ws"][:, :, None], p["bs"])
        taps = reference.dynamic_kernel(s, q, p["wf"], p["bf"], 3)
        return [reference.dense(reference.apply_kernel(taps, v), p["wo"], p["bo"])[0]]

    random = np.random.default_rng(5)
    for seed in range(40):
        module.check(Batch(random.integers(1, random.choice([2, 9, 33, 90]), random.integers(1, 7)), seed), expected)
    sizes = [module.workspace_bytes(Batch([n]), threads) for n in (8, 64, 512) for threads in (1, 2, 8)]
    assert sizes == sorted(sizes[:3]) + sorted(sizes[3:6]) + sorted(sizes[6:])
    assert all(size % 64 == 0 for size in sizes)
