"""The set-up script says in one line what it cannot do, and asks nothing of a machine that has everything."""

import os
import subprocess

import pytest


@pytest.fixture
def setup(root, tmp_path):
    """Runs setup.sh with stand-ins for the commands that look at, or change, the machine."""

    def run(*arguments, commands=None, **variables):
        for name, text in (commands or {}).items():
            (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
            (tmp_path / name).chmod(0o755)
        environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", **variables}
        script = [root / "tools/scripts/setup.sh", *arguments]
        return subprocess.run(script, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)

    return run


NOTHING_INSTALLED = {"dpkg-query": "exit 1", "apt-get": "exit 9", "id": "echo 1000"}


def test_without_root_missing_packages_are_named_in_one_line(setup):
    result = setup("packages", "g++", "ninja-build", commands=NOTHING_INSTALLED)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr == (
        "convbert: requires Debian packages that are not installed; as root: apt-get install g++ ninja-build\n"
    )


def test_only_missing_packages_are_named(setup):
    installed = {**NOTHING_INSTALLED, "dpkg-query": "echo installed g++; echo not-installed ninja-build; exit 1"}
    result = setup("packages", "g++", "ninja-build", commands=installed)
    assert result.returncode == 1
    assert result.stderr.endswith("apt-get install ninja-build\n")


def test_nothing_is_said_or_done_when_all_is_installed(setup):
    installed = {**NOTHING_INSTALLED, "dpkg-query": "echo installed g++; echo installed ninja-build"}
    result = setup("packages", "g++", "ninja-build", commands=installed)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_a_wrong_llvm_directory_is_refused_in_one_line(setup, tmp_path):
    everything = {"dpkg-query": 'shift; for name in "$@"; do echo "installed $name"; done', "apt-get": "exit 9"}
    result = setup(commands=everything, MLIR_DIR=str(tmp_path))
    assert result.returncode == 1
    assert result.stderr == (
        f"convbert: requires MLIR_DIR to hold MLIRConfig.cmake, but found none in '{tmp_path}'\n"
    )
