#!/usr/bin/env python3
"""Times each operator of the family beside what the CPU can do and beside PyTorch, and writes tools/bench/results/.

    ops.py [--channels 512] [--lengths 512,128] [--seconds 0.6] [--operators NAMES] [--name NAME] [--output FOLDER]

One thread on one core. The bound is that of `convbert compare-ops`: the longer one of the multiply-accumulates at the
measured peak and of the bytes (input, weights, result) at the measured rate of a copy. Goals: at most 1.5 times the bound
inside, as C sees it, and from Python ahead of PyTorch (eager, the same weights, in turns, after a check that both agree;
left out where it is not installed). Runs are merged into what the files hold, operator by operator, so that a long list
can be measured in parts.
"""

import argparse
import json
import os
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GOAL = 1.5


def torch_call(name, weights, sizes, arrays, want):
    """The same operator in PyTorch, checked against `want`; None where there is no PyTorch."""
    try:
        import torch
        import torch_ops
    except ImportError:
        return None
    from convbert.peers import agree

    torch.set_num_threads(1)
    call, turned = torch_ops.make(name, weights, sizes, arrays)
    agree("torch", turned(call()), want)
    return call


def measure(name, options, length, sizes):
    """One row; what is refused has "refused" instead of times."""
    import numpy as np
    from convbert.benchmark import take_turns
    from convbert.compiler import module_costs
    from convbert.errors import Error
    from convbert.op_comparison import Rates, inputs_of, moved_bytes, random_weights
    from convbert.op_costs import OPERATORS

    graph = OPERATORS[name].graph(sizes)
    weights = random_weights(graph)
    row = {"operator": name, "length": length}
    try:
        function = graph.compile(weights, threads=1)
    except Error as error:
        return row | {"refused": str(error).removeprefix(f"{graph.name}: ")}
    arrays = inputs_of(function, np.random.default_rng(0).standard_normal((1, length, sizes.channels), np.float32))
    engines = {"ours": lambda: function(*arrays)}
    other = torch_call(name, weights, sizes, arrays, function(*arrays))
    if other:
        engines["torch"] = other
    rates, moved, inside = Rates(function.isa, 1), moved_bytes(graph, 1, length), []

    def between():
        rates.measure([moved])
        inside.append(function.fastest_ms(*arrays, calls=max(3, round(0.03 / seconds))))

    start = time.perf_counter()
    function(*arrays)
    seconds = time.perf_counter() - start
    found = take_turns(engines, options.seconds, between, pause=0.01)
    macs = sum(part["macs"] for part in module_costs(str(graph), 1, length))
    times = {engine: {"best_ms": timing.best_ms, "median_ms": timing.median_ms} for engine, timing in found.items()}
    return row | {"isa": function.isa, "inside_ms": min(inside), "macs": macs, "bytes": moved, "compute_ms": rates.compute_ms(macs),
                  "memory_ms": rates.memory_ms(moved), "peak_gflops": rates.peak_gflops,
                  "copy_gbps": rates.copy_gbps[rates.footprint(moved)], **times}


def bound(row):
    return max(row["compute_ms"], row["memory_ms"])


def table(result):
    """Markdown."""
    packages = ", ".join(f"{name} {number}" for name, number in result["packages"].items())
    lines = [f"{result['processor']}, one thread; {packages}; 1 x T x {result['channels']}, {result['kernel']} taps, "
             f"{result['heads']} heads.", "",
             "Milliseconds of the fastest call (median). `bound`: the longer one of multiply-accumulates at the peak and bytes",
             "at the rate of a copy, both measured between the turns. `inside`: calls from C, with nothing of Python around them.",
             "Goals: `of bound`, of the time inside, at most 1.5x; `ahead`, from Python, at least 1x; what misses one is **bold**.",
             "", "| operator | T | inside | bound | of bound | convbert | torch | ahead | peak, GF/s | copy, GB/s |",
             "|---" * 10 + "|"]
    for row in result["rows"]:
        cells = [row["operator"], str(row["length"])]
        if "refused" in row:
            lines.append("| " + " | ".join([*cells, f"not timed: {row['refused']}", *[""] * 7]) + " |")
            continue
        ratio = row["inside_ms"] / bound(row)
        by = "compute" if row["compute_ms"] > row["memory_ms"] else "memory"
        ahead = row["torch"]["best_ms"] / row["ours"]["best_ms"] if "torch" in row else None

        def times(engine):
            return f"{row[engine]['best_ms']:.3f} ({row[engine]['median_ms']:.3f})" if engine in row else ""

        def judged(text, good):
            return text if good else f"**{text}**"

        lines.append("| " + " | ".join([
            *cells, f"{row['inside_ms']:.3f}", f"{bound(row):.3f} {by}", judged(f"{ratio:.2f}x", ratio <= GOAL),
            times("ours"), times("torch"),
            judged(f"{ahead:.2f}x", ahead >= 1) if ahead else "", f"{row['peak_gflops']:.0f}",
            f"{row['copy_gbps']:.1f}"]) + " |")
    return "\n".join(lines) + "\n"


def merged(path, rows, order):
    """The rows of the file, if there is one, with `rows` in place of those of the same operator and length."""
    old = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []
    found = {(row["operator"], row["length"]): row for row in [*old, *rows]}
    names = list(order)
    return sorted(found.values(), key=lambda row: (names.index(row["operator"]), -row["length"]))


def main():
    from convbert.machine import cpu_name
    from convbert.op_costs import OPERATORS, Sizes

    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--channels", type=int, default=512)
    parser.add_argument("--kernel", type=int, default=9)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--lengths", default="512,128")
    parser.add_argument("--seconds", type=float, default=0.6, help="for each operator, length and engine")
    parser.add_argument("--operators", help="names with ; between (default: all)")
    parser.add_argument("--name", help="of the files that are written (default: ops- and the instruction set)")
    parser.add_argument("--output", type=Path, default=ROOT / "tools" / "bench" / "results", metavar="FOLDER")
    options = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
    sizes = Sizes(options.channels, 1, options.kernel, options.heads)
    rows = []
    for name in options.operators.split(";") if options.operators else OPERATORS:
        for length in map(int, options.lengths.split(",")):
            rows.append(measure(name, options, length, sizes))
            print(f"bench: {name}, {length} tokens", file=sys.stderr, flush=True)
    packages = {"Python": platform.python_version()}
    if any("torch" in row for row in rows):
        packages["torch"] = version("torch")
    isa = next((row["isa"] for row in rows if "isa" in row), "unknown")
    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / f"{options.name or 'ops-' + isa}.json"
    result = {"processor": cpu_name(), "packages": packages, "channels": options.channels, "kernel": options.kernel,
              "heads": options.heads, "rows": merged(path, rows, OPERATORS)}
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text(table(result), encoding="utf-8")
    print(f"wrote {path} and {path.with_suffix('.md').name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
