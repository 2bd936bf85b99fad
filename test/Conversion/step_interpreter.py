"""Evaluates functions of step and block operations in NumPy, operation by operation with the oracles.

The oracle of a phase between the import and linalg: what a pass left is run as it stands, with float64 all along, so
that a rewrite is compared with what it rewrote to the last digits.  It reads MLIR's generic form.
"""

import re

import numpy as np

from convbert import reference_ops

#: Operands by the oracles' names; an optional one that is missing is left out.
OPERANDS = {
    "dense": "x weight bias multiplier",
    "grouped_dense": "x weight bias",
    "activation": "x",
    "layer_norm": "x residual gamma beta",
    "embeddings": "ids token_types position_ids word position types gamma beta projection projection_bias",
    "pool": "x",
    "attention_bias": "mask",
    "depthwise_conv1d": "x weight",
    "separable_conv1d": "x depthwise pointwise bias",
    "mask_tokens": "x mask",
    "dynamic_kernel": "q weight bias span_key",
    "apply_kernel": "v taps mask",
    "span_dynamic_conv": "q span_key v weight bias mask",
    "scale_heads": "x scales",
    "self_attention": "q k v bias head_mask",
    "feed_forward": "x w1 b1 w2 b2",
    "mixed_attention": "x wq bq wk bk wv bv wd wp bp wf bf wc bc wo bo bias conv_mask head_mask",
    "lm_head": "x weight bias gamma beta decoder decoder_bias",
    "classifier_head": "x w1 b1 w2 b2",
    "token_head": "x weight bias",
    "span_head": "x weight bias",
    "choice_head": "x weight bias",
}
_OPERATION = re.compile(r'^ *(?:(%[\w, %:]+) = )?"([\w.]+)"\(([^)]*)\)(?: <\{(.*?)\}>)? : (.*)$')
_BLOCK = re.compile(r"^ *\^bb0\((.*)\):$")
_DYNAMIC = -(2**63)


def _value(text):
    """A number, name or list of numbers of an attribute."""
    if match := re.match(r"#convbert\.\w+<(\w+)>|#arith\.fastmath<(\w+)>", text):
        return match[1] or match[2]
    if match := re.match(r"array<i\d+: ([^>]*)>", text):
        return tuple(int(number) for number in match[1].split(","))
    if match := re.match(r"dense<([^>\[]*)> : tensor<([\dx]*)f\d+>", text):
        return np.full([int(extent) for extent in match[2].split("x")[:-1]], float(match[1]))
    number, _, kind = text.partition(" : ")
    return float(number) if kind.startswith("f") else int(number)


def _attributes(text):
    found = re.findall(r"(\w+) = ((?:#[\w.]+)?<\w+>|#[\w.]+<\w+>|\w+<[^>]*>(?: : tensor<\w+>)?|[^,]+)", text or "")
    # A unit attribute is its name alone.
    flags = {name: True for name in re.findall(r"(?:^|, )(with_\w+)", text or "")}
    return {name: _value(value) for name, value in found} | flags


def _slice(operands, attributes, result):
    """tensor.extract_slice; unit extents that the result lacks are dropped."""
    source, *dynamic = operands
    parts = []
    for name in ("static_offsets", "static_sizes", "static_strides"):
        parts.append([dynamic.pop(0) if number == _DYNAMIC else number for number in attributes[name]])
    found = source[tuple(slice(at, at + size * step, step) for at, size, step in zip(*parts))]
    return found.reshape(found.shape[:2] if result.count("x") == 2 and found.shape[-1] == 1 else found.shape)


def _evaluate(name, operands, attributes, result):
    dialect, _, op = name.partition(".")
    segments = attributes.pop("operandSegmentSizes", None)
    if dialect == "convbert":
        names = OPERANDS[op].split()
        if segments:
            names = [n for n, size in zip(names, segments) if size]
        elif op == "layer_norm" and len(operands) == 3:
            names.remove("residual")
        named = dict(zip(names, operands))
        if op == "activation":
            return reference_ops.ACTIVATIONS[attributes["kind"]](named["x"])
        return getattr(reference_ops, op)(**named, **attributes)
    if name == "arith.constant":
        return attributes["value"]
    if name == "arith.mulf":
        return operands[0] * operands[1]
    if name == "tensor.dim":
        return operands[0].shape[operands[1]]
    if name == "tensor.cast":
        return operands[0]
    if name == "tensor.concat":
        return np.concatenate(operands, axis=attributes["dim"])
    if name == "tensor.extract_slice":
        return _slice(operands, attributes, result)
    raise ValueError(f"requires an operation with an oracle, but found {name}")


def evaluate(text, function, *arrays):
    """Results, as a list, of a function of the module `text`, which is in generic form."""
    lines = iter(text.splitlines())
    for line in lines:
        if '"func.func"' in line and f'sym_name = "{function}"' in line:
            break
    values = dict(zip(re.findall(r"%\w+", _BLOCK.match(next(lines))[1]), arrays))
    for line in lines:
        targets, name, operands, attributes, types = _OPERATION.match(line).groups()
        operands = [values[operand] for operand in re.findall(r"%\w+(?:#\d+)?", operands)]
        if name == "func.return":
            return operands
        found = _evaluate(name, operands, _attributes(attributes), types.rpartition("-> ")[2])
        if isinstance(found, tuple):  # %0:2 is used as %0#0 and %0#1
            values.update({f"{targets.partition(':')[0]}#{i}": value for i, value in enumerate(found)})
        else:
            values[targets] = found
    raise ValueError(f"requires a function named {function}, but found none")
