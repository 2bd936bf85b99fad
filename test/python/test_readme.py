"""The commands of README.md and CONTRIBUTING.md do what the text says."""

import os
import re
import subprocess
import sys

import pytest

# `make` must not see that it runs under another make, whose flags are for that one.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MFLAGS", "MAKELEVEL"}}


def blocks(root, name, language):
    """Returns the fenced blocks of one language in a document; the tutorial, which changes the tree, has its own test."""
    text = re.sub(r"^## Tutorial.*?(?=^## )", "", (root / name).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands(root, name):
    """Returns every line of the shell blocks of a document."""
    return [line for block in blocks(root, name, "sh") for line in block.splitlines() if line]


def shell(root, command):
    script = ["bash", "-o", "pipefail", "-c", command]
    return subprocess.run(script, cwd=root, env=ENVIRONMENT, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def test_the_two_commands_come_first(root):
    assert commands(root, "README.md")[:2] == ["make demo", "make test"]


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_shell_commands_work(root, document):
    lines = commands(root, document)
    assert lines
    for line in lines:
        # These two would run this test again; that they exist, and where they lead, is checked instead.
        result = shell(root, line.replace("make ", "make -n ", 1) if line in ("make demo", "make test") else line)
        # A reader such as head ends its writer early.
        assert result.returncode in ((0, 141) if "| head" in line else (0,)), f"{line}\n{result.stdout}{result.stderr}"
        assert result.stdout, line


@pytest.mark.parametrize("target, script", [("demo", "demo/run_demo.py"), ("test", "tools/scripts/run_tests.py")])
def test_the_two_commands_lead_to_their_scripts(root, target, script):
    assert script in shell(root, f"make -n {target}").stdout
    assert (root / script).is_file()


def test_python_examples_work(root):
    examples = blocks(root, "README.md", "python")
    assert examples
    for example in examples:
        script = [sys.executable, "-c", example]
        result = subprocess.run(script, cwd=root, env=ENVIRONMENT, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        promised = re.findall(r"print\(.*\)\s+# (.*)", example)
        assert result.stdout.splitlines() == promised


def test_make_variables_and_targets_of_the_documents_exist(root):
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    text = "".join((root / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md"))
    for target in re.findall(r"`make ([a-z]+)", text):
        assert f"\n{target}:" in makefile


def test_paths_of_the_layout_exist(root):
    text = (root / "README.md").read_text(encoding="utf-8").partition("## Layout")[2]
    folders = [name for cell in re.findall(r"^\| (`.*?`) \|", text, re.MULTILINE) for name in re.findall("`(.*?)`", cell)]
    assert len(folders) > 10
    for folder in folders:
        assert (root / folder).is_dir(), folder
