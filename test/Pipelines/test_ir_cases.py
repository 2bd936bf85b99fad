"""What the cases A20 and B16 of test/cases say of the modules of a model, at base size."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

MAKE = Path(__file__).parents[1] / "Import" / "Inputs" / "make_checkpoint.py"
WIDTH, INNER, ATTENTION, TAPS, HEADS = 768, 3072, 384, 9, 6


@pytest.fixture(scope="module")
def module(tools, tmp_path_factory):
    """module(phase, positions): the text of the module after a phase, for AVX2."""
    texts = {}

    def get(phase, positions=512):
        if (phase, positions) not in texts:
            directory = tmp_path_factory.mktemp("base")
            subprocess.run([sys.executable, MAKE, directory, "--size", "base", "num_hidden_layers=2",
                            f"max_position_embeddings={positions}"], check=True)
            texts[phase, positions] = subprocess.run(
                [tools / "convbert-compile", directory, f"--compile-to={phase}", "--target=x86-64-v3"], check=True,
                capture_output=True, text=True).stdout
        return texts[phase, positions]

    return get


def layer(text):
    """The statements of the encoder layer: {value: statement}."""
    body = re.search(r"func\.func private @encoder_layer\(.*?\n(.*?)\n  }", text, re.DOTALL).group(1)
    return dict(re.match(r"\s*(%[\w#]+)(?::\d+)? = (.*)", line).groups() for line in body.splitlines() if " = " in line)


def test_a20_no_buffer_holds_the_windows(module):
    """A token has no more numbers in any buffer than in the feed-forward layer, panels and padding apart."""
    text = module("outline")
    rows = [int(width) for width in re.findall(r"memref\.view .* to memref<\?x(\d+)xf32>", text)]
    assert WIDTH < max(rows) <= INNER + 64 < ATTENTION * TAPS
    # What kernels need beside is the scratch, an argument; packing, which runs once, has arrays as large as parameters.
    assert all("?" not in line for line in module("memory").splitlines() if "memref.alloc" in line)


def test_a20_length_is_in_no_constant(module):
    long, short = module("outline", 512), module("outline", 8)
    # The table of positions has rows for each of them, and the parameters behind it lie elsewhere.
    def same(text):
        return re.sub(r"\d+", "N", text.partition("\n")[2])

    assert same(long) == same(short)
    assert "memref.global" not in module("memory")


def test_b16_the_layer_input_is_not_transposed(module):
    (depthwise,) = [s for s in layer(module("simplify")).values() if "convbert.depthwise_conv1d" in s]
    assert depthwise.startswith("convbert.depthwise_conv1d %arg0, ")


def test_b16_the_query_has_two_uses(module):
    statements = layer(module("simplify"))
    (attention,) = [s for s in statements.values() if "convbert.self_attention" in s]
    query = re.match(r"convbert\.self_attention (%\w+), ", attention).group(1)
    assert f"{ATTENTION}xf32>" in statements[query] and f"heads = {HEADS} : i64" in attention
    users = [s for s in statements.values() if re.search(rf"{re.escape(query)}\b", s)]
    assert len(users) == 2
    (product,) = [s for s in users if s != attention]
    assert re.match(rf"convbert\.dense %\w+, %\w+, %\w+ times {re.escape(query)} ", product)


def test_b16_attention_is_the_first_half(module):
    statements = layer(module("simplify"))
    (halves,) = [s for s in statements.values() if s.startswith("tensor.concat")]
    first, second = re.match(r"tensor\.concat dim\(2\) (%[\w#]+), (%[\w#]+)", halves).groups()
    assert "convbert.self_attention" in statements[first] and "convbert.apply_kernel" in statements[second]
    assert halves.endswith(f"-> tensor<?x?x{2 * ATTENTION}xf32>")
