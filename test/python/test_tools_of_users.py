"""convbert bench and doctor; and what importing the package costs."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

import convbert
from checkpoints import DEMO, GOLDEN, loaded
from convbert import _runtime, benchmark, doctor, machine, peers


def command(*arguments):
    return subprocess.run([sys.executable, "-m", "convbert", *map(str, arguments)], capture_output=True, text=True,
                          check=False)


def test_bench():
    result = command("bench", DEMO / "langid", "--shapes", "1x16,2x8", "--threads", 1, "--seconds", 0.05)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].startswith(f"{DEMO / 'langid'}: 1,329,500 parameters, avx")
    assert re.search(r"; weights packed in [0-9.]+ ms \([0-9.]+ MiB, [0-9.]+ GB/s, \d+% of a plain copy\)$", lines[1])
    assert re.match(r"multiply-add peak in this run: [0-9.]+ GF/s; resident memory [0-9.]+ MiB, of which calls took [0-9.]+ ",
                    lines[2])
    assert lines[3].split()[:5] == ["shape", "pads", "ms", "best", "ms"]
    assert [line.split()[0] for line in lines[4:]] == ["1x16", "2x8"]


def test_bench_numbers():
    result = benchmark.benchmark(GOLDEN / "base_tiny", benchmark.parse_shapes("2x9"), threads=1, seconds=0.02)
    (row,) = result.measurements
    model = loaded(GOLDEN / "base_tiny")
    assert row.gflops == pytest.approx(model.cost(2, 9).flops / row.milliseconds * 1e-6)
    assert row.share == pytest.approx(model.cost(2, 9).flops / row.best_ms * 1e-6 / result.peak_gflops)
    assert 0 < row.best_ms <= row.milliseconds and row.calls >= 3 and row.peers == {}
    assert result.isa == model.isa and result.parameters == 19428
    assert result.prepack_gbps == pytest.approx(result.packed_bytes / result.prepack_ms * 1e-6)
    assert json.dumps(result.to_dict())


def test_memory_of_calls():
    """Activations of 8 x 128 tokens, and no more than the workspaces, inputs and results that there are."""
    result = benchmark.benchmark(DEMO / "langid", benchmark.parse_shapes("8x128"), threads=1, seconds=0.02)
    model = loaded(DEMO / "langid")
    model(np.ones((8, 128), np.int64))
    assert 2**20 < result.call_bytes < model.workspace_bytes + 2**23 and result.copy_gbps > 0.1


def test_peak():
    machine.reset_peak()
    before = machine.peak_bytes()
    np.ones(64 << 20, np.uint8)
    assert machine.peak_bytes() - before > 60 << 20 and machine.rss_bytes() < machine.peak_bytes()


def test_bench_refusals(tmp_path):
    for arguments, message in [
        ((GOLDEN / "base_tiny", "--shapes", "1x25"),
         "shape 1x25: requires at most 24 tokens (the model's positions), but found 25"),
        ((GOLDEN / "base_tiny", "--peers", "abacus"),
         "--peers: requires names from torch, torch-compile, onnxruntime, openvino, iree, zentorch, but found 'abacus'"),
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
    result = benchmark.benchmark(DEMO / "langid", benchmark.parse_shapes("1x8"), threads=1, peers=[name], seconds=0.02)
    assert result.measurements[0].peers[name].best_ms > 0


def test_what_a_peer_raises_is_one_line(monkeypatch):
    def fail(*_):
        raise RuntimeError("no such luck\nand much more")

    monkeypatch.setitem(peers.PEERS, "torch", fail)
    with pytest.raises(convbert.Error, match="^torch does not run here: no such luck$"):
        peers.make_rival("torch", "here", "ConvBertModel", 1)
    monkeypatch.setitem(peers.PEERS, "torch", lambda *_: fail)
    with pytest.raises(convbert.Error, match="^torch does not run here: no such luck$"):
        peers.make_rival("torch", "here", "ConvBertModel", 1)({})


def test_shapes():
    assert benchmark.parse_shapes("1x16, 8x128") == [benchmark.Workload(1, 16), benchmark.Workload(8, 128)]
    (mixed,) = benchmark.parse_shapes("3x4-9")
    assert (mixed.lengths, mixed.name) == ((4, 6, 9), "3x4-9")
    assert mixed.pad_share == pytest.approx(8 / 27)
    for text in ("", "1", "0x4", "1x-4", "axb", "1x2x3", "2x4-", f"1x{2**40}"):
        with pytest.raises(ValueError, match="requires shapes such as 1x16,8x128,8x16-128, but found"):
            benchmark.parse_shapes(text)
    for text in ("1x4-8", "2x8-8"):
        with pytest.raises(ValueError, match="requires two sequences or more and a shortest below the longest, but"):
            benchmark.parse_shapes(text)


def test_engines_take_turns():
    calls = []
    found = benchmark.take_turns({name: lambda name=name: calls.append(name) for name in "ab"}, 0.5)
    assert calls[:4] == ["a", "a", "b", "b"] and {t.calls > 3 for t in found.values()} == {True}
    order = "".join(name for name, before in zip(calls[4:], calls[3:]) if name != before)
    assert order.startswith("abba") or order.startswith("aba")  # the second round starts with the other
    assert all(0 <= timing.best_ms <= timing.median_ms for timing in found.values())


def test_another_result_is_no_peer():
    ours = np.ones((2, 3), np.float32)
    peers.agree("x", ours + 1e-5, ours)
    with pytest.raises(convbert.Error, match="x gives another result: requires the same numbers within 1e-3 of 1, but found"):
        peers.agree("x", ours + 2e-3, ours)
    with pytest.raises(convbert.Error, match=r"requires shape \(2, 3\), but found \(2,\)"):
        peers.agree("x", ours[:, 0], ours)


def test_bench_mixed_lengths():
    result = benchmark.benchmark(GOLDEN / "base_tiny", benchmark.parse_shapes("3x4-9"), threads=1, seconds=0.02)
    (row,) = result.measurements
    assert row.pad_share == pytest.approx(8 / 27) and row.peers["exact"].calls >= 3 and result.rss_bytes > 2**20


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
    assert f"{facts['cpu']['isa']} ({facts['cpu']['target']})," in result.stdout
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
    assert "missing: CPU features cx16, lahf_lm, pni, popcnt, sse4_1, sse4_2, ssse3, for compiled models" in output
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
