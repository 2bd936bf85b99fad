"""tools/bench/ops.py: what it writes, with and without PyTorch."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "bench"))
import ops as bench  # noqa: E402


def run(tmp_path, *arguments):
    command = [sys.executable, ROOT / "tools" / "bench" / "ops.py", "--channels", "16", "--kernel", "3", "--heads", "2",
               "--seconds", "0.01", "--output", tmp_path, "--name", "found", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))


def test_runs_are_merged(tmp_path):
    run(tmp_path, "--operators", "squeeze-excite", "--lengths", "9")
    found = run(tmp_path, "--operators", "depthwise;squeeze-excite", "--lengths", "9,5")
    assert [(row["operator"], row["length"]) for row in found["rows"]] == [
        ("depthwise", 9), ("depthwise", 5), ("squeeze-excite", 9), ("squeeze-excite", 5)]
    row = found["rows"][0]
    assert row["macs"] == 9 * 16 * 3 and row["bytes"] == 4 * (2 * 9 * 16 + 16 * 3)
    assert 0 < row["inside_ms"] and 0 < row["ours"]["best_ms"] <= row["ours"]["median_ms"]
    assert (tmp_path / "found.md").read_text(encoding="utf-8") == bench.table(found)


def test_table():
    times = {"ours": {"best_ms": 2.0, "median_ms": 3.0}, "torch": {"best_ms": 1.5, "median_ms": 1.75}}
    row = {"operator": "dynamic", "length": 9, "inside_ms": 1.8, "compute_ms": 1.0, "memory_ms": 0.5, "peak_gflops": 100.0, "copy_gbps": 9.0}
    rows = [row | times, row | {"ours": times["ours"], "compute_ms": 0.1, "memory_ms": 1.6},
            {"operator": "span", "length": 9, "refused": "no kernel"}]
    text = bench.table({"processor": "some", "packages": {"torch": "2"}, "channels": 8, "kernel": 3, "heads": 2, "rows": rows})
    assert "| dynamic | 9 | 1.800 | 1.000 compute | **1.80x** | 2.000 (3.000) | 1.500 (1.750) | **0.75x** | 100 | 9.0 |" in text
    assert "| dynamic | 9 | 1.800 | 1.600 memory | 1.12x | 2.000 (3.000) |  |  | 100 | 9.0 |" in text
    assert "| span | 9 | not timed: no kernel |  |  |  |  |  |  |  |" in text
    assert len({line.count("|") for line in text.splitlines() if line.startswith("|")}) == 1


def test_all_operators_are_in_torch_too():
    """By name, without importing PyTorch."""
    from convbert.op_costs import OPERATORS

    text = (ROOT / "tools" / "bench" / "torch_ops.py").read_text(encoding="utf-8")
    assert all(f'"{name}": ' in text for name in OPERATORS)


def test_torch_agrees():
    pytest.importorskip("torch")
    import torch_ops
    from convbert import Error
    from convbert.op_comparison import inputs_of, random_weights
    from convbert.op_costs import OPERATORS, Sizes

    sizes = Sizes(channels=16, length=1, kernel=5, heads=4)
    x = np.random.default_rng(0).standard_normal((2, 11, 16), np.float32)
    for name, found in OPERATORS.items():
        graph = found.graph(sizes)
        weights = random_weights(graph)
        try:
            function = graph.compile(weights)
        except Error:
            continue
        call, turned = torch_ops.make(name, weights, sizes, inputs_of(function, x))
        np.testing.assert_allclose(turned(call()), function(*inputs_of(function, x)), atol=1e-5, err_msg=name)
