"""Ctrl-C during a compilation, and failures of the compiler."""

import os
import signal
import stat
import subprocess
import sys
import time

import pytest

import convbert
from checkpoints import GOLDEN
from convbert.errors import CompileError, Error, from_compiler

SCRIPT = """
import sys, time, convbert
print("ready", flush=True)
start = time.perf_counter()
try:
    convbert.load(sys.argv[1], cache=False)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    model = convbert.load(sys.argv[1])     # and the process goes on
    print(model([[1, 2]])[0].shape)
"""


@pytest.fixture
def slow_linker(tmp_path, monkeypatch):
    """A linker that takes its time, so that a compilation is under way for sure."""
    script = tmp_path / "slow-lld"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/linking\nsleep 3\nexec /usr/lib/llvm-22/bin/ld.lld \"$@\"\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CONVBERT_LLD", str(script))
    return tmp_path / "linking"


def interrupt_while_linking(command, mark):
    # A shell's background jobs ignore the signal, and so would what they start.
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    end = time.monotonic() + 120
    while not mark.exists():
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    return process, time.monotonic()


@pytest.mark.skipif(not os.path.exists("/usr/lib/llvm-22/bin/ld.lld"), reason="LLVM is elsewhere")
def test_a_script_goes_on_after_control_c(slow_linker):
    process, _ = interrupt_while_linking([sys.executable, "-c", SCRIPT, str(GOLDEN / "base_tiny")], slow_linker)
    output, errors = process.communicate(timeout=120)
    assert output == "ready\ninterrupted\n(1, 2, 32)\n", errors


@pytest.mark.skipif(not os.path.exists("/usr/lib/llvm-22/bin/ld.lld"), reason="LLVM is elsewhere")
def test_the_command_line_ends_at_once(slow_linker, tmp_path, monkeypatch):
    monkeypatch.setenv("CONVBERT_CACHE", str(tmp_path / "cache"))
    command = [sys.executable, "-m", "convbert", "compile", str(GOLDEN / "base_tiny"), "-o", str(tmp_path / "m.cbx")]
    process, sent = interrupt_while_linking(command, slow_linker)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == ""
    assert time.monotonic() - sent < 2.5  # the linker still had three seconds to go
    assert not (tmp_path / "m.cbx").exists()


def test_a_failing_linker_is_a_compile_error(monkeypatch, tmp_path):
    monkeypatch.setenv("CONVBERT_LLD", "/bin/false")
    with pytest.raises(CompileError) as error:
        convbert.load(GOLDEN / "base_tiny", cache=tmp_path)
    assert error.value.phase == "link"
    assert error.value.diagnostics == ["phase 'link' failed: linking with /bin/false failed: "]
    assert error.value.reproducer is None and error.value.command is None
    assert "\n" not in str(error.value)
    monkeypatch.delenv("CONVBERT_LLD")
    assert convbert.load(GOLDEN / "base_tiny", cache=tmp_path)([[1]])[0].shape == (1, 1, 32)


def test_phase_and_reproducer_are_read_from_the_message():
    command = "convbert-opt --convbert-linalg-cpu=isa=avx2 /tmp/convbert-linalg-1a.mlir"
    error = from_compiler(f"a/b: layer.3.output: failed to legalize operation 'convbert.packed_dense': requires f32; "
                          f"ConvBertModel: phase 'linalg' failed; replay it with: {command}")
    assert isinstance(error, CompileError) and isinstance(error, Error)
    assert error.phase == "linalg"
    assert error.diagnostics == [
        "a/b: layer.3.output: failed to legalize operation 'convbert.packed_dense': requires f32"]
    assert error.command == command
    assert error.reproducer == "/tmp/convbert-linalg-1a.mlir"
    nowhere = from_compiler("phase 'linalg' failed; no reproducer: the temporary directory is not writable")
    assert (nowhere.phase, nowhere.reproducer) == ("linalg", None)
    assert not isinstance(from_compiler("tensor 'x': requires finite numbers"), CompileError)
