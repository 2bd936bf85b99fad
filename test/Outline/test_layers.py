"""Whole encoder layers and the heads of models through all phases, against NumPy in float64."""

import numpy as np

from convbert import reference
from module_harness import BATCHES, D, Batch, Module, check, isas, random_array, tensor, tokens, wide


@isas
def test_heads_of_models(isa):
    """Question answering (two columns of one layer), classification and the masked language model's tied table."""
    parameters = {"w": random_array(2, D), "b": random_array(2), "w1": random_array(41, D), "b1": random_array(41),
                  "w2": random_array(3, 41), "b2": random_array(3), "wm": random_array(D, D), "bm": random_array(D),
                  "gm": random_array(D), "am": random_array(D, seed=1), "bw": random_array(23)}
    body = f"""  %start, %end = convbert.span_head %x, %w, %b : ({tokens(D)}, {tensor(2, D)}, {tensor(2)}) -> (tensor<?x?xf32>, tensor<?x?xf32>)
  %class = convbert.classifier_head %x, %w1, %b1, %w2, %b2 {{activation = #convbert.activation<relu>}} : ({tokens(D)}, {tensor(41, D)}, {tensor(41)}, {tensor(3, 41)}, {tensor(3)}) -> {tensor('?', 3)}
  %words = convbert.lm_head %x, %wm, %bm, %gm, %am, %word, %bw {{eps = 1.0e-12 : f64}} : ({tokens(D)}, {tensor(D, D)}, {tensor(D)}, {tensor(D)}, {tensor(D)}, {tensor(23, D)}, {tensor(23)}) -> {tokens(23)}
  return %start, %end, %class, %words : tensor<?x?xf32>, tensor<?x?xf32>, {tensor('?', 3)}, {tokens(23)}"""
    word = []

    def expected(x, mask, p):
        both = reference.dense(x, p["w"], p["b"])
        h = np.maximum(reference.dense(x[0], p["w1"], p["b1"]), 0)
        m = reference.layer_norm(reference.gelu(reference.dense(x, p["wm"], p["bm"])), p["gm"], p["am"], 1e-12)
        return [both[:, 0], both[:, 1], reference.dense(h, p["w2"], p["b2"]), m @ word[0].T + p["bw"]]

    outputs = [("scalars", 1), ("scalars", 1), ("sequences", 3), ("tokens", 23)]
    module = Module(isa, D, body, parameters, outputs)
    word.append(wide(module.tables["word"]))
    p = {name: wide(array) for name, array in parameters.items()}
    for seed, lengths in enumerate(BATCHES):
        module.check(Batch(lengths, seed), lambda x, mask: expected(x, mask, p))


LAYER = """
func.func private @layer(%x: {x}, %bias: tensor<?x?xf32>, {arguments}) -> {x} {{
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp) kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%bias)
         {{attn_heads = {heads} : i64, conv_heads = {heads} : i64, head_size = {size} : i64}} : ({x}, {attention}, tensor<?x?xf32>) -> {x}
  %n = convbert.layer_norm %y residual(%x), %g1, %a1 {{eps = 1.0e-12 : f64}} : ({x}, {x}, {v}, {v}) -> {x}
  %f = convbert.feed_forward %n, %w1, %b1, %w2, %b2 {{activation = #convbert.activation<gelu>}} : ({x}, {inner}) -> {x}
  %z = convbert.layer_norm %f residual(%n), %g2, %a2 {{eps = 1.0e-12 : f64}} : ({x}, {x}, {v}, {v}) -> {x}
  return %z : {x}
}}
"""


@isas
def test_two_layers(isa):
    """A whole encoder layer of width 37 with heads of 5, called with other weights the second time."""
    heads, size, taps, inner = 3, 5, 7, 50
    a = heads * size
    attention = {"wq": (a, D), "bq": (a,), "wk": (a, D), "bk": (a,), "wv": (a, D), "bv": (a,), "wd": (D, taps),
                 "wp": (a, D), "bp": (a,), "wf": (heads * taps, a), "bf": (heads * taps,), "wc": (a, D), "bc": (a,),
                 "wo": (D, 2 * a), "bo": (D,)}
    shapes = attention | {"g1": (D,), "a1": (D,), "w1": (inner, D), "b1": (inner,), "w2": (D, inner), "b2": (D,),
                          "g2": (D,), "a2": (D,)}
    parameters = {f"{name}_{i}": random_array(*shape, seed=i) for i in range(2) for name, shape in shapes.items()}
    inner_names = ("w1", "b1", "w2", "b2")
    functions = LAYER.format(x=tokens(D), v=tensor(D), heads=heads, size=size,
                             arguments=", ".join(f"%{n}: {tensor(*s)}" for n, s in shapes.items()),
                             attention=", ".join(tensor(*s) for s in attention.values()),
                             inner=", ".join(tensor(*shapes[n]) for n in inner_names))
    body = ""
    for i in range(2):
        body += (f"  %x{i} = call @layer(%{'x' if i == 0 else 'x0'}, %bias, {', '.join(f'%{n}_{i}' for n in shapes)})"
                 f" : ({tokens(D)}, tensor<?x?xf32>, {', '.join(tensor(*s) for s in shapes.values())}) -> {tokens(D)}\n")
    body += f"  return %x1, %x0 : {tokens(D)}, {tokens(D)}"

    def expected(x, mask, p):
        x, results = x[None], []
        bias = reference.mask_bias(mask[None], np.float64)
        files = {"self.query.weight": "wq", "self.query.bias": "bq", "self.key.weight": "wk", "self.key.bias": "bk",
                 "self.value.weight": "wv", "self.value.bias": "bv", "self.conv_out_layer.weight": "wc",
                 "self.conv_out_layer.bias": "bc", "self.conv_kernel_layer.weight": "wf",
                 "self.conv_kernel_layer.bias": "bf", "self.key_conv_attn_layer.bias": "bp"}
        for i in range(2):
            def get(name):
                if name == "self.key_conv_attn_layer.depthwise.weight":
                    return p[f"wd_{i}"][:, None, :]
                if name == "self.key_conv_attn_layer.pointwise.weight":
                    return p[f"wp_{i}"][:, :, None]
                return p[f"{files[name]}_{i}"]

            mixed, _, _ = reference.mixed_attention(x, get, bias)
            y = reference.dense(mixed, p[f"wo_{i}"], p[f"bo_{i}"])
            n = reference.layer_norm(y + x, p[f"g1_{i}"], p[f"a1_{i}"], 1e-12)
            f = reference.dense(reference.gelu(reference.dense(n, p[f"w1_{i}"], p[f"b1_{i}"])), p[f"w2_{i}"],
                                p[f"b2_{i}"])
            x = reference.layer_norm(f + n, p[f"g2_{i}"], p[f"a2_{i}"], 1e-12)
            results.insert(0, x[0])
        return results

    check(isa, D, body, parameters, [("tokens", D)] * 2, expected, functions=functions, atol=5e-5)
