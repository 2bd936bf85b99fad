"""Means and selections of depthwise convolutions that are not made: sums of rows, and taps mixed for each sequence."""

import numpy as np
import pytest

from convbert import reference_ops as ops
from module_harness import BATCHES, Batch, Module, isas, random_array, tensor, tokens, wide
from test_vector_inputs import VectorBatch, VectorModule


class Branch:
    """A depthwise convolution of `%x`."""

    def __init__(self, name, width, taps, low=None, dilation=1, biased=False, layout="out_in"):
        reach = (taps - 1) * dilation
        self.name, self.width, self.dilation, self.layout = name, width, dilation, layout
        self.pads = (reach // 2, reach - reach // 2) if low is None else (low, reach - low)
        self.parameters = {f"w{name}": random_array(*((width, taps) if layout == "out_in" else (taps, width)))}
        if biased:
            self.parameters[f"b{name}"] = random_array(width)

    def text(self, x="%x"):
        operands = ", ".join([x, *(f"%{key}" for key in self.parameters)])
        types = ", ".join([tokens(self.width), *(tensor(*array.shape) for array in self.parameters.values())])
        return (f"  %u{self.name} = convbert.depthwise_conv1d {operands} {{pads = array<i64: {self.pads[0]}, "
                f"{self.pads[1]}>, dilation = {self.dilation} : i64, layout = #convbert.layout<{self.layout}>}}"
                f" : ({types}) -> {tokens(self.width)}\n")

    def expected(self, x):
        weight, *bias = self.parameters.values()
        return ops.depthwise_conv1d(x[None], weight, bias[0] if bias else None, self.pads, dilation=self.dilation,
                                    layout=self.layout)[0]


def selective(branches, width, inner, x="%x", between=""):
    """A selective-kernel unit of the branches, `%y`, and its parameters besides those of the branches."""
    parameters = {"wz": random_array(inner, width), "a": random_array(len(branches), inner, width)}
    names = ", ".join(f"%u{branch.name}" for branch in branches)
    types = ", ".join([tokens(width)] * len(branches) + [tensor(inner, width), tensor(len(branches), inner, width)])
    return ("".join(branch.text(x) for branch in branches) + between +
            f"  %y = convbert.selective_kernel {names} squeeze(%wz) select(%a) : ({types}) -> {tokens(width)}\n",
            parameters)


def expected_selection(branches, parameters, x):
    return ops.selective_kernel(*(branch.expected(x)[None] for branch in branches), wz=parameters["wz"],
                                a=parameters["a"])[0]


CASES = [
    (64, [dict(taps=3), dict(taps=5)]),
    (37, [dict(taps=3, biased=True), dict(taps=3, dilation=2)]),                       # one bias, taps apart
    (70, [dict(taps=4, low=0), dict(taps=4, low=3, layout="in_out")]),                 # behind and before
    (300, [dict(taps=1), dict(taps=9, biased=True), dict(taps=2, low=1, biased=True)]),  # three, more than a block
    (16, [dict(taps=31), dict(taps=7), dict(taps=5, dilation=3), dict(taps=3)]),        # T < K
]


@isas
@pytest.mark.parametrize("width, cases", CASES)
def test_selected(isa, width, cases):
    branches = [Branch(i, width, **case) for i, case in enumerate(cases)]
    body, others = selective(branches, width, 6)
    parameters = {key: array for branch in branches for key, array in branch.parameters.items()} | others
    module = Module(isa, width, body + f"  return %y : {tokens(width)}", parameters, [("tokens", width)])
    for seed, lengths in enumerate([*BATCHES, [7, 8, 9, 1, 64, 2], [33]]):
        module.check(Batch(lengths, seed), lambda x, mask: [expected_selection(branches, others, x)])


@isas
@pytest.mark.parametrize("case", [dict(taps=1), dict(taps=5, biased=True), dict(taps=9, low=8), dict(taps=4, low=0),
                                  dict(taps=31, layout="in_out", biased=True)])
def test_mean(isa, case):
    width = 45
    branch = Branch("", width, **case)
    body = branch.text() + (f"  %m = convbert.pool %u {{kind = #convbert.pool<mean>}} : ({tokens(width)}) -> "
                            f"{tensor('?', width)}\n  return %m : {tensor('?', width)}")
    module = Module(isa, width, body, branch.parameters, [("sequences", width)])
    for seed, lengths in enumerate([*BATCHES, [7, 8, 9, 1, 64, 2]]):
        module.check(Batch(lengths, seed), lambda x, mask: [branch.expected(x).mean(0)])


@isas
def test_a_branch_that_is_returned(isa):
    """It is made; the sum of the means takes one pass over the rows all the same."""
    branches = [Branch(0, 32, 3), Branch(1, 32, 5)]
    body, others = selective(branches, 32, 6)
    parameters = {key: array for branch in branches for key, array in branch.parameters.items()} | others
    module = Module(isa, 32, body + f"  return %y, %u1 : {tokens(32)}, {tokens(32)}", parameters, [("tokens", 32)] * 2)
    for seed, lengths in enumerate(BATCHES):
        module.check(Batch(lengths, seed), lambda x, mask: [expected_selection(branches, others, x),
                                                            branches[1].expected(x)])


@isas
def test_sequences_do_not_meet(isa):
    """Inf and NaN in one sequence: the others have the numbers that they have alone."""
    width = 48
    branches = [Branch(0, width, 3, biased=True), Branch(1, width, 5, dilation=2)]
    body, others = selective(branches, width, 6, x="%vectors")
    parameters = {key: array for branch in branches for key, array in branch.parameters.items()} | others
    module = VectorModule(isa, width, body + f"  return %y : {tokens(width)}", parameters, [("tokens", width)])
    for lengths in ([3, 9, 1, 20, 5], [8, 8, 8], [13, 30, 2, 41]):
        for broken in range(len(lengths)):
            batch = VectorBatch(lengths, width, seed=broken)
            batch.vectors[broken] = np.nan if broken % 2 else np.inf
            one, two = module.run(batch, 1), module.run(batch, 2)
            assert one[0].tobytes() == two[0].tobytes()
            for b, length in enumerate(lengths):
                if b == broken:
                    assert np.isnan(one[0][b, :length]).all()
                    continue
                want = expected_selection(branches, others, wide(batch.vectors[b, :length]))
                np.testing.assert_allclose(one[0][b, :length], want, rtol=0, atol=2e-5)
