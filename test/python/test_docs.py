"""The snippets of docs/: each page's Python runs as one script, its shell commands one by one."""

import os
import re
import subprocess
import sys

import pytest

from checkpoints import ROOT

PAGES = ["python.md", "numerics.md", "padding.md", "functions.md"]
SHELL_PAGES = [*PAGES, "profiling.md"]


def blocks(page, language):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.fixture
def place(tmp_path):
    """A folder where snippets may write, with what they read."""
    (tmp_path / "demo").symlink_to(ROOT / "demo")
    return tmp_path


@pytest.mark.parametrize("page", PAGES)
def test_python(page, place):
    script = "\n".join(blocks(page, "python"))
    assert script
    result = subprocess.run([sys.executable, "-c", script], cwd=place, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == re.findall(r"print\(.*\)\s+# (.*)", script)


@pytest.mark.parametrize("page", SHELL_PAGES)
def test_shell(page, place, tools):
    environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}")
    for line in [line for block in blocks(page, "sh") for line in block.splitlines() if line]:
        result = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=place, env=environment, text=True,
                                capture_output=True, check=False)
        assert result.returncode == 0, f"{line}\n{result.stdout}{result.stderr}"
        assert result.stdout, line


def test_every_option_is_on_the_page():
    """Options of load() and of a call, and of the command line."""
    import inspect

    import convbert
    from convbert.cli import parser

    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    for function in (convbert.load, convbert.compile, convbert.Model.__call__, convbert.verify):
        for name in list(inspect.signature(function).parameters):
            if name not in ("self", "path"):
                assert f"`{name}" in text or f"{name}=" in text or f"--{name}" in text, name
    for action in parser()._subparsers._group_actions[0].choices.values():
        for option in [string for entry in action._actions for string in entry.option_strings]:
            if option not in ("-h", "--help", "--output"):
                assert f"`{option}`" in text or f"`{option} " in text, option


def test_links():
    for page in (ROOT / "docs").glob("*.md"):
        for target in re.findall(r"\]\(([\w./-]+\.md)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
