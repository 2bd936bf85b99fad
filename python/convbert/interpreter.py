"""Evaluates functions of step and block operations in NumPy, operation by operation with the oracles.

The oracle of a phase between the import and linalg: what a pass left is run as it stands, so that a rewrite is compared
with what it rewrote to the last digits, and compiled code with what it was compiled from.  It reads MLIR's generic form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import reference_ops

Array = npt.NDArray[Any]

#: Operands by the oracles' names; an optional one that is missing is left out.
OPERANDS = {
    "dense": "x weight bias multiplier",
    "grouped_dense": "x weight bias",
    "activation": "x",
    "layer_norm": "x residual gamma beta",
    "embeddings": "ids token_types position_ids word position types gamma beta projection projection_bias",
    "pool": "x mask",
    "attention_bias": "mask",
    "conv1d": "x weight bias",
    "depthwise_conv1d": "x weight bias",
    "separable_conv1d": "x depthwise pointwise bias",
    "batch_norm": "x mean variance gamma beta",
    "softmax": "x",
    "weighted_sum": "x weights",
    "kernel_attention_conv": "x f1 b1 f2 b2 kernels biases",
    "mask_tokens": "x mask",
    "dynamic_kernel": "q weight bias span_key",
    "apply_kernel": "v taps mask",
    "span_dynamic_conv": "q span_key v weight bias mask",
    "normalize_taps": "logits",
    "light_conv": "x weight bias",
    "dynamic_conv": "x weight bias query channel_bias",
    "add_bias": "x bias",
    "scale_channels": "x gate",
    "select_branches": "branches logits",
    "squeeze_excite": "x w1 b1 w2 b2 mask",
    "selective_kernel": "branches wz scale shift a",
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
_ELEMENTWISE = {"arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply, "arith.divf": np.divide,
                "math.sqrt": np.sqrt}
_OPERATION = re.compile(r'^ *(?:(%[\w, %:]+) = )?"([\w.]+)"\(([^)]*)\)(?: <\{(.*?)\}>)?(?: \(\{)? ?:? ?(.*)$')
_GLOBAL = re.compile(r"global = @(?:\"([^\"]*)\"|([\w.$-]+))")
_BLOCK = re.compile(r"^ *\^bb0\((.*)\):$")
_DYNAMIC = -(2**63)


def _value(text: str) -> Any:
    """A number, name or list of numbers of an attribute."""
    if match := re.match(r"#convbert\.\w+<(\w+)>|#arith\.fastmath<(\w+)>", text):
        return match[1] or match[2]
    if match := re.match(r"array<i\d+: ([^>]*)>", text):
        return tuple(int(number) for number in match[1].split(","))
    if match := re.match(r"dense<([^>\[]*)> : tensor<([\dx]*)f\d+>", text):
        return np.full([int(extent) for extent in match[2].split("x")[:-1]], float(match[1]))
    number, _, kind = text.partition(" : ")
    return float(number) if kind.startswith("f") else int(number)


def _attributes(text: str | None) -> dict[str, Any]:
    found = re.findall(r"(\w+) = ((?:#[\w.]+)?<\w+>|#[\w.]+<\w+>|\w+<[^>]*>(?: : tensor<\w+>)?|[^,]+)", text or "")
    # A unit attribute is its name alone.
    flags = {name: True for name in re.findall(r"(?:^|, )(with_\w+)", text or "")}
    return {name: _value(value) for name, value in found} | flags


def _extents(result: str) -> list[int | None]:
    """Extents of a tensor type; None for those that it leaves open."""
    return [None if extent == "?" else int(extent) for extent in re.findall(r"(\d+|\?)x", result)]


def _reshape(source: Array, result: str) -> Array:
    """tensor.collapse_shape and expand_shape: open extents are batch and length, which stay."""
    return source.reshape([source.shape[i] if extent is None else extent for i, extent in enumerate(_extents(result))])


def _slice(operands: list[Any], attributes: dict[str, Any], result: str) -> Array:
    """tensor.extract_slice; a unit extent that the result lacks is dropped."""
    source, *dynamic = operands
    parts = []
    for name in ("static_offsets", "static_sizes", "static_strides"):
        parts.append([dynamic.pop(0) if number == _DYNAMIC else number for number in attributes[name]])
    found = source[tuple(slice(at, at + size * step, step) for at, size, step in zip(*parts))]
    wanted = _extents(result)
    for axis in reversed(range(found.ndim if found.ndim > len(wanted) else 0)):
        left = np.delete(found.shape, axis)
        if found.shape[axis] == 1 and all(w in (None, extent) for w, extent in zip(wanted, left)):
            return found.reshape(left)
    return found


def _evaluate(name: str, operands: list[Any], attributes: dict[str, Any], result: str) -> Any:
    dialect, _, op = name.partition(".")
    segments = attributes.pop("operandSegmentSizes", None)
    if dialect == "convbert":
        names = OPERANDS[op].split()
        if names[0] == "branches":  # as many as there are
            found, function = operands[segments[0]:], getattr(reference_ops, op)
            if op == "select_branches":
                return function(*operands)
            named = dict(zip([n for n, size in zip(names[1:], segments[1:]) if size], found))
            return function(*operands[:segments[0]], **named, **attributes)
        if segments:
            names = [n for n, size in zip(names, segments) if size]
        elif op == "layer_norm" and len(operands) == 3:
            names.remove("residual")
        named = dict(zip(names, operands))
        if op == "activation":
            activation: Any = reference_ops.ACTIVATIONS[attributes["kind"]]
            return activation(named["x"])
        return getattr(reference_ops, op)(**named, **attributes)
    if name == "arith.constant":
        return attributes["value"]
    if name in _ELEMENTWISE:
        return _ELEMENTWISE[name](*operands)
    if name == "arith.extf":
        return operands[0]
    if name in ("tensor.collapse_shape", "tensor.expand_shape"):
        return _reshape(operands[0], result)
    if name == "tensor.empty":
        return None
    if name == "linalg.transpose":
        return operands[0].transpose(attributes["permutation"])
    if name == "linalg.broadcast":
        shape = [int(extent) for extent in re.findall(r"(\d+)x", result)]
        return np.broadcast_to(np.expand_dims(operands[0], attributes["dimensions"]), shape)
    if name == "linalg.reduce":  # the one that rewrites build: a sum
        return operands[0].sum(axis=attributes["dimensions"])
    if name == "tensor.dim":
        return operands[0].shape[operands[1]]
    if name == "tensor.cast":
        return operands[0]
    if name == "tensor.concat":
        return np.concatenate(operands, axis=attributes["dim"])
    if name == "tensor.extract_slice":
        return _slice(operands, attributes, result)
    raise ValueError(f"requires an operation with an oracle, but found {name}")


@dataclass
class Statement:
    """One operation: what it defines, its name, what it reads, its attributes and the types of its results as text."""

    targets: list[str]
    name: str
    operands: list[str]
    attributes: str | None
    types: str


class Program:
    """A function of a module, which is in generic form."""

    def __init__(self, text: str, function: str) -> None:
        lines = iter(text.splitlines())
        for line in lines:
            if '"func.func"' in line and f'sym_name = "{function}"' in line:
                break
        else:
            raise ValueError(f"requires a function named {function}, but found none")
        block = _BLOCK.match(next(lines))
        #: Names of the arguments.
        self.arguments: list[str] = re.findall(r"%\w+", block[1]) if block else []
        #: The operations in order, without the last.
        self.statements: list[Statement] = []
        #: Names of the results.
        self.results: list[str] = []
        for statement in _statements(lines):
            if statement.name == "func.return":
                self.results = statement.operands
                return
            self.statements.append(statement)

    def run(self, arrays: list[Any], parameters: Mapping[str, Array] | None = None, dtype: Any = None,
            given: Mapping[str, Array] | None = None, stored: Any = None) -> dict[str, Any]:
        """All values by name, the arguments being `arrays`.

        parameters: contents of the globals. dtype: what floating-point values are rounded to; None: as they come.
        given: values that operations read instead of the computed ones. stored: what parameters and values computed of
        them alone are rounded to; None: dtype.
        """
        def rounded(value: Any, dtype: Any = dtype) -> Any:
            is_float = isinstance(value, np.ndarray) and value.dtype.kind == "f"
            return value.astype(dtype, copy=False) if dtype is not None and is_float else value

        constants: set[str] = set()
        values: dict[str, Any] = dict(zip(self.arguments, map(rounded, arrays)))
        seen = {name: rounded(value) for name, value in (given or {}).items()}
        for statement in self.statements:
            if statement.name == "ml_program.global_load_const":
                match = _GLOBAL.search(statement.attributes or "")
                found: Any = (parameters or {})[match[1] or match[2]] if match else None
            else:
                operands = [seen[name] if name in seen else values[name] for name in statement.operands]
                # The shape of a result says how it was reshaped.
                attributes = {} if statement.name.endswith("_shape") else _attributes(statement.attributes)
                found = _evaluate(statement.name, operands, attributes, statement.types.rpartition("-> ")[2])
            results = found if isinstance(found, tuple) else (found,)
            is_constant = constants.issuperset(statement.operands)
            if is_constant:
                constants.update(statement.targets)
            kind = stored if is_constant and stored is not None else dtype
            values.update(zip(statement.targets, (rounded(value, kind) for value in results)))
        return values


def _statements(lines: Iterator[str]) -> Iterator[Statement]:
    for line in lines:
        match = _OPERATION.match(line)
        if not match:
            continue
        targets, name, operands, attributes, types = match.groups()
        if line.endswith("({"):  # a region: its operations are those of the named form
            for line in lines:
                if line.strip().startswith("})"):
                    types = line.partition(" : ")[2]
                    break
        base, _, count = (targets or "").partition(":")
        yield Statement([f"{base}#{i}" for i in range(int(count))] if count else [base] * bool(base), name,
                        re.findall(r"%\w+(?:#\d+)?", operands), attributes, types)


def evaluate(text: str, function: str, *arrays: Any) -> list[Any]:
    """Results, as a list, of a function of the module `text`, which is in generic form."""
    program = Program(text, function)
    values = program.run(list(arrays))
    return [values[name] for name in program.results]
