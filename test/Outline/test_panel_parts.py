"""Products whose last features, behind whole wide panels, lie in a narrow panel of their own."""

from pathlib import Path

import numpy as np
import pytest

from convbert import bfloat16, reference_ops as ops
from module_harness import (BATCHES, BFLOAT16, Batch, Module, check_rounded, isas, random_array, rounded, tensor, tokens,
                            wide)

WIDTH = 37
# Where AVX-512 splits: the first, the last and one between; and where it does not: whole narrow panels are as few.
FEATURES = [65, 72, 80, 176, 64, 81]


def product(features, layout, biased, times):
    shape = (features, WIDTH) if layout == "out_in" else (WIDTH, features)
    parameters = {"w": random_array(*shape)} | ({"b": random_array(features)} if biased else {})
    text, types, attributes = "%x, %w" + ", %b" * biased, [tokens(WIDTH), tensor(*shape)], f"layout = #convbert.layout<{layout}>"
    types += [tensor(features)] * biased
    body = ""
    if times:
        parameters["v"] = random_array(features, WIDTH, seed=3)
        body = f"  %m = convbert.dense %x, %v : ({tokens(WIDTH)}, {tensor(features, WIDTH)}) -> {tokens(features)}\n"
        text, types = text + " times %m", [*types, tokens(features)]
    else:
        attributes += ", activation = #convbert.activation<relu>"
    return (body + f"  %y = convbert.dense {text} {{{attributes}}} : ({', '.join(types)}) -> {tokens(features)}\n"
            f"  return %y : {tokens(features)}"), parameters


def expected(x, p, layout, edit=wide):
    y = x @ (edit(p["w"]).T if layout == "out_in" else edit(p["w"]))
    y = y + p["b"] if "b" in p else y
    return y * (x @ edit(p["v"]).T) if "v" in p else np.maximum(y, 0)


@isas
@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("layout, biased, times", [("out_in", True, False), ("in_out", False, True)])
def test_parts(isa, features, layout, biased, times):
    body, parameters = product(features, layout, biased, times)
    module = Module(isa, WIDTH, body, parameters, [("tokens", features)])
    for seed, lengths in enumerate(BATCHES):
        module.check(Batch(lengths, seed), lambda x, mask: [expected(x, parameters, layout)], atol=2e-4)


@isas
@pytest.mark.parametrize("layout, biased, times", [("out_in", False, True), ("in_out", True, False)])
def test_parts_of_bfloat16(isa, layout, biased, times):
    body, parameters = product(72, layout, biased, times)
    module = Module(isa, WIDTH, body, parameters, [("tokens", 72)], options=["--weights=bf16"])
    for seed, lengths in enumerate(BATCHES):
        module.check(Batch(lengths, seed), lambda x, mask: [
            expected(x, parameters, layout, lambda w: wide(bfloat16.to_bfloat16(w)))], atol=2e-4)


@pytest.mark.skipif("avx512_bf16" not in Path("/proc/cpuinfo").read_text().split(),
                    reason="this CPU has no AVX512_BF16")
@pytest.mark.parametrize("layout", ["out_in", "in_out"])
def test_parts_of_pairs(layout):
    body, parameters = product(72, layout, True, False)
    module = Module(BFLOAT16, WIDTH, body, parameters, [("tokens", 72)])
    check_rounded(module, lambda x: expected(rounded(x), parameters, layout, rounded), 1e-5, 5e-2)


@isas
def test_logits_of_taps(isa):
    """Nine taps of eight heads are 72 rows of weights, in parts that do not end with a head."""
    heads, taps, width = 8, 9, 128
    parameters = {"w": random_array(heads * taps, width) / np.float32(8), "b": random_array(heads * taps)}
    body = (f"  %y = convbert.dynamic_conv %x, %w, %b {{heads = 8 : i64, pads = array<i64: 4, 4>}} : ({tokens(width)}, "
            f"{tensor(heads * taps, width)}, {tensor(heads * taps)}) -> {tokens(width)}\n  return %y : {tokens(width)}")
    module = Module(isa, width, body, parameters, [("tokens", width)])
    for seed, lengths in enumerate(BATCHES):
        module.check(Batch(lengths, seed), lambda x, mask: [
            ops.dynamic_conv(x[None], parameters["w"], parameters["b"], None, None, heads, (4, 4))[0]])
