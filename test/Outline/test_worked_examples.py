"""The worked examples of all operations through the schedules of each instruction set.

The tests of lowering compute them as blocks, after decomposition, and compiled without a schedule; here all of them are
one function a number of tokens, compiled as users' functions are.  Answers are ratios of small integers.
"""

import functools
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from convbert.function import Function
from module_harness import TARGETS, isas

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Conversion"))
import test_window_numbers  # noqa: E402
import test_worked_family  # noqa: E402
import test_worked_numbers  # noqa: E402

#: By a name of its own: the case, its operands, the answer.
EXAMPLES = {f"{example[0].op}_{example[0].name}": example
            for module in (test_worked_numbers, test_worked_family, test_window_numbers) for example in module.EXAMPLES}
_GLOBAL = "ml_program.global private @{0}(#ml_program.extern : {1}) : {1}\n"


def answer(example):
    found = example[2]
    return test_worked_family.table(found) if isinstance(found, str) else np.asarray(found, np.float64)


def length(example):
    """Tokens of the operands."""
    return next(len(operand) for operand, shape in zip(example[1], example[0].operands.values()) if shape.startswith("B T"))


class Program:
    """One function of many examples: weights are parameters, a key bias is made from its mask."""

    def __init__(self, examples):
        self.globals, self.arguments, self.lines, self.returned = "", [], [], []
        self.parameters, self.inputs = [], {}
        for name, example in examples.items():
            self.add(name, *example[:2])

    def add(self, name, case, operands):
        signature, operation, returned, *_ = case.text("f32").splitlines()
        types = dict(re.findall(r"%(\w+): (tensor<[^>]*>)", signature))
        for (operand, shape), value in zip(case.operands.items(), operands):
            self.bind(f"{name}_{operand}", shape, types[operand], np.asarray(value))
        self.lines.append(re.sub(r"%(\w+)", rf"%{name}_\1", operation))
        values, result_types = re.sub(r"%(\w+)", rf"%{name}_\1", returned).removeprefix("  return ").split(" : ")
        self.returned.append((name, values, result_types))

    def bind(self, name, shape, kind, value):
        if not shape.startswith("B"):
            self.globals += _GLOBAL.format(name, kind)
            self.lines.append(f"  %{name} = ml_program.global_load_const @{name} : {kind}")
            self.parameters.append(np.require(value, np.float32, ["C", "A"]))
            return
        source, value = f"%{name}", value[None]
        if kind == "tensor<?x?xf32>":  # of the keys
            source, value = f"%{name}_mask", value == 0
            self.lines.append(f"  %{name} = convbert.attention_bias {source} : (tensor<?x?xi1>) -> {kind}")
            kind = "tensor<?x?xi1>"
        self.arguments.append(f'{source}: {kind} {{convbert.name = "{name}"}}')
        self.inputs[name] = value if value.dtype == bool else value.astype(np.float32)

    def __str__(self):
        results = ", ".join(f'{kind} {{convbert.name = "{name}"}}' for name, _, kind in self.returned)
        values, kinds = (", ".join(item[index] for item in self.returned) for index in (1, 2))
        body = "\n".join(self.lines)
        return (f"{self.globals}func.func @examples({', '.join(self.arguments)}) -> ({results}) {{\n{body}\n"
                f"  return {values} : {kinds}\n}}\n")


@functools.cache
def results(isa):
    """By name, what the examples come to on one and on two threads."""
    found = {}
    for tokens in {length(example) for example in EXAMPLES.values()}:
        examples = {name: example for name, example in EXAMPLES.items() if length(example) == tokens}
        program = Program(examples)
        for threads in (1, 2):
            function = Function(str(program), program.parameters, target=TARGETS[isa], threads=threads)
            for name, value in zip(examples, function(**program.inputs)):
                found.setdefault(name, []).append(value)
    return found


@isas
@pytest.mark.parametrize("name", EXAMPLES)
def test_worked_example(isa, name):
    one, two = results(isa)[name]
    np.testing.assert_array_equal(one, two)
    want = answer(EXAMPLES[name])
    assert one.shape[0] == 1 and one.size == want.size
    np.testing.assert_allclose(one[0].reshape(want.shape), want, rtol=0, atol=1e-6)


def test_examples_of_every_operator():
    """Those that the specification works out."""
    assert {example[0].op for example in EXAMPLES.values()} >= {
        "conv1d", "depthwise_conv1d", "dense", "separable_conv1d", "light_conv", "dynamic_kernel", "apply_kernel",
        "dynamic_conv", "span_dynamic_conv", "self_attention", "mixed_attention", "kernel_attention_conv",
        "squeeze_excite", "selective_kernel"}
