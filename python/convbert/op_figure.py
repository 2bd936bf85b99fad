"""The figure of a comparison of operators: time of a call against tokens, both axes logarithmic, one panel a family.

SVG, with nothing from elsewhere, in a light and a dark dress. Series are told apart by colour (of Okabe and Ito's, which
people who see few colours can tell apart), by mark, and by a label at the end of the line: a grey printer will do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

from .op_comparison import Comparison, Entry, Point
from .op_costs import FAMILIES

#: Pixels: a panel, what is left around its axes, and the space for labels behind the lines.
_WIDTH, _HEIGHT = 580, 350
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 236, 34, 46
#: Pixels between the lines of labels.
_LEADING = 16

#: Of the series of a panel, in order; the dark dress has lighter ones.
_STYLE = """
.figure { --s0: #0072b2; --s1: #d55e00; --s2: #007a59; --s3: #aa4586; --s4: #555555;
          --ink: #1b1b1b; --soft: #5b5b5b; --grid: #e3e3e3; --paper: #ffffff; background: var(--paper); }
@media screen and (prefers-color-scheme: dark) {
  .figure { --s0: #56b4e9; --s1: #f0883e; --s2: #2fc79a; --s3: #e29ac8; --s4: #c4c4c4;
            --ink: #ececec; --soft: #b0b0b0; --grid: #383838; --paper: #16181b; } }
.figure text { font: 13px system-ui, "Helvetica Neue", Arial, sans-serif; fill: var(--ink); }
.figure .title { font-weight: 600; font-size: 14px; }
.figure .tick { fill: var(--soft); font-size: 12px; }
.figure .grid { stroke: var(--grid); stroke-width: 1; }
.figure .axis { stroke: var(--soft); stroke-width: 1; fill: none; }
.figure .series { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
.figure .bound { fill: none; stroke-width: 1; stroke-dasharray: 1 3; stroke-linecap: round; }
.figure .leader { fill: none; stroke-width: 0.8; opacity: 0.7; }
.figure .mark { stroke: var(--paper); stroke-width: 0.8; }
"""


def _mark(kind: int, x: float, y: float) -> str:
    """A circle, square, triangle, diamond or cross of 8 pixels around (x, y)."""
    shapes = [f"M{x - 4:.1f},{y:.1f}a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z", f"M{x - 3.6:.1f},{y - 3.6:.1f}h7.2v7.2h-7.2Z",
              f"M{x:.1f},{y - 4.6:.1f}l4.4,8h-8.8Z", f"M{x:.1f},{y - 5:.1f}l5,5l-5,5l-5,-5Z",
              f"M{x - 1.4:.1f},{y - 4.4:.1f}h2.8v3h3v2.8h-3v3h-2.8v-3h-3v-2.8h3Z"]
    return f'<path class="mark" style="fill: var(--s{kind})" d="{shapes[kind % len(shapes)]}"/>'


def spread(wishes: Sequence[float], least: float, low: float, high: float) -> list[float]:
    """Places for labels that want to be at `wishes`: at least `least` apart, in [low, high] where they fit, in order."""
    order = sorted(range(len(wishes)), key=lambda index: wishes[index])
    places = [0.0] * len(wishes)
    at = -math.inf
    for index in order:
        at = places[index] = max(wishes[index], at + least, low)
    over = at - high
    for index in reversed(order):  # those that went beyond the end come back, and push the ones before
        if over <= 0:
            break
        places[index] = min(places[index], high)
        high = places[index] - least
    return places


def _powers(low: float, high: float, base: int) -> list[float]:
    return [float(base) ** power for power in range(math.floor(math.log(low, base) + 1e-9),
                                                    math.ceil(math.log(high, base) - 1e-9) + 1)]


def number(value: float) -> str:
    """Three digits, without an exponent: 0.0141, 12.3, 1,230."""
    exponent = int(f"{value:.2e}".partition("e")[2])  # after rounding
    return f"{value:,.{max(2 - exponent, 0)}f}"


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points)


class _Panel:
    """Axes of tokens and milliseconds, their corner at (left, top) of the figure."""

    def __init__(self, left: float, top: float, lengths: Sequence[int], times: Sequence[float]) -> None:
        self.x0, self.x1 = left + _LEFT, left + _WIDTH - _RIGHT
        self.y0, self.y1 = top + _HEIGHT - _BOTTOM, top + _TOP
        self._lengths, self._times = (lengths[0], lengths[-1]), (times[0], times[-1])
        self._lines, self._ticks = times, lengths

    def x(self, length: float) -> float:
        low, high = self._lengths
        return self.x0 + (self.x1 - self.x0) * (math.log(length / low) / math.log(high / low) if high > low else 0.5)

    def y(self, milliseconds: float) -> float:
        low, high = self._times
        return self.y0 + (self.y1 - self.y0) * math.log(milliseconds / low) / math.log(high / low)

    def axes(self, title: str, labelled: bool) -> list[str]:
        """Grid, ticks and titles; labelled: with the name of the upright axis."""
        parts = [f'<text class="title" x="{self.x0:.1f}" y="{self.y1 - 12:.1f}">{escape(title)}</text>']
        for value in self._lines:
            y = self.y(value)
            parts += [f'<path class="grid" d="M{self.x0:.1f},{y:.1f}H{self.x1:.1f}"/>',
                      f'<text class="tick" text-anchor="end" x="{self.x0 - 7:.1f}" y="{y + 4:.1f}">{value:g}</text>']
        for length in self._ticks:
            x = self.x(length)
            parts += [f'<path class="grid" d="M{x:.1f},{self.y0:.1f}V{self.y1:.1f}"/>',
                      f'<text class="tick" text-anchor="middle" x="{x:.1f}" y="{self.y0 + 16:.1f}">{length}</text>']
        middle = (self.y0 + self.y1) / 2
        parts += [f'<path class="axis" d="M{self.x0:.1f},{self.y1:.1f}V{self.y0:.1f}H{self.x1:.1f}"/>',
                  f'<text text-anchor="middle" x="{(self.x0 + self.x1) / 2:.1f}" y="{self.y0 + 36:.1f}">tokens T</text>']
        if labelled:
            parts.append(f'<text text-anchor="middle" transform="translate({self.x0 - 44:.1f},{middle:.1f}) rotate(-90)">'
                         "time of a call, ms</text>")
        return parts

    def line(self, points: Sequence[Point], of: Callable[[Point], float]) -> list[tuple[float, float]]:
        return [(self.x(point.length), self.y(of(point))) for point in points]

    def series(self, entries: Sequence[Entry]) -> list[str]:
        parts = []
        ends = [self.y(entry.points[-1].best_ms) for entry in entries]
        places = spread(ends, _LEADING, self.y1 + 4, self.y0 - 4)
        for kind, entry in enumerate(entries):
            parts.append(f'<path class="bound" style="stroke: var(--s{kind})" '
                         f'd="{_path(self.line(entry.points, lambda point: point.bound_ms))}"/>')
        for kind, (entry, end, place) in enumerate(zip(entries, ends, places)):
            line = self.line(entry.points, lambda point: point.best_ms)
            parts.append(f'<path class="series" style="stroke: var(--s{kind})" d="{_path(line)}"/>')
            parts += [_mark(kind, x, y) for x, y in line]
            parts += [f'<path class="leader" style="stroke: var(--s{kind})" '
                      f'd="M{line[-1][0] + 6:.1f},{end:.1f}L{self.x1 + 16:.1f},{place:.1f}"/>',
                      _mark(kind, self.x1 + 22, place),
                      f'<text x="{self.x1 + 31:.1f}" y="{place + 4:.1f}">{escape(entry.operator)}</text>']
        return parts


def svg(result: Comparison) -> str:
    """The figure as an SVG element."""
    timed = [entry for entry in result.entries if entry.points]
    families = [family for family in FAMILIES if any(entry.family == family for entry in timed)]
    lengths = [point.length for point in timed[0].points]
    values = [value for entry in timed for point in entry.points for value in (point.best_ms, point.bound_ms)]
    times = _powers(min(values), 1.001 * max(values), 10)  # two of them at least
    rows = -(-len(families) // 2)
    columns = min(len(families), 2)
    parts = [f'<svg class="figure" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {columns * _WIDTH} {rows * _HEIGHT}" '
             'role="img" aria-label="Time of a call against tokens, for each operator">', f"<style>{_STYLE}</style>"]
    for index, family in enumerate(families):
        panel = _Panel(index % 2 * _WIDTH, index // 2 * _HEIGHT, lengths, times)
        parts += [f"<g>{''.join(panel.axes(family[0].upper() + family[1:], labelled=index % 2 == 0))}",
                  f"{''.join(panel.series([entry for entry in timed if entry.family == family]))}</g>"]
    return "\n".join([*parts, "</svg>"])
