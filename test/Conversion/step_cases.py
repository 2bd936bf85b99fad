"""Operations with their operands, attributes and oracles: what the numeric tests of single operations run through.

A shape is a string: "B T 6" is tensor<?x?x6xf32>; S is a length of keys of their own, W that of a convolution's result.  Attributes have the names and values of the oracles in
`convbert.reference_ops` and are printed in the dialect's form.
"""

import re
from dataclasses import dataclass, field

import numpy as np

from convbert import reference_ops as ops

#: The enumeration of an attribute; that of `kind` depends on the operation.
ENUMS = {"activation": "activation", "layout": "layout", "normalize": "norm", "summary": "pool", "edge": "edge",
         "head_map": "head_map", "gate": "activation", "aggregate": "aggregate"}


#: Activations that compute something.
ACTIVATIONS = ("gelu", "gelu_new", "relu", "silu", "tanh", "selu", "sigmoid", "gelu_10", "quick_gelu", "relu2", "relu6",
               "leaky_relu", "hardswish", "laplace", "mish", "sqrtsoftplus", "hard_sigmoid")


@dataclass
class Case:
    """One operation: `operands` are shapes by the oracle's names, in the order of the arguments."""

    name: str
    op: str
    operands: dict
    results: list
    attributes: dict = field(default_factory=dict)
    syntax: str = ""  # of the operands, without %; a list if empty

    def attribute(self, name, value):
        enum = {"activation": "activation", "pool": "pool"}[self.op] if name == "kind" else ENUMS.get(name)
        if enum:
            return f"{name} = #convbert.{enum}<{value}>"
        if value is True:
            return name
        if isinstance(value, tuple):
            return f"{name} = array<i64: {', '.join(map(str, value))}>"
        return f"{name} = {value:e} : f64" if isinstance(value, float) else f"{name} = {value} : i64"

    def tokens(self, length):
        """Tokens of a convolution's result for `length` tokens."""
        weight = self.operands.get("weight", self.operands.get("kernels")).split()
        depth = 2 if self.op == "depthwise_conv1d" else 3
        taps = int(weight[-1] if self.attributes.get("layout", "out_in") == "out_in" else weight[-depth])
        reach = (taps - 1) * self.attributes.get("dilation", 1)
        return (length + sum(self.attributes["pads"]) - reach - 1) // self.attributes.get("stride", 1) + 1

    def text(self, element, extent=lambda name, symbol: "?"):
        """A function of the case's name on tensors of `element`; extent("x", "T") is what the type of x says of T."""
        def known(name, symbol):
            if symbol == "W":
                length = extent(name, "T")
                return length if length == "?" else str(self.tokens(int(length)))
            return extent("k" if symbol == "S" else name, symbol)

        def typed(shape, name, element):
            extents = [known(name, e) if e in "BTSW" else e for e in shape.split()]
            return f"tensor<{'x'.join(extents)}x{element}>"

        integers = {"mask": "i1", "conv_mask": "i1", "ids": "i64", "token_types": "i32", "position_ids": "i64"}
        if "word" not in self.operands:
            integers.pop("ids")  # vectors in their place
        types = {name: typed(shape, name, integers.get(name, element)) for name, shape in self.operands.items()}
        # Batch and length of a result are those of the first operand.
        returned = ", ".join(typed(shape, next(iter(types)), "f32" if self.op == "attention_bias" else element)
                             for shape in self.results)
        syntax = re.sub(r"\b(\w+)\b(?!\()", lambda match: "%" * (match[1] in types) + match[1],
                        self.syntax or ", ".join(types))
        attributes = ", ".join(self.attribute(*item) for item in self.attributes.items())
        alone = self.op in ("activation", "normalize_taps", "softmax")  # operand and result are of one type
        signature = next(iter(types.values())) if alone else f"({', '.join(types.values())}) -> ({returned})"
        values = ", ".join(f"%r#{i}" for i in range(len(self.results)))
        return (f"func.func @{self.name}({', '.join(f'%{n}: {t}' for n, t in types.items())}) -> ({returned}) {{\n"
                f"  %r:{len(self.results)} = convbert.{self.op} {syntax} {{{attributes}}} : {signature}\n"
                f"  return {values} : {returned}\n}}\n")

    def inputs(self, batch, length, dtype, seed=0):
        """Random arrays of the operands: activations near 1, weights that keep them there."""
        rng = np.random.default_rng(seed)
        arrays = {}
        for name, shape in self.operands.items():
            extents = [{"B": batch, "T": length, "S": 2 * length + 1}.get(e) or int(e) for e in shape.split()]
            table = {"ids": "word", "token_types": "types", "position_ids": "position"}.get(name)
            if table in self.operands:
                rows = int(self.operands[table].split()[0])
                arrays[name] = rng.integers(rows, size=extents, dtype=np.int32 if name == "token_types" else np.int64)
            elif name in ("mask", "conv_mask", "bias") and set(shape.split()) <= {"B", "T", "S"}:  # no bias of weights
                mask = rng.random(extents) < 0.6
                mask[-1] = False  # every key of the last sequence
                arrays[name] = ops.attention_bias(mask, dtype) if name == "bias" else mask
            else:
                fan = 1 if "B" in shape or len(extents) == 1 else extents[-1]
                arrays[name] = (rng.standard_normal(extents) / np.sqrt(fan)).astype(dtype)
                if name == "variance":
                    arrays[name] = np.abs(arrays[name])
        return arrays

    def oracle(self, arrays):
        """Results as a list, computed in the type of the arrays."""
        name = "activation" if self.op == "activation" else self.op
        if name == "activation":
            found = ops.ACTIVATIONS[self.attributes["kind"]](arrays["x"])
        else:
            several = [array for key, array in arrays.items() if re.fullmatch(r"[ul]\d", key)]  # branches and logits
            named = {key: array for key, array in arrays.items() if not re.fullmatch(r"[ul]\d", key)}
            found = getattr(ops, name)(*several, **named, **self.attributes)
        return list(found) if isinstance(found, tuple) else [found]


def mixed(name, width, head, conv, size, taps, bias=True, layout="out_in", out=None, query=None, span=None,
          shared=False, conv_mask=False, head_mask=False, **attributes):
    """Mixed attention on `width` features with `head` attention and `conv` convolution heads of `size` features.

    query, span: slices of the query and of the span-aware key, where they are not as many as heads.  shared: one value
    for both branches.
    """
    attn, values, out = head * size, conv * size, out or width
    query, span = (query or max(head, conv)) * size, (span or conv) * size

    def weight(rows, columns):
        return f"{rows} {columns}" if layout == "out_in" else f"{columns} {rows}"

    def layer(letter, rows):
        return {f"w{letter}": weight(rows, width), f"b{letter}": f"{rows}"}

    operands = {"x": f"B T {width}", **layer("q", query)}
    syntax = "x query(wq, bq)"
    if head:
        operands |= layer("k", attn) | layer("v", attn)
        syntax += " key(wk, bk) value(wv, bv)"
    if conv:
        operands |= {"wd": weight(width, taps), **layer("p", span), "wf": weight(conv * taps, span),
                     "bf": f"{conv * taps}"}
        syntax += " span(wd, wp, bp) kernel(wf, bf)"
    if conv and not shared:
        operands |= layer("c", values)
        syntax += " conv(wc, bc)"
    operands |= {"wo": weight(out, attn + values), "bo": f"{out}"}
    syntax += " output(wo, bo)"
    for present, operand, shape in ((bias, "bias", "B T"), (conv_mask, "conv_mask", "B T"),
                                    (head_mask, "head_mask", f"{head + conv}")):
        if present:
            operands[operand] = shape
            syntax += f" {operand}({operand})"
    results = [f"B T {out}"]
    if attributes.get("with_probabilities"):
        results.append(f"B {head} T T")
    if attributes.get("with_kernels"):
        results.append(f"B T {conv} {taps}")
    sizes = {"attn_heads": head, "conv_heads": conv, "head_size": size, "layout": layout}
    return Case(name, "mixed_attention", operands, results, sizes | attributes, syntax)


X7, X12 = "B T 7", "B T 12"
EMBEDDINGS = {"ids": "B T", "token_types": "B T", "position_ids": "B T", "word": "11 6", "position": "9 6",
              "types": "2 6", "gamma": "6", "beta": "6"}
VECTORS = {"ids": "B T 6", **{name: shape for name, shape in EMBEDDINGS.items() if name not in ("ids", "word")}}
TABLES = "ids, token_types, position_ids tables(word, position, types) norm(gamma, beta)"

STEPS = [
    Case("dense", "dense", {"x": X7, "weight": "5 7", "bias": "5"}, ["B T 5"]),
    Case("dense_plain", "dense", {"x": X7, "weight": "1 7"}, ["B T 1"]),
    Case("dense_in_out", "dense", {"x": X7, "weight": "7 5", "bias": "5"}, ["B T 5"],
         {"layout": "in_out", "activation": "gelu"}),
    Case("dense_times", "dense", {"x": X7, "weight": "5 7", "bias": "5", "multiplier": "B T 5"}, ["B T 5"],
         {"activation": "tanh"}, "x, weight, bias times multiplier"),
    Case("dense_pooled", "dense", {"x": "B 7", "weight": "3 7", "bias": "3", "multiplier": "B 3"}, ["B 3"], {},
         "x, weight, bias times multiplier"),
    Case("grouped", "grouped_dense", {"x": X12, "weight": "3 4 5", "bias": "15"}, ["B T 15"], {"activation": "silu"}),
    Case("grouped_plain", "grouped_dense", {"x": X12, "weight": "1 12 2"}, ["B T 2"]),
    Case("grouped_pooled", "grouped_dense", {"x": "B 12", "weight": "4 3 2", "bias": "8"}, ["B 8"]),
    *(Case(f"activation_{kind}", "activation", {"x": X7}, [X7], {"kind": kind})
      for kind in ("identity", *ACTIVATIONS)),
    Case("activation_pooled", "activation", {"x": "B 7"}, ["B 7"], {"kind": "gelu"}),
    Case("norm", "layer_norm", {"x": X7, "gamma": "7", "beta": "7"}, [X7], {"eps": 1e-12}),
    Case("norm_residual", "layer_norm", {"x": X12, "residual": X12, "gamma": "12", "beta": "12"}, [X12], {"eps": 1e-5},
         "x residual(residual), gamma, beta"),
    Case("norm_pooled", "layer_norm", {"x": "B 7", "gamma": "7", "beta": "7"}, ["B 7"], {"eps": 1e-12}),
    Case("norm_of_one", "layer_norm", {"x": "B T 1", "gamma": "1", "beta": "1"}, ["B T 1"], {"eps": 1e-3}),
    Case("embeddings", "embeddings", EMBEDDINGS, ["B T 6"], {"eps": 1e-12}, TABLES),
    Case("embedded_vectors", "embeddings", VECTORS, ["B T 6"], {"eps": 1e-12}, TABLES.replace("word, ", "")),
    *(Case(f"pool_{kind}", "pool", {"x": X7}, ["B 7"], {"kind": kind}) for kind in ("first", "last", "mean")),
    Case("attention_bias", "attention_bias", {"mask": "B T"}, ["B T"]),
    Case("masked_tokens", "mask_tokens", {"x": X7, "mask": "B T"}, [X7]),
    Case("depthwise", "depthwise_conv1d", {"x": X7, "weight": "7 5"}, [X7], {"pads": (2, 2)}),
    Case("depthwise_causal", "depthwise_conv1d", {"x": X7, "weight": "4 7"}, [X7],
         {"pads": (3, 0), "layout": "in_out"}),
    Case("depthwise_ahead", "depthwise_conv1d", {"x": "B T 1", "weight": "1 2"}, ["B T 1"], {"pads": (0, 1)}),
    Case("depthwise_of_one", "depthwise_conv1d", {"x": X7, "weight": "7 1"}, [X7], {"pads": (0, 0)}),
    Case("depthwise_bias", "depthwise_conv1d", {"x": X7, "weight": "7 5", "bias": "7"}, [X7], {"pads": (1, 3)}),
    Case("depthwise_filters", "depthwise_conv1d", {"x": X7, "weight": "21 3"}, ["B W 21"],
         {"pads": (6, 1), "stride": 2, "dilation": 3}),
    Case("depthwise_filters_in_out", "depthwise_conv1d", {"x": X7, "weight": "4 14", "bias": "14"}, ["B W 14"],
         {"pads": (3, 3), "layout": "in_out"}),
    Case("conv", "conv1d", {"x": X7, "weight": "5 7 3", "bias": "5"}, ["B T 5"], {"pads": (1, 1)}),
    Case("conv_groups", "conv1d", {"x": X12, "weight": "6 4 5", "bias": "6"}, ["B T 6"], {"pads": (4, 0), "groups": 3}),
    Case("conv_strided", "conv1d", {"x": X12, "weight": "9 4 6"}, ["B W 6"],
         {"pads": (9, 7), "stride": 3, "dilation": 2, "groups": 3, "layout": "in_out"}),
    Case("conv_of_one", "conv1d", {"x": X7, "weight": "5 7 1", "bias": "5"}, ["B T 5"], {"pads": (0, 0)}),
    Case("conv_of_one_in_out", "conv1d", {"x": X7, "weight": "1 7 5"}, ["B T 5"], {"pads": (0, 0), "layout": "in_out"}),
    Case("conv_depthwise", "conv1d", {"x": X7, "weight": "14 1 3", "bias": "14"}, ["B W 14"],
         {"pads": (3, 1), "stride": 2, "groups": 7}),
    Case("conv_depthwise_in_out", "conv1d", {"x": X7, "weight": "2 1 7"}, ["B T 7"],
         {"pads": (0, 1), "groups": 7, "layout": "in_out"}),
    Case("conv_sequences", "conv1d", {"x": X7, "weight": "B 5 7 3", "bias": "B 5"}, ["B T 5"], {"pads": (1, 1)}),
    Case("conv_sequences_in_out", "conv1d", {"x": X12, "weight": "B 3 6 4"}, ["B W 4"],
         {"pads": (2, 2), "stride": 2, "dilation": 2, "groups": 2, "layout": "in_out"}),
    Case("softmax", "softmax", {"x": "B 7"}, ["B 7"], {"temperature": 0.25}),
    Case("softmax_tokens", "softmax", {"x": X7}, [X7], {"temperature": 1.0}),
    Case("weighted_sum", "weighted_sum", {"x": X12, "weights": "B 3"}, ["B T 4"]),
    Case("kernel", "dynamic_kernel", {"q": X7, "weight": "15 7", "bias": "15"}, ["B T 3 5"],
         {"heads": 3, "normalize": "softmax"}),
    Case("kernel_span", "dynamic_kernel", {"q": X7, "weight": "15 7", "bias": "15", "span_key": X7}, ["B T 3 5"],
         {"heads": 3, "normalize": "softmax"}, "q, weight, bias span(span_key)"),
    Case("kernel_span_plain", "dynamic_kernel", {"q": X7, "weight": "7 6", "span_key": X7}, ["B T 2 3"],
         {"heads": 2, "normalize": "none", "layout": "in_out"}, "q, weight span(span_key)"),
    Case("kernel_logits", "dynamic_kernel", {"q": X7, "weight": "7 4"}, ["B T 4 1"],
         {"heads": 4, "normalize": "none", "layout": "in_out"}),
    Case("apply", "apply_kernel", {"v": X12, "taps": "B T 3 5"}, [X12], {"pads": (2, 2), "normalize": "none"}),
    Case("apply_softmax", "apply_kernel", {"v": X12, "taps": "B T 12 9"}, [X12],
         {"pads": (4, 4), "normalize": "softmax"}),
    Case("apply_causal", "apply_kernel", {"v": X7, "taps": "B T 1 4"}, [X7], {"pads": (3, 0), "normalize": "softmax"}),
    Case("apply_of_one", "apply_kernel", {"v": X7, "taps": "B T 7 1"}, [X7], {"pads": (0, 0), "normalize": "none"}),
    Case("apply_with_taps", "apply_kernel", {"v": X12, "taps": "B T 3 5"}, [X12, "B T 3 5"],
         {"pads": (2, 2), "normalize": "softmax", "with_taps": True}),
    Case("apply_masked", "apply_kernel", {"v": X12, "taps": "B T 3 5", "mask": "B T"}, [X12],
         {"pads": (4, 0), "normalize": "softmax"}, "v, taps mask(mask)"),
    Case("kernel_renorm", "dynamic_kernel", {"q": X7, "weight": "15 7", "bias": "15", "span_key": X7}, ["B T 3 5"],
         {"heads": 3, "normalize": "softmax", "edge": "renorm", "pads": (6, 2), "dilation": 2},
         "q, weight, bias span(span_key)"),
    Case("apply_interleaved", "apply_kernel", {"v": X12, "taps": "B T 3 5"}, [X12],
         {"pads": (2, 2), "normalize": "none", "head_map": "interleaved"}),
    Case("apply_dilated", "apply_kernel", {"v": X12, "taps": "B T 4 2"}, [X12],
         {"pads": (3, 0), "dilation": 3, "normalize": "softmax"}),
    Case("apply_renorm_with_taps", "apply_kernel", {"v": X12, "taps": "B T 3 5"}, [X12, "B T 3 5"],
         {"pads": (4, 4), "dilation": 2, "normalize": "softmax", "with_taps": True, "edge": "renorm",
          "head_map": "interleaved"}),
    Case("light_raw", "light_conv", {"x": X12, "weight": "3 5", "bias": "12"}, [X12],
         {"pads": (2, 2), "normalize": "none"}),
    Case("light_raw_interleaved", "light_conv", {"x": X12, "weight": "4 3"}, [X12],
         {"pads": (4, 0), "dilation": 2, "normalize": "none", "head_map": "interleaved"}),
    Case("light_renorm", "light_conv", {"x": X12, "weight": "3 5", "bias": "12"}, [X12],
         {"pads": (1, 3), "edge": "renorm"}),
    Case("light_renorm_interleaved", "light_conv", {"x": X7, "weight": "7 9"}, [X7],
         {"pads": (16, 0), "dilation": 2, "edge": "renorm", "head_map": "interleaved"}),
    Case("biased", "add_bias", {"x": X7, "bias": "7"}, [X7]),
    Case("biased_pooled", "add_bias", {"x": "B 7", "bias": "7"}, ["B 7"]),
    Case("pool_masked", "pool", {"x": X7, "mask": "B T"}, ["B 7"], {"kind": "mean"}, "x mask(mask)"),
    Case("scaled_channels", "scale_channels", {"x": X7, "gate": "B 7"}, [X7]),
    Case("selected", "select_branches", {"u0": X7, "u1": X7, "u2": X7, "l0": "B 7", "l1": "B 7", "l2": "B 7"}, [X7], {},
         "u0, u1, u2 by(l0, l1, l2)"),
    Case("selected_of_one", "select_branches", {"u0": X7, "l0": "B 7"}, [X7], {}, "u0 by(l0)"),
    Case("scaled_heads", "scale_heads", {"x": X12, "scales": "3"}, [X12]),
    Case("scaled_heads_pooled", "scale_heads", {"x": "B 12", "scales": "12"}, ["B 12"]),
    Case("attention", "self_attention", {"q": X12, "k": X12, "v": X12}, [X12], {"heads": 4, "scale": 1.0}),
    Case("attention_masked", "self_attention", {"q": X12, "k": X12, "v": X12, "bias": "B T"}, [X12],
         {"heads": 3, "scale": 0.5}, "q, k, v bias(bias)"),
    Case("attention_odd", "self_attention", {"q": "B T 15", "k": "B T 15", "v": "B T 10", "bias": "B T"}, ["B T 10"],
         {"heads": 5, "scale": 0.57}, "q, k, v bias(bias)"),
    Case("attention_head_mask", "self_attention", {"q": X12, "k": X12, "v": X12, "head_mask": "4"}, [X12],
         {"heads": 4, "scale": 0.5}, "q, k, v head_mask(head_mask)"),
    Case("attention_probabilities", "self_attention",
         {"q": X12, "k": "B S 12", "v": "B S 6", "bias": "B S", "head_mask": "3"}, ["B T 6", "B 3 T S"],
         {"heads": 3, "scale": 0.5, "with_probabilities": True}, "q, k, v bias(bias) head_mask(head_mask)"),
    Case("attention_other_keys", "self_attention", {"q": X12, "k": "B S 12", "v": "B S 12"}, [X12],
         {"heads": 2, "scale": 0.4}),
    Case("attention_wide_query", "self_attention", {"q": "B T 15", "k": "B T 9", "v": "B T 6"}, ["B T 6"],
         {"heads": 3, "scale": 0.6, "query_heads": (4, 1, 2)}),
]

BLOCKS = [
    Case("projected", "embeddings", {**EMBEDDINGS, "projection": "8 6", "projection_bias": "8"}, ["B T 8"],
         {"eps": 1e-12}, TABLES + " project(projection, projection_bias)"),
    Case("separable", "separable_conv1d", {"x": X7, "depthwise": "7 3", "pointwise": "5 7", "bias": "5"}, ["B T 5"],
         {"pads": (1, 1)}),
    Case("separable_in_out", "separable_conv1d", {"x": X7, "depthwise": "9 7", "pointwise": "7 4"}, ["B T 4"],
         {"pads": (8, 0), "layout": "in_out"}),
    Case("separable_dilated", "separable_conv1d", {"x": X7, "depthwise": "7 3", "pointwise": "5 7"}, ["B T 5"],
         {"pads": (3, 5), "dilation": 4}),
    Case("batch_norm", "batch_norm", {"x": X7, "mean": "7", "variance": "7", "gamma": "7", "beta": "7"}, [X7],
         {"eps": 0.1}),
    *(Case(f"kernel_attention_{form}", "kernel_attention_conv",
           {"x": X7, "f1": "3 7", "b1": "3", "f2": "4 3", "b2": "4", "kernels": "4 5 7 3", "biases": "4 5"}, ["B W 5"],
           {"pads": (4, 2), "stride": 2, "dilation": 2, "temperature": 0.5, "aggregate": form},
           "x squeeze(f1, b1) excite(f2, b2) kernels(kernels, biases)") for form in ("auto", "kernels", "outputs")),
    *(Case(f"kernel_attention_{form}_in_out", "kernel_attention_conv",
           {"x": X7, "f1": "7 2", "f2": "2 3", "kernels": "3 5 7 4"}, ["B T 4"],
           {"pads": (4, 0), "aggregate": form, "layout": "in_out"},
           "x squeeze(f1) excite(f2) kernels(kernels)") for form in ("kernels", "outputs")),
    Case("kernel_attention_of_one", "kernel_attention_conv",
         {"x": X7, "f1": "2 7", "f2": "1 2", "kernels": "1 5 7 3", "biases": "1 5"}, ["B T 5"], {"pads": (1, 1)},
         "x squeeze(f1) excite(f2) kernels(kernels, biases)"),
    Case("span", "span_dynamic_conv", {"q": X12, "span_key": X12, "v": X12, "weight": "27 12", "bias": "27"}, [X12],
         {"heads": 3, "pads": (4, 4)}),
    Case("span_in_out", "span_dynamic_conv", {"q": X7, "span_key": X7, "v": "B T 10", "weight": "7 15"}, ["B T 10"],
         {"heads": 5, "pads": (2, 0), "layout": "in_out"}),
    Case("span_masked", "span_dynamic_conv",
         {"q": X12, "span_key": X12, "v": "B T 6", "weight": "9 12", "bias": "9", "mask": "B T"}, ["B T 6"],
         {"heads": 3, "pads": (1, 1)}, "q, span_key, v, weight, bias mask(mask)"),
    Case("span_renorm", "span_dynamic_conv",
         {"q": X7, "span_key": X7, "v": X12, "weight": "7 12", "mask": "B T"}, [X12],
         {"heads": 4, "pads": (2, 2), "dilation": 2, "edge": "renorm", "head_map": "interleaved", "layout": "in_out"},
         "q, span_key, v, weight mask(mask)"),
    Case("light", "light_conv", {"x": X12, "weight": "3 5", "bias": "12"}, [X12], {"pads": (2, 2)}),
    Case("light_causal", "light_conv", {"x": X12, "weight": "4 4"}, [X12],
         {"pads": (3, 0), "head_map": "interleaved"}),
    Case("dynamic", "dynamic_conv", {"x": X12, "weight": "15 12", "bias": "15"}, [X12], {"heads": 3, "pads": (2, 2)}),
    Case("dynamic_of_query", "dynamic_conv",
         {"x": X12, "weight": "7 12", "bias": "12", "query": X7, "channel_bias": "12"}, [X12],
         {"heads": 4, "pads": (4, 0), "dilation": 2, "edge": "renorm", "head_map": "interleaved", "layout": "in_out"},
         "x, weight, bias query(query) channel_bias(channel_bias)"),
    Case("dynamic_raw", "dynamic_conv", {"x": X12, "weight": "24 12", "channel_bias": "12"}, [X12],
         {"heads": 12, "pads": (1, 0), "normalize": "none"}, "x, weight channel_bias(channel_bias)"),
    Case("gated", "squeeze_excite", {"x": X7, "w1": "3 7", "b1": "3", "w2": "7 3", "b2": "7"}, [X7],
         {"gate": "sigmoid"}, "x squeeze(w1, b1) excite(w2, b2)"),
    Case("gated_masked", "squeeze_excite", {"x": X7, "w1": "7 3", "w2": "3 7", "mask": "B T"}, [X7],
         {"gate": "hard_sigmoid", "layout": "in_out"}, "x squeeze(w1) excite(w2) mask(mask)"),
    Case("selective", "selective_kernel",
         {"u0": X7, "u1": X7, "wz": "3 7", "scale": "3", "shift": "3", "a": "2 3 7"}, [X7], {},
         "u0, u1 squeeze(wz) scale(scale) shift(shift) select(a)"),
    Case("selective_of_three", "selective_kernel",
         {"u0": X7, "u1": X7, "u2": X7, "wz": "7 3", "shift": "3", "a": "3 3 7"}, [X7], {"layout": "in_out"},
         "u0, u1, u2 squeeze(wz) shift(shift) select(a)"),
    Case("selective_plain", "selective_kernel", {"u0": X7, "u1": X7, "wz": "1 7", "scale": "1", "a": "2 1 7"}, [X7], {},
         "u0, u1 squeeze(wz) scale(scale) select(a)"),
    mixed("mixed", 12, 3, 3, 2, 9),
    mixed("mixed_plain", 12, 3, 0, 4, 0),
    mixed("mixed_conv_alone", 12, 0, 2, 4, 3, bias=False),
    mixed("mixed_shared", 12, 3, 3, 2, 3, shared=True),
    mixed("mixed_more_attention", 12, 4, 2, 3, 5),
    mixed("mixed_more_convolution", 12, 1, 3, 3, 5, layout="in_out"),
    mixed("mixed_pruned", 12, 2, 1, 2, 9, query=4, span=4, query_heads=(3, 1)),
    mixed("mixed_span_run", 12, 2, 2, 2, 3, query=4, query_heads=(0, 2), span_query_heads=(2, 3)),
    mixed("mixed_span_gather", 12, 1, 3, 2, 3, query=4, span=2, span_query_heads=(3, 1), layout="in_out"),
    mixed("mixed_masks", 12, 2, 3, 2, 5, conv_mask=True, head_mask=True),
    mixed("mixed_maps", 12, 3, 2, 2, 5, conv_mask=True, head_mask=True, with_probabilities=True, with_kernels=True),
    mixed("mixed_kernels", 12, 3, 2, 2, 5, layout="in_out", with_kernels=True),
    mixed("mixed_unmasked", 10, 1, 1, 5, 3, bias=False),
    mixed("mixed_in_out", 9, 5, 5, 3, 5, layout="in_out", out=7),
    Case("ffn", "feed_forward", {"x": X7, "w1": "13 7", "b1": "13", "w2": "7 13", "b2": "7"}, [X7],
         {"activation": "gelu"}),
    Case("ffn_grouped", "feed_forward", {"x": X12, "w1": "3 4 6", "b1": "18", "w2": "3 6 4", "b2": "12"}, [X12],
         {"activation": "gelu_new"}),
    Case("lm", "lm_head", {"x": X7, "weight": "5 7", "bias": "5", "gamma": "5", "beta": "5", "decoder": "11 5",
                           "decoder_bias": "11"}, ["B T 11"], {"eps": 1e-12}),
    Case("classifier", "classifier_head", {"x": X7, "w1": "7 7", "b1": "7", "w2": "3 7", "b2": "3"}, ["B 3"],
         {"activation": "relu"}),
    Case("token", "token_head", {"x": X7, "weight": "3 7", "bias": "3"}, ["B T 3"]),
    Case("answer", "span_head", {"x": X7, "weight": "2 7", "bias": "2"}, ["B T", "B T"]),
    *(Case(f"choice_{kind}", "choice_head", {"x": X7, "weight": "1 7", "bias": "1"}, ["B 1"], {"summary": kind})
      for kind in ("first", "last", "mean")),
]
