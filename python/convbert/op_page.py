"""The page of a comparison of operators: a table, the figure, and how it was measured, in one HTML file."""

from __future__ import annotations

from html import escape
from itertools import groupby

from .console import human_bytes
from .op_comparison import Comparison, Entry
from .op_figure import number, svg

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1b; --soft: #5b5b5b; --line: #d9d9d9; --paper: #ffffff; --bar: #9cc9e6; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #ececec; --soft: #b0b0b0; --line: #3a3d42; --paper: #16181b; --bar: #2d5f80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1120px; padding: 28px 20px 40px; background: var(--paper); color: var(--ink);
       font: 15px/1.5 system-ui, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 24px; line-height: 1.25; margin: 0 0 4px; }
h2 { font-size: 17px; margin: 30px 0 8px; }
p, li { max-width: 78ch; }
.machine { color: var(--soft); margin: 0 0 18px; max-width: none; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 8px; text-align: right; white-space: nowrap; }
th { font-weight: 600; vertical-align: bottom; border-bottom: 1.5px solid var(--ink); }
th:first-child, td:first-child, .reason { text-align: left; }
tr.family td { padding-top: 12px; font-weight: 600; border-bottom: 1px solid var(--line); }
tbody tr:last-child td { border-bottom: 1.5px solid var(--ink); }
.share { background: linear-gradient(90deg, var(--bar) var(--part), transparent var(--part)) no-repeat 12px 50% / 72px 12px;
         min-width: 132px; }
.reason { color: var(--soft); font-style: italic; white-space: normal; }
.figure { width: 100%; min-width: 760px; height: auto; }
code { font-size: 13px; overflow-wrap: anywhere; }
@media print {
  body { max-width: none; padding: 0; font-size: 9.5pt; }
  h1 { font-size: 15pt; } table { font-size: 7.5pt; } th, td { padding: 2px 4px; }
  h2, tr { break-after: avoid; } .figure, table { break-inside: avoid; } .figure { min-width: 0; }
  .share { min-width: 76px; background-size: 40px 8px; background-position: 4px 50%;
           print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""


def tokens(window: int | None) -> str:
    """A receptive field."""
    return "all" if window is None else str(window)


def machine(result: Comparison) -> str:
    """One line on what it was measured with."""
    many = "s" if result.threads > 1 else ""
    versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    return f"{result.processor}, {result.isa}, {result.threads} thread{many}, float32; {versions}; {result.date}"


def command(result: Comparison) -> str:
    """What measures it again."""
    lengths = next(([str(point.length) for point in entry.points] for entry in result.entries if entry.points), [])
    return (f"convbert compare-ops --channels {result.channels} --length {result.length} --kernel {result.kernel} --heads "
            f"{result.heads} --batch {result.batch} --threads {result.threads} --lengths {','.join(lengths)} --seconds {result.seconds:g}")


def _row(entry: Entry, length: int) -> str:
    name, parameters, window = escape(entry.operator), f"{entry.parameters:,}", tokens(entry.window)
    point = entry.at(length)
    if point is None:
        return (f"<tr><td>{name}</td><td>{parameters}</td><td></td><td></td><td>{window}</td>"
                f'<td class="reason" colspan="4">not timed: {escape(entry.refused or "")}</td></tr>')
    by = "compute" if point.compute_ms > point.memory_ms else "memory"
    return (f"<tr><td>{name}</td><td>{parameters}</td><td>{number(point.macs / 1e6)}</td>"
            f"<td>{number(point.bytes / 1e6)}</td><td>{window}</td><td><b>{number(point.best_ms)}</b></td>"
            f"<td>{number(point.median_ms)}</td><td>{number(point.bound_ms)} <small>{by}</small></td>"
            f'<td class="share" style="--part: {min(point.share, 1):.0%}">{point.share:.0%}</td></tr>')


def _table(result: Comparison) -> str:
    body = []
    for family, entries in groupby(result.entries, key=lambda entry: entry.family):
        body.append(f'<tr class="family"><td colspan="9">{escape(family[0].upper() + family[1:])}</td></tr>')
        body += [_row(entry, result.length) for entry in entries]
    heads = ["operator", "parameters", "MACs,<br>10<sup>6</sup>", "bytes,<br>10<sup>6</sup>",
             "receptive field,<br>tokens", "fastest<br>call, ms", "median<br>call, ms", "bound, ms",
             "share of<br>the bound"]
    return (f'<div class="scroll"><table><thead><tr>{"".join(f"<th>{head}</th>" for head in heads)}</tr></thead>\n'
            "<tbody>" + "\n".join(body) + "</tbody></table></div>")


def _rates(result: Comparison) -> str:
    copies = ", ".join(f"{human_bytes(count)}: {number(rate)}" for count, rate in result.copy_gbps.items())
    return (f"<li>Peak of multiplying and adding: {number(result.peak_gflops)} GFLOP/s, two operations a "
            "multiply-accumulate; the largest that a loop of nothing else reached between the timings.</li>"
            f"<li>Copies, by the bytes that they read and write again and again, in GB/s: {copies}. An operator's bytes are "
            "held to the copy of as many, or of up to half as many.</li>")


def page(result: Comparison) -> str:
    """The HTML document."""
    title = (f"Operators on {result.batch if result.batch > 1 else 'one'} sequence{'s' if result.batch > 1 else ''} of "
             f"{result.length} tokens and {result.channels} channels")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{title}</h1>
<p class="machine">{result.kernel} taps, {result.heads} heads. {escape(machine(result))}.</p>
{_table(result)}
<h2>Time against length</h2>
<p>Solid: the fastest call. Dotted: its bound on this CPU. Both axes are logarithmic; one compiled function serves all
lengths.</p>
<div class="scroll">{svg(result)}</div>
<h2>How it was measured</h2>
<ul>
<li>All operators take the same input and give as many tokens; weights are random and packed beforehand. What takes a query
or values besides (span dynamic) is given the input's first channels for them and works on half of the channels, as one
branch of mixed attention does.</li>
<li>Operators take turns in one process; two calls of each are not counted. A call includes the way in and out of
Python.</li>
<li>MACs: multiply-accumulates of products, convolutions and gates. Bytes: input, weights and results in float32, once
each. Receptive field: the tokens that one result depends on; all where the whole sequence is attended to or gates it.</li>
<li>Bound: the longer one of the times that the MACs take at the peak and that the bytes take at the rate of a copy, both
measured in this run. Share: bound over fastest call. Exponentials and divisions are not counted.</li>
{_rates(result)}
</ul>
<p>Again: <code>{escape(command(result))}</code></p>
</body>
</html>
"""
