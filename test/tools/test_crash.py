"""A crash, which is always a bug of ours, says how to report it."""

import signal
import subprocess

import pytest


@pytest.mark.parametrize("tool", ["convbert-opt", "convbert-compile", "convbert-run"])
def test_crash_says_how_to_report_it(tools, tool):
    pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    # It waits for a module on standard input, so that it is there to be hit.
    process = subprocess.Popen([tools / tool, "-"] + (["--compile-to=llvm"] if tool == "convbert-compile" else []), **pipes)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1)
    process.send_signal(signal.SIGSEGV)
    text = process.communicate(timeout=60)[1].decode()
    assert process.returncode == -signal.SIGSEGV
    assert "convbert: this is a bug of the compiler, not of your input." in text, text
    assert "github.com/llvm" not in text
