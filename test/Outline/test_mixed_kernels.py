"""Convolutions with kernels mixed for each sequence: panels are mixed, then multiplied with the sequence's rows alone."""

from pathlib import Path

import numpy as np
import pytest

from convbert import bfloat16, reference_ops as ops
from module_harness import (BATCHES, BFLOAT16, Batch, Module, check_rounded, isas, random_array, rounded, tensor, tokens,
                            wide)
from test_vector_inputs import VectorBatch, VectorModule


def follow(taps, pads, stride, dilation):
    """Tokens that the windows make of so many."""
    return lambda length: max(0, (int(length) + sum(pads) - (taps - 1) * dilation - 1) // stride + 1)


def mix(kernels, biases, x, p, window):
    """Operations that make `%y` of `x`, rows, and `p`, weights of sequences, from `%k` and, with biases, `%kb`."""
    count, out, width, taps = kernels.shape
    pads, stride, dilation = window
    size, sequences = out * width * taps, tensor("?", count)
    mixed, own = tensor("?", size), tensor("?", out, width, taps)
    text = f"""
  %c0 = arith.constant 0 : index
  %batch = tensor.dim {x}, %c0 : {tokens(width)}
  %rows = tensor.collapse_shape %k [[0], [1, 2, 3]] : {tensor(*kernels.shape)} into {tensor(count, size)}
  %m = convbert.dense {p}, %rows {{layout = #convbert.layout<in_out>}} : ({sequences}, {tensor(count, size)}) -> {mixed}
  %w = tensor.expand_shape %m [[0], [1, 2, 3]] output_shape [%batch, {out}, {width}, {taps}] : {mixed} into {own}
"""
    operands, types = [x, "%w"], [tokens(width), own]
    if biases is not None:
        text += (f"  %wb = convbert.dense {p}, %kb {{layout = #convbert.layout<in_out>}} : ({sequences}, "
                 f"{tensor(count, out)}) -> {tensor('?', out)}\n")
        operands, types = operands + ["%wb"], types + [tensor("?", out)]
    return text + (f"  %y = convbert.conv1d {', '.join(operands)} {{pads = array<i64: {pads[0]}, {pads[1]}>, stride = "
                   f"{stride} : i64, dilation = {dilation} : i64}} : ({', '.join(types)}) -> {tokens(out)}\n")


def convolve(x, p, kernels, biases, window, edit=lambda array: array):
    """The same in float64, for one sequence."""
    pads, stride, dilation = window
    weight = edit(np.tensordot(p, kernels.astype(np.float64), 1))
    bias = p @ biases.astype(np.float64) if biases is not None else None
    if follow(weight.shape[2], *window)(len(x)) == 0:
        return np.zeros((0, weight.shape[0]))
    return ops.conv1d(x[None], weight, bias, pads, stride, dilation)[0]


def arrays(count, out, width, taps, biased):
    kernels = random_array(count, out, width, taps) / np.float32(np.sqrt(count * width))
    return kernels, (random_array(count, out) if biased else None)


POOL = "  %s = convbert.pool %x {{kind = #convbert.pool<mean>}} : ({}) -> {}\n"


def gated(count, width):
    """Weights `%p` of sequences that are no softmax: of any sign and sum, but not far from one."""
    return (POOL.format(tokens(width), tensor("?", width)) + f"  %p = convbert.dense %s, %g : "
            f"({tensor('?', width)}, {tensor(count, width)}) -> {tensor('?', count)}\n")


CASES = [
    (1, 7, 5, 3, True, ((1, 1), 1, 1)),     # one kernel
    (2, 32, 16, 1, True, ((0, 0), 1, 1)),   # one tap
    (4, 100, 16, 9, True, ((4, 4), 1, 1)),  # T < K, several panels
    (3, 48, 33, 4, False, ((3, 0), 1, 1)),  # causal
    (4, 49, 7, 4, True, ((0, 5), 1, 1)),    # odd pads, more tokens behind than before
    (5, 13, 24, 15, False, ((7, 7), 1, 1)),
    (3, 20, 11, 3, True, ((2, 1), 2, 1)),   # fewer tokens, some sequences with none
    (2, 24, 9, 5, True, ((8, 8), 1, 4)),    # phases
    (9, 17, 6, 4, False, ((3, 3), 3, 2)),
]
each_case = pytest.mark.parametrize("count, out, width, taps, biased, window", CASES)


@isas
@each_case
def test_shapes(isa, count, out, width, taps, biased, window):
    kernels, biases = arrays(count, out, width, taps, biased)
    parameters = {"k": kernels, "g": random_array(count, width)} | ({"kb": biases} if biased else {})
    body = gated(count, width) + mix(kernels, biases, "%x", "%p", window) + f"  return %y : {tokens(out)}"
    module = Module(isa, width, body, parameters, [("tokens", out, follow(taps, *window))])
    for seed, lengths in enumerate([*BATCHES, [7, 8, 9, 1, 64, 2]]):
        module.check(Batch(lengths, seed), lambda x, mask: [
            convolve(x, wide(parameters["g"]) @ x.mean(0), kernels, biases, window)])


@isas
def test_random_shapes(isa):
    random = np.random.default_rng(5)
    for _ in range(4):
        count, out, width, taps = (int(random.integers(1, most)) for most in (6, 120, 40, 12))
        low = int(random.integers(0, taps + 2))
        biased, window = bool(random.integers(2)), ((low, taps - 1 - low if low < taps else 0), 1, 1)
        kernels, biases = arrays(count, out, width, taps, biased)
        parameters = {"k": kernels, "g": random_array(count, width)} | ({"kb": biases} if biased else {})
        body = gated(count, width) + mix(kernels, biases, "%x", "%p", window) + f"  return %y : {tokens(out)}"
        module = Module(isa, width, body, parameters, [("tokens", out, follow(taps, *window))])
        for seed in range(3):
            lengths = random.integers(1, 50, random.integers(1, 7)).tolist()
            module.check(Batch(lengths, seed), lambda x, mask: [
                convolve(x, wide(parameters["g"]) @ x.mean(0), kernels, biases, window)])


@isas
@pytest.mark.parametrize("window", [((4, 0), 1, 1), ((2, 2), 1, 1), ((4, 4), 1, 2)])
def test_sequences_do_not_meet(isa, window):
    """NaN behind the end of each sequence, and in all of one: the others have the bits that they have alone."""
    count, out, width, taps = 3, 33, 16, 5
    kernels, biases = arrays(count, out, width, taps, True)
    body = (gated(count, width).replace("%x", "%vectors") + mix(kernels, biases, "%vectors", "%p", window) +
            f"  return %y : {tokens(out)}")
    gate = random_array(count, width)
    module = VectorModule(isa, width, body, {"k": kernels, "kb": biases, "g": gate},
                          [("tokens", out, follow(taps, *window))])

    for lengths in ([3, 9, 1, 20, 5], [8, 8, 8], [13, 30, 2, 41]):
        for broken in range(len(lengths)):
            batch = VectorBatch(lengths, width, seed=broken)
            batch.vectors[broken] = np.nan
            for threads in (1, 2):
                [found] = module.run(batch, threads)
                for b, length in enumerate(lengths):
                    if b == broken:
                        assert np.isnan(found[b, :length]).all()
                        continue
                    x = batch.vectors[b, :length]
                    want = convolve(wide(x), wide(gate) @ wide(x).mean(0), kernels, biases, window)
                    np.testing.assert_allclose(found[b, :length], want, rtol=0, atol=2e-5)


@isas
def test_two_convolutions_and_a_mix_that_is_returned(isa):
    """Mixes that others read too; the memory for the panels is used again."""
    count, width, taps, window = 2, 12, 3, ((1, 1), 1, 1)
    kernels, biases = arrays(count, width, width, taps, True)
    first = mix(kernels, biases, "%x", "%p", window)
    second = f"""  %z = convbert.conv1d %y, %w, %wb {{pads = array<i64: 1, 1>}}
    : ({tokens(width)}, {tensor('?', width, width, taps)}, {tensor('?', width)}) -> {tokens(width)}
  return %z, %m, %p : {tokens(width)}, {tensor('?', width * width * taps)}, {tensor('?', count)}"""
    gate = random_array(count, width)
    module = Module(isa, width, gated(count, width) + first + second, {"k": kernels, "kb": biases, "g": gate},
                    [("tokens", width), ("sequences", width * width * taps), ("sequences", count)])

    def expected(x, mask):
        p = wide(gate) @ x.mean(0)
        y = convolve(x, p, kernels, biases, window)
        return [convolve(y, p, kernels, biases, window), np.tensordot(p, wide(kernels), 1).reshape(-1), p]

    for seed, lengths in enumerate(BATCHES):
        module.check(Batch(lengths, seed), expected)


@isas
@pytest.mark.parametrize("count, out, width, taps, biased, window", CASES[2:8:2])
def test_stored_bfloat16(isa, count, out, width, taps, biased, window):
    """What is mixed is rounded, the mix is not."""
    kernels, biases = arrays(count, out, width, taps, biased)
    parameters = {"k": kernels, "g": random_array(count, width)} | ({"kb": biases} if biased else {})
    body = gated(count, width) + mix(kernels, biases, "%x", "%p", window) + f"  return %y : {tokens(out)}"
    module = Module(isa, width, body, parameters, [("tokens", out, follow(taps, *window))], options=["--weights=bf16"])
    stored, gate = bfloat16.to_bfloat16(kernels), wide(bfloat16.to_bfloat16(parameters["g"]))
    for seed, lengths in enumerate(BATCHES):
        module.check(Batch(lengths, seed), lambda x, mask: [convolve(x, gate @ x.mean(0), stored, biases, window)])


@pytest.mark.skipif("avx512_bf16" not in Path("/proc/cpuinfo").read_text().split(),
                    reason="this CPU has no AVX512_BF16")
@pytest.mark.parametrize("out, width, taps, biased, window", [case[1:] for case in CASES])
def test_pairs(out, width, taps, biased, window):
    """What is mixed is rounded, and so is the mix.  Weights of the sequences are the mean token, not a product."""
    kernels, biases = arrays(width, out, width, taps, biased)
    parameters = {"k": kernels} | ({"kb": biases} if biased else {})
    body = (POOL.format(tokens(width), tensor("?", width)) + mix(kernels, biases, "%x", "%s", window) +
            f"  return %y : {tokens(out)}")
    module = Module(BFLOAT16, width, body, parameters, [("tokens", out, follow(taps, *window))])
    stored = bfloat16.to_bfloat16(kernels)
    check_rounded(module, lambda x: convolve(rounded(x), x.mean(0), stored, biases, window, edit=rounded), 1e-6, 1e-2)
