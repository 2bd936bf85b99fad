"""Every operation's description shows an example, which parses, verifies, survives a round trip and is a lit test."""

import re
import subprocess

import pytest
from ods import ROOT, operations


def split_at_top(text, separator):
    """Splits `text` where `separator` stands outside brackets."""
    parts, depth = [""], 0
    for char in text:
        depth += (char in "([{<") - (char in ")]}>")
        if char == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts]


def wrap(example, name):
    """A function of that name around one operation; the operands become arguments."""
    results, _, operation = example.strip().partition(" = ")
    operands = re.findall(r"%\w+", operation)
    head, _, result_types = operation.partition(" -> ")
    types = split_at_top(head, ":")[-1]
    if result_types:
        types = types.strip()[1:-1]
    result_types = (result_types or types).strip().removeprefix("(").removesuffix(")")
    arguments = ", ".join(f"{o}: {t}" for o, t in zip(operands, split_at_top(types, ","), strict=True))
    return (
        f"func.func @{name}({arguments})\n    -> ({result_types}) {{\n"
        f"  {example.strip()}\n  return {results} : {result_types}\n}}\n"
    )


EXAMPLES = [(name, i, text) for name, texts in operations().items() for i, text in enumerate(texts)]


def test_every_operation_has_an_example():
    assert [name for name, texts in operations().items() if not texts] == []
    assert len(operations()) > 20


@pytest.mark.parametrize("name, i, example", EXAMPLES, ids=[f"{name}-{i}" for name, i, _ in EXAMPLES])
def test_an_example_is_valid(tools, name, i, example):
    module = wrap(example, name)
    command = [tools / "convbert-opt", "--verify-roundtrip"]
    result = subprocess.run(command, input=module, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr + module
    assert f"convbert.{name} " in result.stdout


def test_an_example_that_does_not_parse_fails(tools):
    module = wrap("%y = convbert.dense %x : (tensor<1x4xf32>) -> tensor<1x4xf32>", "bad")
    result = subprocess.run([tools / "convbert-opt"], input=module, capture_output=True, text=True)
    assert result.returncode == 1
    assert "error: expected ','" in result.stderr


def test_every_example_is_in_a_lit_test():
    def words(text):
        return " ".join(text.split())

    files = sorted((ROOT / "test").rglob("*.mlir"))
    tests = words("\n".join(path.read_text(encoding="utf-8") for path in files))
    assert [f"{name}-{i}" for name, i, example in EXAMPLES if words(example) not in tests] == []
