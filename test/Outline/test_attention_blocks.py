"""Mixed attention in all its forms through all phases: one branch alone, fewer heads of a kind, masks."""

import numpy as np
import pytest

from convbert import reference_ops
from module_harness import D, check, isas, random_array, tensor, tokens

GROUPS = {"query": "q", "key": "k", "value": "v", "span": "dp", "kernel": "f", "conv": "c", "output": "o"}


def block(heads, conv, size, taps, query=None, span=None, shared=False, conv_mask=False, head_mask=False, **slices):
    """Body of a module with one mixed attention, its parameters, and the oracle's attributes."""
    attn, values = heads * size, conv * size
    query, span = (query or max(heads, conv)) * size, (span or conv) * size
    shapes = {"wq": (query, D), "bq": (query,)}
    if heads:
        shapes |= {"wk": (attn, D), "bk": (attn,), "wv": (attn, D), "bv": (attn,)}
    if conv:
        shapes |= {"wd": (D, taps), "wp": (span, D), "bp": (span,), "wf": (conv * taps, span), "bf": (conv * taps,)}
    if conv and not shared:
        shapes |= {"wc": (values, D), "bc": (values,)}
    shapes |= {"wo": (11, attn + values), "bo": (11,)}
    if head_mask:
        shapes["head_mask"] = (heads + conv,)
    parameters = {name: random_array(*shape, seed=i) for i, (name, shape) in enumerate(shapes.items())}

    syntax, types = "%x", [tokens(D), *(tensor(*shape) for name, shape in shapes.items() if name != "head_mask")]
    for group, letters in GROUPS.items():
        names = [f"%{name}" for name in shapes if name[1:] in tuple(letters) and name != "head_mask"]
        syntax += f" {group}({', '.join(names)})" if names else ""
    if heads:
        syntax, types = syntax + " bias(%bias)", [*types, "tensor<?x?xf32>"]
    if conv_mask:
        syntax, types = syntax + " conv_mask(%mask)", [*types, "tensor<?x?xi1>"]
    if head_mask:
        syntax, types = syntax + " head_mask(%head_mask)", [*types, tensor(heads + conv)]
    sizes = {"attn_heads": heads, "conv_heads": conv, "head_size": size}
    attributes = [f"{name} = {value} : i64" for name, value in sizes.items()]
    attributes += [f"{name} = array<i64: {', '.join(map(str, value))}>" for name, value in slices.items()]
    body = (f"  %y = convbert.mixed_attention {syntax} {{{', '.join(attributes)}}} : ({', '.join(types)}) -> {tokens(11)}\n"
            f"  return %y : {tokens(11)}")
    return body, parameters, sizes | slices


FORMS = {
    "plain": dict(heads=3, conv=0, size=5, taps=0),
    "plain_whole_vectors": dict(heads=2, conv=0, size=16, taps=0),
    "convolution_alone": dict(heads=0, conv=2, size=5, taps=3),
    "shared_value": dict(heads=2, conv=2, size=5, taps=3, shared=True),
    "more_attention": dict(heads=4, conv=2, size=5, taps=5),
    "more_convolution": dict(heads=1, conv=3, size=16, taps=3),
    "pruned": dict(heads=3, conv=1, size=5, taps=3, query=5, span=5, query_heads=(4, 1, 2)),
    "span_of_a_run": dict(heads=2, conv=2, size=5, taps=3, query=4, query_heads=(0, 2), span_query_heads=(2, 3)),
    "span_of_slices": dict(heads=1, conv=2, size=16, taps=3, query=4, span_query_heads=(3, 1)),
    "masks": dict(heads=2, conv=3, size=5, taps=5, conv_mask=True, head_mask=True),
    "shared_and_masked": dict(heads=2, conv=2, size=16, taps=3, shared=True, conv_mask=True, head_mask=True),
}


@isas
@pytest.mark.parametrize("form", FORMS)
def test_mixed_attention(isa, form):
    arguments = FORMS[form]
    body, parameters, attributes = block(**arguments)

    def expected(x, mask, p):
        masks = {"conv_mask": mask[None]} if arguments.get("conv_mask") else {}
        if arguments["heads"]:
            masks["bias"] = reference_ops.attention_bias(mask[None], np.float64)
        return [reference_ops.mixed_attention(x[None], **p, **masks, **attributes)[0]]

    check(isa, D, body, parameters, [("tokens", 11)], expected)


@isas
def test_scaled_heads_and_masked_tokens(isa):
    """As steps, of whole rows and of a pooled vector; a mean over all tokens."""
    parameters = {"s": random_array(2), "w": random_array(32, D), "v": random_array(9, 32, seed=1)}
    x, h, y = tokens(D), tokens(32), tokens(9)
    body = f"""  %h = convbert.dense %x, %w : ({x}, {tensor(32, D)}) -> {h}
  %k = convbert.scale_heads %h, %s : ({h}, {tensor(2)}) -> {h}
  %m = convbert.mask_tokens %k, %mask : ({h}, tensor<?x?xi1>) -> {h}
  %n = convbert.mask_tokens %x, %mask : ({x}, tensor<?x?xi1>) -> {x}
  %y = convbert.dense %m, %v : ({h}, {tensor(9, 32)}) -> {y}
  %p = convbert.pool %x {{kind = #convbert.pool<mean>}} : ({x}) -> {tensor('?', D)}
  %q = convbert.pool %k {{kind = #convbert.pool<mean>}} : ({h}) -> {tensor('?', 32)}
  %r = convbert.scale_heads %q, %s : ({tensor('?', 32)}, {tensor(2)}) -> {tensor('?', 32)}
  return %y, %n, %p, %r : {y}, {x}, {tensor('?', D)}, {tensor('?', 32)}"""

    def expected(x, mask, p):
        k = reference_ops.scale_heads(x @ p["w"].T, p["s"])
        return [np.where(mask[:, None], k, 0) @ p["v"].T, np.where(mask[:, None], x, 0), x.mean(0),
                reference_ops.scale_heads(k.mean(0), p["s"])]

    check(isa, D, body, parameters, [("tokens", 9), ("tokens", D), ("sequences", D), ("sequences", 32)], expected)


@isas
@pytest.mark.parametrize("kind", ["gelu_10", "quick_gelu", "relu2", "relu6", "leaky_relu", "hardswish", "laplace", "mish",
                                  "sqrtsoftplus"])
def test_activations_of_a_layer(isa, kind):
    parameters = {"w": random_array(29, D), "b": random_array(29)}
    body = (f"  %h = convbert.dense %x, %w, %b : ({tokens(D)}, {tensor(29, D)}, {tensor(29)}) -> {tokens(29)}\n"
            f"  %y = convbert.activation %h {{kind = #convbert.activation<{kind}>}} : {tokens(29)}\n"
            f"  return %y : {tokens(29)}")
    check(isa, D, body, parameters, [("tokens", 29)],
          lambda x, mask, p: [reference_ops.ACTIVATIONS[kind](x @ p["w"].T + p["b"])])


@isas
@pytest.mark.parametrize("kind", ["tanh", "gelu", "sqrtsoftplus"])
def test_activation_by_itself(isa, kind):
    """Where no dense layer can take it: of a pooled vector, and of rows that others read as well."""
    vector, rows = tensor("?", D), tokens(D)
    body = f"""  %p = convbert.pool %x {{kind = #convbert.pool<first>}} : ({rows}) -> {vector}
  %y = convbert.activation %p {{kind = #convbert.activation<{kind}>}} : {vector}
  %z = convbert.activation %x {{kind = #convbert.activation<{kind}>}} : {rows}
  return %y, %z, %x : {vector}, {rows}, {rows}"""
    act = reference_ops.ACTIVATIONS[kind]
    check(isa, D, body, {}, [("sequences", D), ("tokens", D), ("tokens", D)], lambda x, mask, p: [act(x[0]), act(x), x])
