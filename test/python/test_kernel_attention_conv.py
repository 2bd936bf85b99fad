"""Attention over convolution kernels: what the Python entry makes of its arguments, against NumPy in float64."""

import subprocess

import numpy as np
import pytest

import convbert.nn as nn
from convbert import interpreter, ops, reference_ops as oracle
from test_ops import C, X, check, normal, weight, wide

LN2 = np.log(2)
N, HIDDEN, OUT, TAPS = 4, 3, 10, 5


def weights(biases=True, seed=0):
    """All weights by name, out_in."""
    named = dict(f1=weight(HIDDEN, C), f2=weight(N, HIDDEN), kernels=weight(N, OUT, C, TAPS, seed=seed))
    return named | (dict(biases=weight(N, OUT), b1=weight(HIDDEN), b2=weight(N)) if biases else {})


def turned(named):
    """The same weights, in_out."""
    axes = dict(f1=(1, 0), f2=(1, 0), kernels=(0, 3, 2, 1))
    return {name: array.transpose(axes[name]) if name in axes else array for name, array in named.items()}


def interpreted(tools, x, named, **options):
    """The operation as the dialect reads it, in NumPy: operands and attributes stand where they belong."""
    graph = nn.Graph("f")
    graph.output(nn.kernel_attention_conv(graph.input("x", x.shape[-1]), **{
        name: graph.parameter(name, array.shape) for name, array in named.items()}, **options))
    text = subprocess.run([tools / "convbert-opt", "-", "--mlir-print-op-generic"], input=str(graph), text=True,
                          capture_output=True, check=True).stdout
    program = interpreter.Program(text, "f")
    values = program.run([x], {name: array.astype(np.float64) for name, array in named.items()})
    (result,) = [values[name] for name in program.results]
    (shape,) = [value.shape for value in graph.outputs.values()]
    # What the graph says of the number of tokens is Python.
    assert eval(str(shape[1]), {"T": x.shape[1]}) == result.shape[1] and shape[2] == result.shape[2]
    return result


#: Channels 0 and 2 of the toy input.
TOY = np.array([[[1, 2], [2, 0], [0, 1], [1, 1]]], np.float64)
WORKED = dict(f1=np.eye(2), f2=LN2 * np.array([[1, 1], [0, 0]]), biases=np.array([[0], [10]]),
              kernels=np.array([[[1, 0], [0, 1], [1, 0]], [[0, 1], [2, 0], [0, 1]]]).transpose(0, 2, 1)[:, None])


@pytest.mark.parametrize("temperature, want", [
    (1, [28 / 5, 21 / 5, 27 / 5, 17 / 5]), (2, [20 / 3, 19 / 3, 19 / 3, 5]), (30, [7.907597, 8.815194, 7.419147, 6.861395])])
@pytest.mark.parametrize("aggregate", ["auto", "kernels", "outputs"])
def test_as_worked_out(tools, temperature, want, aggregate):
    found = interpreted(tools, TOY, WORKED, temperature=temperature, aggregate=aggregate)
    np.testing.assert_allclose(found[0, :, 0], want, atol=1e-6)


@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("options, pads", [({}, (2, 2)), ({"padding": "causal", "dilation": 2}, (8, 0)),
                                           ({"padding": (1, 3), "stride": 2, "temperature": 30.0}, (1, 3))])
def test_arguments(tools, options, pads, biases):
    named = weights(biases)
    x, *doubles = wide(X, *named.values())
    want = oracle.kernel_attention_conv(x, **dict(zip(named, doubles)), pads=pads, **{
        name: value for name, value in options.items() if name != "padding"})
    np.testing.assert_allclose(interpreted(tools, x, named, **options), want, rtol=1e-12)
    np.testing.assert_allclose(interpreted(tools, x, turned(named), layout="keras", **options), want, rtol=1e-12)


@pytest.mark.parametrize("temperature", [1, 30])
def test_compiled(temperature):
    named = weights()
    x, *doubles = wide(X, *named.values())
    check(ops.kernel_attention_conv(X, **named, temperature=temperature),
          oracle.kernel_attention_conv(x, **dict(zip(named, doubles)), pads=(2, 2), temperature=temperature))


@pytest.mark.parametrize("change, options, message", [
    ({"f1": weight(HIDDEN, 5)}, {}, "kernel_attention_conv: requires the input features of `f1` to be 12, but found 5"),
    ({"b1": weight(2)}, {}, "kernel_attention_conv: requires the size of `b1` to be 3, but found 2"),
    ({"f2": weight(5, HIDDEN)}, {}, "kernel_attention_conv: requires the output features of `f2` to be 4, but found 5"),
    ({"kernels": weight(N, OUT, 5, TAPS)}, {},
     "kernel_attention_conv: requires the input features of `kernels` to be 12, but found 5"),
    ({"kernels": weight(N, OUT, TAPS)}, {}, "kernels: requires rank 4, but found [4, 10, 5]"),
    ({"biases": weight(N, 3)}, {}, "kernel_attention_conv: requires the output features of `biases` to be 10, but found 3"),
    ({}, {"temperature": 0}, "kernel_attention_conv: requires a temperature that is finite and positive, but "
                               "found 0.000000e+00"),
    ({}, {"temperature": float("inf")}, "kernel_attention_conv: requires a temperature that is finite and positive, but "
                                        "found INF"),
    ({}, {"aggregate": "mean"}, "aggregate: requires one of auto, kernels, outputs, but found 'mean'"),
    ({}, {"stride": 2}, "padding: requires a pair of numbers for a stride of 2, but found 'same'"),
])
def test_what_is_refused(change, options, message):
    with pytest.raises(ValueError) as error:
        ops.kernel_attention_conv(X, **(weights() | change), **options)
    assert str(error.value).startswith(message)
