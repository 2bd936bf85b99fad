"""What operators cost, by the dialect's cost interface: the figures that papers give."""

import json
import subprocess
import sys

import pytest

from convbert.op_costs import Sizes, rows

#: Published figures at 768 channels, 128 tokens, 9 taps, 12 heads; parameters without biases but for mixed attention.
#: They count the product of query and span-aware key, one a channel and token of the branch; the interface counts matrix
#: products, convolutions and gates alone.
PRODUCT = 128 * 384
PUBLISHED = {
    "depthwise": (6_912, 884_736),
    "pointwise": (589_824, 75_497_472),
    "regular": (5_308_416, 679_477_248),
    "depthwise-separable": (596_736, 76_382_208),
    "lightweight": (108, 884_736),
    "dynamic": (82_944, 11_501_568),
    "span dynamic, shared values": (322_560, 41_779_200 - PRODUCT),
    "span dynamic, own values": (617_472, 79_527_936 - PRODUCT),
    "squeeze-excite": (73_728, 270_336),
    "grouped dense, 2 groups": (294_912, 37_748_736),
    # Depthwise branches of 3 and 5 taps; sum, squeeze, select, weighted sum.
    "selective kernel, 3 and 5 taps": (768 * 8 + 3 * 768 * 48, 128 * 768 * 8 + 3 * 768 * 48 + 4 * 128 * 768),
    # A convolution, the gate, the mix of four kernels.
    "kernel attention, 4 kernels": (4 * 5_308_416 + 147_456 + 768, 679_477_248 + 246_528 + 21_233_664),
    "self-attention": (2_359_296, 327_155_712),
    "mixed attention, own values": (2_094_774, 280_854_528 - PRODUCT),
    "mixed attention, shared values": (1_799_478, 243_105_792 - PRODUCT),
}


def test_published_figures():
    found = {row.operator: (row.parameters, row.macs) for row in rows(Sizes())}
    assert {name: found[name] for name in PUBLISHED} == PUBLISHED


def test_bytes():
    """Operands and results once each, in float32."""
    found = {row.operator: (row.reads, row.writes) for row in rows(Sizes(channels=8, length=5, kernel=3, heads=2))}
    assert found["pointwise"] == (4 * (5 * 8 + 8 * 8), 4 * 5 * 8)
    assert found["depthwise"] == (4 * (5 * 8 + 8 * 3), 4 * 5 * 8)


def command(*arguments):
    return subprocess.run([sys.executable, "-m", "convbert", "info", *arguments], capture_output=True, text=True,
                          check=False)


def test_command():
    done = command("--ops", "--json", "--length", "512")
    assert done.returncode == 0, done.stderr
    (row,) = [row for row in json.loads(done.stdout) if row["operator"] == "depthwise"]
    assert row["macs"] == 512 * 768 * 9
    done = command("--ops")
    assert done.stdout.splitlines()[0].split() == ["operator", "parameters", "MACs", "reads", "writes"]
    assert any(line.split()[:3] == ["pointwise", "589,824", "75,497,472"] for line in done.stdout.splitlines())


@pytest.mark.parametrize("arguments, message", [
    ((), "info: requires DIR or --ops, but found neither"),
    (("somewhere", "--ops"), "info: requires DIR or --ops, but found both"),
    (("somewhere", "--length", "3"), "--length: requires --ops, but found a checkpoint or an artefact"),
    (("--ops", "--kernel", "4"), "kernel: requires an odd number of taps, but found 4"),
    (("--ops", "--heads", "5"), "heads: requires an even divisor of 768 channels, but found 5"),
])
def test_wrong_commands(arguments, message):
    done = command(*arguments)
    assert done.returncode == 1
    assert done.stderr.strip() == f"convbert: {message}"
