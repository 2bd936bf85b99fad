"""convbert bench and doctor; and what importing the package costs."""

import json
import subprocess
import sys

import pytest

import convbert
from checkpoints import DEMO, GOLDEN, loaded
from convbert import _runtime, benchmark, doctor, peers


def command(*arguments):
    return subprocess.run([sys.executable, "-m", "convbert", *map(str, arguments)], capture_output=True, text=True,
                          check=False)


def test_bench():
    result = command("bench", DEMO / "langid", "--shapes", "1x16,2x8", "--threads", 1, "--seconds", 0.05)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].startswith(f"{DEMO / 'langid'}: 1,329,500 parameters, avx")
    assert lines[2].startswith("multiply-add peak in this run: ")
    assert lines[3].split()[:4] == ["shape", "ms", "best", "ms"]
    assert [line.split()[0] for line in lines[4:]] == ["1x16", "2x8"]


def test_bench_numbers():
    result = benchmark.benchmark(GOLDEN / "base_tiny", [(2, 9)], threads=1, seconds=0.02)
    (row,) = result.measurements
    model = loaded(GOLDEN / "base_tiny")
    assert row.gflops == pytest.approx(model.cost(2, 9).flops / row.milliseconds * 1e-6)
    assert row.share == pytest.approx(model.cost(2, 9).flops / row.best_ms * 1e-6 / result.peak_gflops)
    assert 0 < row.best_ms <= row.milliseconds and row.calls >= 3 and row.peers == {}
    assert result.isa == model.isa and result.parameters == 19428
    assert json.dumps(result.to_dict())


def test_bench_refusals(tmp_path):
    for arguments, message in [
        ((GOLDEN / "base_tiny", "--shapes", "1x25"),
         "shape 1x25: requires at most 24 tokens (the model's positions), but found 25"),
        ((GOLDEN / "base_tiny", "--peers", "abacus"),
         "--peers: requires names from torch, onnxruntime, openvino, but found 'abacus'"),
        ((tmp_path / "none",), f"requires a checkpoint directory, but found none at {tmp_path / 'none'}"),
        ((GOLDEN / "base_tiny", "--seconds", "0"), "--seconds: requires a time in (0, 3600], but found 0.0")]:
        result = command("bench", *arguments)
        assert (result.returncode, result.stdout) == (1, "")
        assert result.stderr == f"convbert: {message}\n"


@pytest.mark.parametrize("name", sorted(peers.PEERS))
def test_peers(name):
    if name not in peers.installed():
        with pytest.raises(convbert.Error, match="requires the Python packages .* but found no"):
            peers.PEERS[name](str(DEMO / "langid"), "ConvBertForSequenceClassification", 1)
        return
    result = benchmark.benchmark(DEMO / "langid", [(1, 8)], threads=1, peers=[name], seconds=0.02)
    assert result.measurements[0].peers[name] > 0


def test_shapes():
    assert benchmark.parse_shapes("1x16, 8x128") == [(1, 16), (8, 128)]
    for text in ("", "1", "0x4", "1x-4", "axb", "1x2x3"):
        with pytest.raises(ValueError, match="requires shapes such as 1x16,8x128, but found"):
            benchmark.parse_shapes(text)


def test_multiply_add_peak():
    """More threads do not do less, and an unknown instruction set does nothing."""
    isa = loaded(GOLDEN / "base_tiny").isa
    assert _runtime.fma_peak(isa, 1, 0.05) > 1
    assert _runtime.fma_peak("sse", 1, 0.05) == _runtime.fma_peak(isa, 0, 0.05) == 0


def test_doctor():
    result = command("doctor")
    assert result.returncode == 0, result.stdout
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["convbert", convbert.__version__]
    assert {"compiler", "cpu", "features", "cache", "linker", "packages"} <= {line.split()[0] for line in lines}
    assert lines[-1] == "verdict: ready"
    facts = json.loads(command("doctor", "--json").stdout)
    assert facts["cpu"]["isa"] == loaded(GOLDEN / "base_tiny").isa
    assert facts["packages"]["numpy"]
    assert all(problem["for"] for problem in facts["problems"])


def test_doctor_finds_what_is_missing(monkeypatch, capsys):
    from convbert.cli import main

    monkeypatch.setattr(doctor, "cpu_flags", lambda: {"avx2", "fma"})
    monkeypatch.setenv("CONVBERT_CACHE", "/proc/nowhere")
    monkeypatch.setattr(doctor.os, "access", lambda *_: False)
    assert main(["doctor"]) == 1
    output = capsys.readouterr().out
    assert "missing: CPU features abm, avx, bmi1, bmi2, f16c, movbe, for compiled models" in output
    assert "missing: a cache folder that can be written to (/proc/nowhere)" in output
    assert output.splitlines()[-1] == "verdict: something essential is missing"


def test_import_is_quick_and_loads_no_llvm():
    """The quickest of five, since others may use the machine too."""
    code = ("import time; start = time.perf_counter(); import convbert; print(time.perf_counter() - start, "
            "'LLVM' in open('/proc/self/maps').read())")
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
            for _ in range(5)]
    assert {run[1] for run in runs} == {"False"}
    assert min(float(run[0]) for run in runs) < 0.25
