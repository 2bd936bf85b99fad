#!/usr/bin/env python3
"""What dynamic shapes cost: a model as it is compiled against the same model with batch and length as constants.

    static_shapes.py DIR --shapes 1x16,1x128,8x128,2x512 [--target native] [--rounds 5] [--seconds 1] [--build build]

The static build starts from the module at phase `memory`, where it differs from the dynamic one in three ways: the shape
argument is a constant table, the number of threads is 1, and kernels are inlined where they are called, so that LLVM
knows rows, panels, depths, and pitches of every call.  Both are linked and run by convbert-run on the same random
weights and inputs; their results are compared before they are timed.  The two take turns, `--rounds` times each.

Prints a line a shape: best and median milliseconds of both, and what dynamic shapes cost by either (dynamic over static,
less one); at the end the geometric mean of the costs.  On one core of a Xeon with AVX-512, base size:

  1x16: dynamic 27.56 ms (median 28.39), static 28.45 ms (median 29.69), cost -3.1% (median -4.4%)
 1x128: dynamic 128.71 ms (median 129.45), static 128.60 ms (median 129.23), cost +0.1% (median +0.2%)
 8x128: dynamic 1061.11 ms (median 1074.77), static 1055.48 ms (median 1339.60), cost +0.5% (median -19.8%)
 2x512: dynamic 1118.70 ms (median 1170.87), static 1121.13 ms (median 1179.44), cost -0.2% (median -0.7%)
"""

import argparse
import math
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIME = re.compile(r"^time: least ([0-9.]+) ms, median ([0-9.]+) ms", re.MULTILINE)


def shape_table(batch, length, pitch):
    """{ B, T_max, row_start[B+1], length[B] }, as the runtime fills it."""
    return [batch, length, *(index * max(length, pitch) for index in range(batch + 1)), *[length] * batch]


def make_static(text, batch, length):
    """The module `text` at phase `memory` for one shape and one thread."""
    table = shape_table(batch, length, int(re.search(r"min_row_pitch = (\d+)", text)[1]))
    kind, lines = f"memref<{len(table)}xi64>", []
    for line in text.splitlines():
        if line.startswith("module"):
            lines += [line, f'  memref.global "private" constant @static_shape : {kind} = dense<{table}>']
            continue
        if not re.match(r"  func\.func .*\(%arg0", line):
            lines.append(line)
            continue
        shapes, threads = re.findall(r"%(arg\d+): memref<\?xi64>", line), re.findall(r"%(arg\d+): i32", line)
        for argument in shapes + threads:
            line = line.replace(f"%{argument}:", f"%dynamic_{argument}:")
        line = line.replace('passthrough = ["noinline"]', 'passthrough = ["alwaysinline"]')
        # A layer stays a function: twelve copies would say nothing new.
        if "@encoder_layer(" in line:
            line = line.removesuffix("{") + 'attributes {passthrough = ["noinline"]} {'
        lines.append(line)
        for argument in shapes:
            lines += [f"    %table_{argument} = memref.get_global @static_shape : {kind}",
                      f"    %{argument} = memref.cast %table_{argument} : {kind} to memref<?xi64>"]
        lines += [f"    %{argument} = arith.constant 1 : i32" for argument in threads]
    return "\n".join(lines) + "\n"


def run(tool, *arguments):
    """What a tool prints; ends the program with its message if it fails."""
    result = subprocess.run([str(tool), *map(str, arguments)], capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(f"static_shapes.py: {tool} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


def times(options, module, shape, repeat):
    """Least and median milliseconds of `repeat` calls."""
    text = run(options.tools / "convbert-run", module, "--compile-from=memory", f"--target={options.target}",
               f"--shape={shape}", f"--repeat={repeat}")
    return [float(number) for number in TIME.search(text).groups()]


def measure(options, text, shape, folder):
    """Best and median milliseconds, {"dynamic": (b, m), "static": (b, m)}."""
    modules = {"dynamic": folder / "dynamic.mlir", "static": folder / f"{shape}.mlir"}
    modules["dynamic"].write_text(text)
    modules["static"].write_text(make_static(text, *map(int, shape.split("x"))))
    common = ["--compile-from=memory", f"--target={options.target}", f"--shape={shape}"]
    run(options.tools / "convbert-run", modules["dynamic"], *common, f"--output-dir={folder / 'outputs'}")
    # The same operations in the same order.
    run(options.tools / "convbert-run", modules["static"], *common, f"--check-against={folder / 'outputs'}", "--atol=0")
    once = times(options, modules["dynamic"], shape, 3)[0]
    repeat = max(3, math.ceil(options.seconds * 1e3 / once))
    found = {"dynamic": [], "static": []}
    for turn in range(options.rounds):
        for name in list(found)[::1 if turn % 2 else -1]:
            found[name].append(times(options, modules[name], shape, repeat))
    return {name: (min(t[0] for t in of), statistics.median(t[1] for t in of)) for name, of in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("directory", metavar="DIR", help="checkpoint directory")
    parser.add_argument("--shapes", default="1x16,1x128,8x128,2x512")
    parser.add_argument("--target", default="native")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each build")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a turn")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build directory")
    options = parser.parse_args()
    options.tools = options.build / "bin"
    text = run(options.tools / "convbert-compile", options.directory, "--compile-to=memory", f"--target={options.target}")
    best, median = [], []
    with tempfile.TemporaryDirectory() as folder:
        for shape in options.shapes.split(","):
            found = measure(options, text, shape, Path(folder))
            ratios = [dynamic / static for dynamic, static in zip(found["dynamic"], found["static"])]
            best.append(ratios[0])
            median.append(ratios[1])
            print(f"{shape:>6}: " + ", ".join(f"{name} {b:.2f} ms (median {m:.2f})" for name, (b, m) in found.items())
                  + f", cost {ratios[0] - 1:+.1%} (median {ratios[1] - 1:+.1%})", flush=True)
    print(f"  mean: cost {statistics.geometric_mean(best) - 1:+.1%} (median {statistics.geometric_mean(median) - 1:+.1%})")


if __name__ == "__main__":
    sys.exit(main())
