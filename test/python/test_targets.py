"""The table of targets in Python against the compiler's, and how a machine finds its level."""

import re
import subprocess

import pytest

from convbert.targets import LEVELS, TARGETS, cpu_flags, find_level, host_level


def test_the_compiler_has_the_same_targets(tools, tmp_path):
    done = subprocess.run([tools / "convbert-compile", tmp_path / "none.mlir", "--target=z80", "--compile-to=llvm"], capture_output=True,
                          text=True)
    assert tuple(re.findall("'(.*?)'", done.stderr)) == (*TARGETS, "z80")


@pytest.mark.parametrize("tool", ["convbert-compile", "convbert-run"])
def test_help_names_them(tools, tool):
    text = subprocess.run([tools / tool, "--help"], capture_output=True, text=True, check=True).stdout
    (line,) = [line for line in text.splitlines() if "--target=" in line]
    assert tuple(re.findall(r"native|x86-64-v\d(?:-bf16)?|aarch64", line.partition("for:")[2]))[:-1] == TARGETS


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)
def test_level_of_a_machine(level):
    assert find_level(level.name) is level
    assert host_level(set(level.features)) is level
    assert host_level({*level.features, "avx10"}) is level
    less = host_level(set(level.features[:-1]))
    assert less is None or LEVELS.index(less) < LEVELS.index(level)


def test_this_machine():
    assert host_level(cpu_flags()) in LEVELS
    assert find_level("native") is find_level("z80") is host_level(set()) is None
