"""tools/bench: its checkpoints have the published sizes, and a run writes what it measured."""

import json
import os
import re
import subprocess
import sys
from math import prod
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "bench"))
import models  # noqa: E402
import report  # noqa: E402
import run as bench  # noqa: E402
from convbert.targets import cpu_flags  # noqa: E402


@pytest.mark.parametrize("size, parameters", [("small", 13143768), ("medium-small", 17475888), ("base", 105680520)])
def test_published_sizes(size, parameters):
    assert sum(map(prod, models.shapes(models.COMMON | models.SIZES[size]).values())) == parameters


def test_a_run(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "build" / "python"))
    command = [sys.executable, ROOT / "tools" / "bench" / "run.py", "--sizes", "small", "--shapes", "1x8,2x4-8", "--threads",
               "1", "--seconds", "0.02", "--peers", "", "--output", tmp_path, "--name", "found"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    (run,) = found["runs"]
    assert [m["shape"] for m in run["measurements"]] == ["1x8", "2x4-8"]
    assert run["parameters"] == 13143768 and run["measurements"][1]["peers"]["exact"]["best_ms"] > 0
    assert (tmp_path / "found.md").read_text(encoding="utf-8") == report.table(found)


def test_unknown_engines():
    command = [sys.executable, ROOT / "tools" / "bench" / "run.py", "--peers", "torch,abacus"]
    result = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT / "build" / "python")})
    assert result.returncode == 2
    assert result.stderr.endswith("--peers: requires names from torch, torch-compile, onnxruntime, openvino, iree, zentorch, "
                                  "but found 'abacus'\n")


def test_engines_see_no_avx512(tmp_path):
    """For the target x86-64-v3, where the CPU has more: CPUID is answered anew, so even `cc -march=native` finds AVX2."""
    if not {"avx512f", "cpuid_fault"} <= cpu_flags():
        pytest.skip("requires a CPU with AVX-512 and the flag cpuid_fault")
    source = tmp_path / "ask.c"
    source.write_text('int printf(const char *, ...);\nint main(void) { printf("%d %d", !!__builtin_cpu_supports("avx2"), '
                      '!!__builtin_cpu_supports("avx512f")); }\n', encoding="utf-8")
    program = tmp_path / "ask"
    subprocess.run(["cc", "-o", program, source], check=True)
    for environment, answer in (({}, "1 1"), (bench.without_avx512(tmp_path), "1 0")):
        seen = subprocess.run([program], env=os.environ | environment, capture_output=True, text=True, check=True)
        assert seen.stdout == answer


def test_runs_are_merged_by_kind(tmp_path):
    def run(threads, size, shapes, version="1"):
        return {"isa": "avx2", "threads": threads, "size": size, "packages": {"a": version},
                "measurements": [{"shape": shape, "best_ms": len(shapes)} for shape in shapes]}

    old = [run(1, "base", ["1x8"]), run(2, "base", ["1x8", "1x9"]), run(2, "small", ["1x8"])]
    new = [run(2, "base", ["1x9"]), run(2, "small", ["1x9"], "2"), run(1, "small", ["1x9"])]
    third = run(2, "base", ["1x16", "8x2-9", "9x2", "2x9"])
    path = tmp_path / "found.json"
    assert report.merge(path, new) == [new[2], *new[:2]]
    path.write_text(json.dumps({"runs": old}), encoding="utf-8")
    both = old[1] | {"measurements": [old[1]["measurements"][0], *new[0]["measurements"]]}
    assert report.merge(path, new) == [old[0], new[2], both, new[1]]  # another version's shapes are not kept
    shapes = [m["shape"] for m in report.merge(path, [third])[1]["measurements"]]
    assert shapes == ["1x8", "1x9", "1x16", "2x9", "9x2", "8x2-9"]


def test_ratios_are_to_the_fastest_other_engine():
    timings = {"convbert": 2.0, "exact": 1.0, "a": 6.0, "b": 5.0}
    timings = {name: {"best_ms": ms, "median_ms": 2 * ms} for name, ms in timings.items()}
    peers = {name: timing for name, timing in timings.items() if name != "convbert"}
    row = {"shape": "1x8", "pad_share": 0.25, "share": 0.875, "best_ms": 2.0, "milliseconds": 4.0, "peers": peers}
    run = {"size": "small", "threads": 1, "isa": "avx2", "measurements": [row], "cached": False, "compile_ms": 1500.0,
           "prepack_ms": 20.0, "packed_bytes": 5e6, "copy_gbps": 0.5, "rss_bytes": 9e6, "call_bytes": 3e6, "peak_gflops": 90.0,
           "packages": {"a": "1"}}
    text = report.table({"processor": "some", "runs": [run, run | {"threads": 2, "packages": {"a": "2", "b": "3"}}]})
    assert text.startswith("some; a 1 and 2; b 3\n")
    assert "| small | 1 | avx2 | 1x8 | 25% | 88% | 2.50x (2.50x) b | 2.00 (4.00) | 6.00 (12.00) | 5.00 (10.00) | 1.00 (2.00) |" in text
    assert "| small | 1 | 1.50 | 20 (50%) | 5 | 9 | 3 | 90.0 |" in text


def test_static_shapes(build_dir):
    """Both builds give the same bits, and are timed."""
    command = [sys.executable, ROOT / "tools" / "bench" / "static_shapes.py", ROOT / "test" / "golden" / "base_tiny",
               "--shapes", "2x9,1x5", "--rounds", "2", "--seconds", "0.01", "--build", build_dir]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    number = r"[0-9.]+ ms \(median [0-9.]+\)"
    for line, name in zip(result.stdout.splitlines(), ["2x9", "1x5", None], strict=True):
        if name:
            assert re.fullmatch(rf" *{name}: dynamic {number}, static {number}, cost [-+0-9.]+% \(median [-+0-9.]+%\)", line)
        else:
            assert re.fullmatch(r"  mean: cost [-+0-9.]+% \(median [-+0-9.]+%\)", line)
