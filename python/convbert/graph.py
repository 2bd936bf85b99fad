"""Functions of the dialect in Python: values, the operations that make them, and their text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .arrays import describe_shape
from .errors import shown
from .ir_text import BATCH, LENGTH, TensorType, attribute, describe_extents, escaped, symbol

if TYPE_CHECKING:
    from .function import Function


class Value:
    """What an operation reads or makes, in the graph that it belongs to."""

    def __init__(self, graph: Graph, name: str, type: TensorType) -> None:
        self.graph = graph
        self.name = name
        self.type = type

    @property
    def shape(self) -> tuple[int | str, ...]:
        """Extents: numbers, "B" for sequences, "T" for tokens."""
        return self.type.shape

    @property
    def features(self) -> int:
        """The last extent."""
        size = self.shape[-1]
        if not isinstance(size, int):
            raise ValueError(f"requires a value with features, but found the shape {describe_extents(self.shape)}")
        return size

    def __add__(self, other: Value) -> Value:
        return self.graph.elementwise("addf", self, other)

    def __sub__(self, other: Value) -> Value:
        return self.graph.elementwise("subf", self, other)

    def __mul__(self, other: Value) -> Value:
        return self.graph.elementwise("mulf", self, other)

    def __repr__(self) -> str:
        return f"<{self.name.lstrip('%')}: {describe_extents(self.shape)} of {self.graph.name}>"


#: The operands that a form shows: $name, in [brackets] what is there only with its operand.
_PIECE = re.compile(r"\[([^$\]]*)\$(\w+)([^\]]*)\]|\$(\w+)")


class Graph:
    """A function under construction: inputs, parameters by name, operations, outputs."""

    def __init__(self, name: str = "forward") -> None:
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise ValueError(f"name: requires a letter, then letters, digits and _, but found {shown(name)}")
        self.name = name
        #: Inputs, parameters and outputs by name, in order.
        self.inputs: dict[str, Value] = {}
        self.parameters: dict[str, Value] = {}
        self.outputs: dict[str, Value] = {}
        self._lines: list[str] = []
        self._names: set[str] = set()
        self._functions: list[str] = []
        self._scopes: list[str] = []
        self._extents: tuple[Value | None, Value | None] = (None, None)

    # ---- what a function takes and gives ------------------------------------------------------------------------

    def input(self, name: str, features: int | Sequence[int]) -> Value:
        """An activation, B x T x features; two numbers are heads and taps of a convolution: B x T x H x K."""
        sizes = (features,) if isinstance(features, int) else tuple(features)
        return self._add_input(name, TensorType((BATCH, LENGTH, *_sizes(name, sizes))))

    def pooled(self, name: str, features: int) -> Value:
        """One row a sequence, B x features."""
        return self._add_input(name, TensorType((BATCH, *_sizes(name, (features,)))))

    def mask(self, name: str) -> Value:
        """One bit a token, B x T."""
        return self._add_input(name, TensorType((BATCH, LENGTH), "i1"))

    def factors(self, name: str, count: int) -> Value:
        """Numbers that a call gives, such as one a head."""
        return self._add_input(name, TensorType(_sizes(name, (count,))))

    def parameter(self, name: str, shape: int | Sequence[int]) -> Value:
        """A weight, by the name that it has among those given to compile(), in the scopes around."""
        full = ".".join([*self._scopes, name])
        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        known = self.parameters.get(full)
        if known is not None:
            if known.shape != sizes:
                raise ValueError(f"{full}: requires one shape, but found {describe_extents(known.shape)} and "
                                 f"{describe_extents(sizes)}")
            return known
        value = Value(self, self._unique(full), TensorType(_sizes(full, sizes)))
        self.parameters[full] = value
        self._load(full, value)
        return value

    def output(self, value: Value, name: str | None = None) -> Value:
        """Makes `value` a result of the function."""
        self._own(value)
        name = name or f"output{len(self.outputs)}"
        if name in self.outputs:
            raise ValueError(f"output: requires a name of its own, but found {shown(name)} twice")
        self.outputs[name] = value
        return value

    @contextmanager
    def scope(self, name: str) -> Iterator[None]:
        """Parameters made inside get `name.` before theirs."""
        self._scopes.append(name)
        try:
            yield
        finally:
            self._scopes.pop()

    # ---- operations ---------------------------------------------------------------------------------------------

    def emit(self, mnemonic: str, form: str, operands: Mapping[str, Value | Sequence[Value] | None],
             results: Sequence[TensorType], **attributes: Any) -> tuple[Value, ...]:
        """An operation of the dialect.

        form: how its operands stand in its text, such as "$x, $weight [, $bias]"; what is in brackets is there only
        with its operand. Attributes that are None are left out; True is one without a value.
        """
        used: list[Value] = []

        def show(match: re.Match[str]) -> str:
            operand = operands[match[2] or match[4]]
            values = [] if operand is None else [operand] if isinstance(operand, Value) else list(operand)
            for value in values:
                self._own(value)
            used.extend(values)
            names = ", ".join(value.name for value in values)
            return f"{match[1] or ''}{names}{match[3] or ''}" if values else ""

        text = re.sub(r"\s+,", ",", _PIECE.sub(show, form)).strip()
        items = [name if value is True else f"{name} = {attribute(value)}" for name, value in attributes.items()
                 if value is not None and value is not False]
        made = tuple(Value(self, self._unique(mnemonic), type) for type in results)
        types = ", ".join(map(str, results))
        self._lines.append(f"{', '.join(value.name for value in made)} = convbert.{mnemonic} {' '.join(text.split())} "
                           f"{'{' + ', '.join(items) + '} ' if items else ''}"
                           f": ({', '.join(str(value.type) for value in used)}) -> "
                           f"{types if len(results) == 1 else '(' + types + ')'}")
        return made

    def emit_same(self, mnemonic: str, x: Value, **attributes: Any) -> Value:
        """An operation whose text names one type for operand and result."""
        self._own(x)
        made = Value(self, self._unique(mnemonic), x.type)
        items = ", ".join(f"{name} = {attribute(value)}" for name, value in attributes.items())
        self._lines.append(f"{made.name} = convbert.{mnemonic} {x.name} {{{items}}} : {x.type}")
        return made

    def elementwise(self, operation: str, x: Value, y: Value) -> Value:
        """addf, subf or mulf of two values of one type."""
        if not isinstance(y, Value):
            raise ValueError(f"{operation}: requires two values, but found {shown(y)}")
        self._own(x)
        self._own(y)
        if x.type != y.type:
            raise ValueError(f"{operation}: requires values of one shape, but found {describe_extents(x.shape)} and "
                             f"{describe_extents(y.shape)}")
        made = Value(self, self._unique(operation), x.type)
        self._lines.append(f"{made.name} = arith.{operation} {x.name}, {y.name} : {x.type}")
        return made

    def slice(self, x: Value, axis: int, first: int, count: int) -> Value:
        """`count` elements of a static axis, from `first` on."""
        self._own(x)
        size = x.shape[axis]
        if not isinstance(size, int) or not 0 <= first < first + count <= size:
            raise ValueError(f"slice: requires a part of an axis of {size}, but found {count} elements from {first} on")
        shape = list(x.shape)
        shape[axis] = count
        type = TensorType(tuple(shape), x.type.element)
        offsets = [str(first) if at == axis % len(shape) else "0" for at in range(len(shape))]
        sizes = [self._extent(x, at) if isinstance(s, str) else str(s) for at, s in enumerate(shape)]
        made = Value(self, self._unique("slice"), type)
        self._lines.append(f"{made.name} = tensor.extract_slice {x.name}[{', '.join(offsets)}] [{', '.join(sizes)}] "
                           f"[{', '.join('1' for _ in shape)}] : {x.type} to {type}")
        return made

    def concat(self, values: Sequence[Value], axis: int = -1) -> Value:
        """Values side by side."""
        for value in values:
            self._own(value)
        at = axis % len(values[0].shape)
        if len({len(value.shape) for value in values}) != 1:
            raise ValueError("concat: requires values that differ in one axis alone, but found "
                             + " and ".join(describe_extents(value.shape) for value in values))
        shape = list(values[0].shape)
        sizes = [value.shape[at] for value in values]
        rest = {(*value.shape[:at], *value.shape[at + 1:]) for value in values}
        if len(rest) != 1 or not all(isinstance(size, int) for size in sizes):
            raise ValueError("concat: requires values that differ in one axis alone, but found "
                             + " and ".join(describe_extents(value.shape) for value in values))
        shape[at] = sum(int(size) for size in sizes)
        type = TensorType(tuple(shape), values[0].type.element)
        made = Value(self, self._unique("concat"), type)
        self._lines.append(f"{made.name} = tensor.concat dim({at}) {', '.join(value.name for value in values)} : "
                           f"({', '.join(str(value.type) for value in values)}) -> {type}")
        return made

    def reshape(self, x: Value, groups: Sequence[Sequence[int]]) -> Value:
        """Axes of a parameter joined: one axis for each of `groups`."""
        self._own(x)
        shape = []
        for group in groups:
            size = 1
            for axis in group:
                size *= int(x.shape[axis])
            shape.append(size)
        type = TensorType(tuple(shape), x.type.element)
        made = Value(self, self._unique("reshape"), type)
        text = "[" + ", ".join("[" + ", ".join(map(str, group)) + "]" for group in groups) + "]"
        self._lines.append(f"{made.name} = tensor.collapse_shape {x.name} {text} : {x.type} into {type}")
        return made

    def repeat(self, x: Value, count: int, body: Callable[..., Value], *others: Value, scope: str = "layers",
               first: int = 0) -> Value:
        """`count` layers: body(x, *others) makes one, in a function of its own that is called with the parameters of
        each: those of layer i have `scope.i.` before their names, i from `first` on. Compile time does not depend on
        `count`."""
        if count < 1:
            raise ValueError(f"repeat: requires at least 1 layer, but found {count}")
        for value in (x, *others):
            self._own(value)
        name = f"{self.name}_{re.sub(r'[^a-zA-Z0-9]', '_', scope)}_{len(self._functions)}"
        layer = Graph(name)
        operands = [Value(layer, layer._unique(f"in{index}"), value.type) for index, value in enumerate((x, *others))]
        result = body(*operands)
        layer._own(result)
        if result.type != x.type:
            raise ValueError(f"repeat: requires a result of the shape {describe_extents(x.shape)} of its input, but "
                             f"found {describe_extents(result.shape)}")
        self._functions += [*layer._functions, layer._text(operands, result)]
        with self.scope(scope):
            for index in range(first, first + count):
                with self.scope(str(index)):
                    passed = [x, *others, *(self.parameter(own, [int(size) for size in value.shape])
                                            for own, value in layer.parameters.items())]
                made = Value(self, self._unique(f"{scope}_{index}"), x.type)
                self._lines.append(f"{made.name} = func.call @{name}({', '.join(v.name for v in passed)}) : "
                                   f"({', '.join(str(v.type) for v in passed)}) -> {x.type}")
                x = made
        return x

    # ---- the result ---------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        """The module's text."""
        if not self.outputs:
            raise ValueError(f"{self.name}: requires at least one output, but found none")
        lines = [f"ml_program.global private {symbol(name)}(#ml_program.extern : {value.type}) : {value.type}"
                 for name, value in self.parameters.items()]
        lines += self._functions
        arguments = ", ".join(f'{value.name}: {value.type} {{convbert.name = "{escaped(name)}"}}'
                              for name, value in self.inputs.items())
        results = ", ".join(f'{value.type} {{convbert.name = "{escaped(name)}"}}'
                            for name, value in self.outputs.items())
        lines += [f"func.func @{self.name}({arguments}) -> ({results}) {{", *("  " + line for line in self._lines),
                  f"  return {', '.join(value.name for value in self.outputs.values())} : "
                  f"{', '.join(str(value.type) for value in self.outputs.values())}", "}"]
        return "\n".join(lines) + "\n"

    def compile(self, weights: Any = None, **options: Any) -> Function:
        """The function, compiled for this machine, with arrays for its parameters.

        weights: arrays by name, or the path of a safetensors file. Options: those of convbert.function.Function.
        """
        from .function import Function, read_weights

        return Function(str(self), read_weights(weights, self.parameters), name=self.name, **options)

    # ---- inside -------------------------------------------------------------------------------------------------

    def _text(self, operands: Sequence[Value], result: Value) -> str:
        """A private function: `operands`, then the parameters, are its arguments."""
        loads = set(self._loads())
        arguments = ", ".join(f"{value.name}: {value.type}" for value in (*operands, *self.parameters.values()))
        body = "\n".join("  " + line for line in self._lines if line not in loads)
        return (f"func.func private @{self.name}({arguments}) -> {result.type} {{\n{body}\n"
                f"  return {result.name} : {result.type}\n}}")

    def _loads(self) -> Iterator[str]:
        for name, value in self.parameters.items():
            yield f"{value.name} = ml_program.global_load_const {symbol(name)} : {value.type}"

    def _load(self, name: str, value: Value) -> None:
        self._lines.append(f"{value.name} = ml_program.global_load_const {symbol(name)} : {value.type}")

    def _add_input(self, name: str, type: TensorType) -> Value:
        if name in self.inputs:
            raise ValueError(f"input: requires a name of its own, but found {shown(name)} twice")
        self.inputs[name] = value = Value(self, self._unique(name), type)
        return value

    def _own(self, value: Value) -> None:
        if not isinstance(value, Value):
            raise ValueError(f"requires a value of the graph {self.name}, but found {shown(value)}")
        if value.graph is not self:
            raise ValueError(f"requires a value of the graph {self.name}, but found one of {value.graph.name}; what a "
                             "repeated layer reads is passed to it by repeat()")

    def _unique(self, wish: str) -> str:
        base = re.sub(r"\W", "_", wish) or "v"
        base = base if not base[0].isdigit() else "v" + base
        name, count = base, 0
        while name in self._names:
            count += 1
            name = f"{base}_{count}"
        self._names.add(name)
        return "%" + name

    def _extent(self, x: Value, axis: int) -> str:
        """The name of an extent that only a call knows."""
        index, size = self._unique("axis"), self._unique("size")
        self._lines += [f"{index} = arith.constant {axis} : index", f"{size} = tensor.dim {x.name}, {index} : {x.type}"]
        return size


def _sizes(name: str, sizes: Sequence[int]) -> tuple[int, ...]:
    for size in sizes:
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise ValueError(f"{name}: requires sizes >= 1, but found {describe_shape(tuple(sizes))}")
    return tuple(sizes)
