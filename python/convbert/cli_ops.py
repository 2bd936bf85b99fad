"""convbert compare-ops"""

from __future__ import annotations

import argparse
import os

from . import console


def _checked(output: str) -> str:
    """The kind of file that `output` is to be; ValueError where it cannot be written, before anything is measured."""
    kind = os.path.splitext(output)[1]
    if kind not in (".html", ".svg"):
        raise ValueError(f"--output: requires a name that ends in .html or .svg, but found {output}")
    folder = os.path.dirname(os.path.abspath(output))
    if not os.access(folder, os.W_OK):
        raise ValueError(f"--output: requires a folder that can be written to, but found {folder}")
    return kind


def compare_ops(options: argparse.Namespace) -> None:
    from .op_comparison import compare
    from .op_costs import Sizes
    from .op_figure import number, svg
    from .op_page import machine, page, tokens
    from .records import whole

    if not 0 < options.seconds <= 3600:
        raise ValueError(f"--seconds: requires a time in (0, 3600], but found {options.seconds}")
    kind = _checked(options.output)
    sizes = Sizes(options.channels, options.length, options.kernel, options.heads)
    result = compare(sizes, batch=options.batch, threads=options.threads, lengths=options.lengths,
                     seconds=options.seconds,
                     compiling=lambda names: console.progress(names, "compiling", len(names)),
                     timing=lambda lengths: console.progress(lengths, "measuring", len(lengths)))
    text = page(result) if kind == ".html" else svg(result) + "\n"

    def fill(path: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    whole(options.output, fill)
    if options.json:
        console.print_json(result.to_dict() | {"output": options.output})
        return
    rows, refused = [], []
    for entry in result.entries:
        point = entry.at(result.length)
        if point is None:
            refused.append(f"not timed: {entry.operator}: {entry.refused}")
            continue
        by = "compute" if point.compute_ms > point.memory_ms else "memory"
        rows.append((entry.operator, f"{entry.parameters:,}", f"{point.macs:,}", console.human_bytes(point.bytes),
                     tokens(entry.window), number(point.best_ms), number(point.median_ms), f"{number(point.bound_ms)} {by}",
                     f"{point.share:.0%}"))
    print(f"{machine(result)}\n{result.batch} x {result.length} tokens, {result.channels} channels, {result.kernel} taps, "
          f"{result.heads} heads; peak {number(result.peak_gflops)} GFLOP/s")
    print(console.table(("operator", "parameters", "MACs", "bytes", "field", "ms", "median ms", "bound ms", "of bound"),
                        rows))
    for line in refused:
        print(line)
    print(f"wrote {options.output}")
