"""convbert compare-ops: what it measures, its figure, its page, and the command."""

import json
import subprocess
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import convbert
import convbert.nn as nn
from convbert.op_comparison import Comparison, Entry, Point, Rates, compare, inputs_of, moved_bytes, random_weights
from convbert.op_costs import CONVOLUTION, DYNAMIC, FAMILIES, OPERATORS, Operator, Sizes
from convbert.op_figure import number, spread, svg
from convbert.op_page import page

SIZES = Sizes(channels=16, length=24, kernel=5, heads=2)


def refused_operator():
    """An operation that the dialect has and that the CPU has no kernel for: values wider than keys."""
    def build(x, sizes):
        return nn.self_attention(x, x, x.graph.input("wide", 2 * sizes.channels), heads=sizes.heads)
    return Operator("wide values", DYNAMIC, lambda sizes: None, build)


@pytest.fixture(scope="module")
def result():
    chosen = {name: OPERATORS[name] for name in ("depthwise", "span dynamic, shared values", "squeeze-excite")}
    return compare(SIZES, threads=1, lengths=(5, 48), seconds=0.01, operators=chosen | {"wide values": refused_operator()})


# ---- what is measured -----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", OPERATORS)
def test_receptive_fields(name):
    """As many tokens change as the table says when one of the input does."""
    found, length, at = OPERATORS[name], 30, 15
    graph = found.graph(SIZES)
    function = graph.compile(random_weights(graph), threads=1)
    x = np.random.default_rng(0).standard_normal((1, length, SIZES.channels), np.float32)
    other = x.copy()
    other[:, at] += 1
    changed = (function(*inputs_of(function, x)) != function(*inputs_of(function, other))).any(axis=(0, 2))
    window = found.window(SIZES)
    want = np.ones(length, bool) if window is None else np.abs(np.arange(length) - at) <= window // 2
    np.testing.assert_array_equal(changed, want)


def test_points(result):
    assert [entry.operator for entry in result.entries][-1] == "wide values"
    depthwise = result.entries[0]
    assert (depthwise.parameters, depthwise.window, depthwise.refused) == (16 * 5, 5, None)
    assert [point.length for point in depthwise.points] == [5, 24, 48]
    for entry in result.entries[:3]:
        for point in entry.points:
            assert 0 < point.best_ms <= point.median_ms and point.calls >= 3
            assert point.bound_ms == max(point.compute_ms, point.memory_ms) > 0
    assert depthwise.at(24).macs == 24 * 16 * 5
    assert depthwise.at(24).bytes == 4 * (2 * 24 * 16 + 16 * 5)
    assert depthwise.at(7) is None


def test_what_the_cpu_refuses_is_listed(result):
    assert result.entries[-1].points == []
    assert result.entries[-1].refused == ("self_attention: requires values as wide as keys for the CPU kernel, but found 32 "
                                          "and 16 features")


def test_nothing_to_time():
    with pytest.raises(convbert.Error, match="^requires an operator that this compiler has kernels for, but found none: "
                                             "self_attention: requires values as wide as keys"):
        compare(SIZES, operators={"wide values": refused_operator()})


@pytest.mark.parametrize("options, message", [
    ({"batch": 0}, "batch: requires numbers >= 1, but found 0"),
    ({"lengths": (4, True)}, "lengths: requires numbers >= 1, but found True"),
    ({"lengths": (4, 0)}, "lengths: requires numbers >= 1, but found 0"),
])
def test_wrong_arguments(options, message):
    with pytest.raises(ValueError) as error:
        compare(SIZES, **options)
    assert str(error.value) == message


def test_bytes_of_inputs_beside():
    graph = OPERATORS["span dynamic, shared values"].graph(SIZES)
    weights = sum(int(np.prod(value.shape)) for value in graph.parameters.values())
    assert moved_bytes(graph, 3, 7) == 4 * (3 * 7 * (16 + 8 + 8 + 8) + weights)  # x, q, v, the result


def test_rates():
    """Bounds are those of the best that was seen; a copy is not larger than what it stands for."""
    assert [Rates.footprint(count) for count in (1, 16384, 16385, 40000, 65536)] == [1 << 14, 1 << 14, 1 << 14, 1 << 15,
                                                                                     1 << 16]
    rates = Rates("generic", 1)
    rates.peak_gflops, rates.copy_gbps = 50.0, {1 << 15: 10.0}
    assert rates.compute_ms(25_000_000) == pytest.approx(1)
    assert rates.memory_ms(40_000) == pytest.approx(4e-3)
    rates.measure([40_000])
    assert rates.peak_gflops >= 50 and rates.copy_gbps[1 << 15] >= 10 and list(rates.copy_gbps) == [1 << 15]


# ---- the figure and the page ----------------------------------------------------------------------------------------

@settings(max_examples=200, deadline=None, database=None)
@given(st.lists(st.floats(0, 100), max_size=8))
def test_labels_do_not_overlap(wishes):
    places = spread(wishes, 10, 0, 100)
    order = np.argsort(wishes, kind="stable")
    assert all(b - a >= 10 - 1e-9 for a, b in zip(np.array(places)[order], np.array(places)[order][1:]))
    assert all(-1e-9 <= place <= 100 + 1e-9 for place in places)
    if all(b - a >= 10 for a, b in zip(sorted(wishes), sorted(wishes)[1:])):
        assert places == wishes


@pytest.mark.parametrize("value, text", [(0, "0.00"), (0.01414, "0.0141"), (1, "1.00"), (9.876, "9.88"), (123.4, "123"),
                                         (12345.6, "12,346"), (99.96, "100")])
def test_numbers(value, text):
    assert number(value) == text


def everything():
    """All operators at all lengths, times made up, without measuring."""
    entries = []
    for index, found in enumerate(OPERATORS.values()):
        points = [Point(length, length * (index + 1) / 1e3, length * (index + 1) / 9e2, 3, 1000 * length, 4 * length,
                        length / 2e3, length / 3e3) for length in (16, 128, 1024)]
        entries.append(Entry(found.name, found.family, 1000, found.window(SIZES), points))
    entries[-1].points, entries[-1].refused = [], "softmax: has <no> kernel"
    return Comparison(768, 128, 9, 12, 2, 1, 0.5, "A & B", "avx2", {"convbert": "0"}, "2026-01-01", 99.0, {16384: 5.0}, entries)


def test_figure():
    made = everything()
    root = ElementTree.fromstring(svg(made))
    width, height = map(float, root.get("viewBox").split()[2:])
    namespace = "{http://www.w3.org/2000/svg}"
    texts = [text.text for text in root.iter(namespace + "text")]
    for entry in made.entries:
        assert (entry.operator in texts) == bool(entry.points)
    assert [family for family in FAMILIES if family.capitalize() in texts] == list(FAMILIES)
    assert {"tokens T", "time of a call, ms", "16", "1024"} <= set(texts)
    for text in root.iter(namespace + "text"):
        if text.get("x"):
            assert 0 <= float(text.get("x")) <= width and 0 <= float(text.get("y")) <= height
    assert len(root.findall(f".//{namespace}path[@class='series']")) == len(made.entries) - 1
    # Labels of a panel are apart.
    for panel in root.iter(namespace + "g"):
        names = [float(text.get("y")) for text in panel if text.text in OPERATORS]
        assert all(b - a >= 15.9 for a, b in zip(sorted(names), sorted(names)[1:]))


def test_figure_of_one_length():
    made = everything()
    for entry in made.entries:
        entry.points = entry.points[:1]
    made.entries = [entry for entry in made.entries if entry.family == CONVOLUTION]
    for entry in made.entries:
        entry.points[0].best_ms = entry.points[0].compute_ms = 1.0
    ElementTree.fromstring(svg(made))


class Checker(HTMLParser):
    """Elements are closed in order, and nothing comes from elsewhere."""

    def __init__(self):
        super().__init__()
        self.open, self.cells = [], []

    def handle_starttag(self, tag, attributes):
        assert tag not in ("script", "link", "img", "iframe", "object")
        for name, value in attributes:
            assert name not in ("src", "href", "xlink:href", "srcset"), name
            assert name == "xmlns" or "//" not in (value or "")
        if tag not in ("meta", "br"):
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" in self.open:
            assert "url(" not in data and "@import" not in data
        if {"td", "th"} & set(self.open):
            self.cells[-1] += data


def test_page():
    made = everything()
    text = page(made)
    checker = Checker()
    checker.feed(text)
    assert checker.open == []
    assert set(OPERATORS) <= set(checker.cells)
    assert "not timed: softmax: has <no> kernel" in checker.cells
    assert "A &amp; B, avx2, 1 thread, float32; convbert 0; 2026-01-01" in text
    assert "Operators on 2 sequences of 128 tokens and 768 channels" in text
    assert "--channels 768 --length 128 --kernel 9 --heads 12 --batch 2 --threads 1 --lengths 16,128,1024 --seconds 0.5<" in text
    for part in ("prefers-color-scheme: dark", "@media print", "16.0 KiB: 5.00"):
        assert part in text


# ---- the command ----------------------------------------------------------------------------------------------------

SMALL = ["--channels", "16", "--length", "12", "--kernel", "5", "--heads", "2", "--threads", "1", "--lengths", "4,8",
         "--seconds", "0.01"]


def command(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "convbert", "compare-ops", *map(str, arguments)], capture_output=True,
                          text=True, check=False, **options)


def test_command(tmp_path):
    done = command(*SMALL, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[1].startswith("1 x 12 tokens, 16 channels, 5 taps, 2 heads; peak ")
    assert lines[2].split()[:5] == ["operator", "parameters", "MACs", "bytes", "field"]
    assert any(line.split()[:3] == ["depthwise", "80", "960"] for line in lines)
    assert lines[-1] == "wrote compare-ops.html"
    assert all(name in done.stdout for name in OPERATORS)
    assert (tmp_path / "compare-ops.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_command_with_json_and_a_figure(tmp_path):
    done = command(*SMALL, "--json", "--batch", "2", "--output", tmp_path / "f.svg")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["batch"], found["channels"], found["threads"]) == (2, 16, 1)
    assert found["peak_gflops"] > 0 and found["output"] == str(tmp_path / "f.svg")
    assert {entry["operator"] for entry in found["entries"]} == set(OPERATORS)
    (depthwise,) = [entry for entry in found["entries"] if entry["operator"] == "depthwise"]
    assert [point["length"] for point in depthwise["points"]] == [4, 8, 12]
    assert depthwise["points"][0]["share"] == pytest.approx(
        depthwise["points"][0]["bound_ms"] / depthwise["points"][0]["best_ms"])
    ElementTree.parse(tmp_path / "f.svg")


@pytest.mark.parametrize("arguments, code, message", [
    (("--output", "o.txt"), 1, "convbert: --output: requires a name that ends in .html or .svg, but found o.txt"),
    (("--output", "/nowhere/o.svg"), 1, "convbert: --output: requires a folder that can be written to, but found /nowhere"),
    (("--seconds", "0"), 1, "convbert: --seconds: requires a time in (0, 3600], but found 0.0"),
    (("--heads", "5"), 1, "convbert: heads: requires an even divisor of 768 channels, but found 5"),
    (("--lengths", "16,x"), 2, "convbert compare-ops: error: argument --lengths: requires a number >= 1, but found 'x'"),
])
def test_wrong_commands(arguments, code, message):
    done = command(*arguments)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (code, message)
