"""The labels of dialect/Spec.md are those of the dialect's sources and of its negative tests; it covers every operation."""

import re

from ods import LIT, ROOT, operations

SPEC = (ROOT / "dialect" / "Spec.md").read_text(encoding="utf-8")
LABEL = r"[A-Z][A-Z0-9_]*-C\d+"


def labels(text):
    """All labels of a text; `A-C1 to A-C3` are three."""
    found = set(re.findall(rf"\b{LABEL}\b", text))
    for name, first, last in re.findall(r"\b([A-Z][A-Z0-9_]*)-C(\d+) to (?:\1-)?C(\d+)\b", text):
        found |= {f"{name}-C{i}" for i in range(int(first), int(last) + 1)}
    return found


def read(paths):
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(paths))


def defined():
    return re.findall(rf"^\* \*\*({LABEL})\*\* ", SPEC, flags=re.M)


def test_labels_are_defined_once_and_numbered_from_one():
    assert len(defined()) == len(set(defined()))
    for name in {label.rpartition("-C")[0] for label in defined()}:
        numbers = [int(label.rpartition("-C")[2]) for label in defined() if label.startswith(f"{name}-C")]
        assert numbers == list(range(1, len(numbers) + 1)), name


def test_every_operation_has_a_section():
    assert sorted(re.findall(r"^## convbert\.(\w+)$", SPEC, flags=re.M)) == sorted(operations())


def test_a_section_holds_the_labels_of_its_operation():
    for name, text in re.findall(r"^## convbert\.(\w+)$(.*?)(?=^#|\Z)", SPEC, flags=re.M | re.S):
        own = re.findall(rf"^\* \*\*({LABEL})\*\* ", text, flags=re.M)
        assert [label for label in own if not label.startswith(f"{name.upper()}-C")] == []


def test_no_label_is_unknown():
    everywhere = labels(read((ROOT / "dialect").rglob("*.*")) + read(LIT.glob("*.mlir")))
    assert everywhere - set(defined()) == set()


def test_every_constraint_is_implemented():
    sources = read((ROOT / "dialect" / "IR").glob("*.cpp")) + read((ROOT / "dialect" / "IR").glob("*.[ht]*"))
    # The same type of operand and result is a trait, and so needs no line of its own.
    assert set(defined()) - labels(sources) == {"ACTIVATION-C1"}


def test_every_constraint_has_a_negative_test():
    tests = re.findall(rf"^// ({LABEL})\b", read(LIT.glob("*-invalid.mlir")), flags=re.M)
    assert set(defined()) - set(tests) == set()


def test_every_message_has_a_test():
    """All words of a message, whatever the values between them, stand in an expected-error or in the unit test."""
    expected = re.findall(r"expected-error.*?\{\{(.*)\}\}$", read(LIT.glob("*-invalid.mlir")), flags=re.M)
    # What only a builder can provoke.
    expected += read([ROOT / "test" / "unittests" / "Dialect" / "InferTypesTest.cpp"]).splitlines()
    ir = ROOT / "dialect" / "IR"
    sources = read([*ir.glob("Verify*.cpp"), ir / "InferTypes.cpp", ir / "ShapeRules.cpp"])
    messages = re.findall(r'(?:error\(\)|emitError\(\)) << ("requires.*?);', sources, flags=re.S)
    messages += re.findall(r'emitOptionalError\(location, ("requires.*?)\);', sources, flags=re.S)
    assert len(messages) > 20
    for message in messages:
        parts = [re.escape(part) for part in re.findall(r'"((?:[^"\\]|\\.)*)"', message)]
        pattern = re.compile(".*".join(parts))
        assert any(pattern.search(text) for text in expected), message
