"""convbert.nn: functions composed of the dialect's operations, against NumPy in float64."""

import os
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

import convbert
import convbert.nn as nn
from checkpoints import GOLDEN
from convbert import reference, reference_ops as oracle
from convbert.reference_files import load_checkpoint, write_safetensors
from test_ops import check, normal, weight, wide

C = 12
BUILD = Path(os.environ.get("CONVBERT_BUILD_DIR", Path(__file__).resolve().parents[2] / "build"))


def gated(name="gated"):
    """A gated linear unit with a residual and a norm, and the graph's weights."""
    graph = nn.Graph(name)
    x = graph.input("x", C)
    y = nn.norm(x + nn.gated_linear_unit(x, "linear1"), "norm")
    graph.output(y, "y")
    return graph


def random_weights(graph, seed=0):
    return {name: weight(*value.shape, seed=seed) for name, value in graph.parameters.items()}


def gated_in_numpy(x, w):
    y = oracle.dense(x, w["linear1.weight"], w["linear1.bias"])
    y = x + y[..., :C] / (1 + np.exp(-y[..., C:]))
    return oracle.layer_norm(y, w["norm.weight"], w["norm.bias"])


def doubles(weights):
    return dict(zip(weights, wide(*weights.values())))


def test_gated_linear_unit():
    graph = gated()
    weights = random_weights(graph)
    function = graph.compile(weights)
    for shape in [(1, 1), (2, 9), (3, 40)]:
        x = normal(*shape, C)
        check(function(x), gated_in_numpy(*wide(x), doubles(weights)))
        check(function(x=x), gated_in_numpy(*wide(x), doubles(weights)))
    assert repr(function) == "<gated(x [B, T, 12]) -> y [B, T, 12]>"


def test_the_text_is_what_the_tools_read(tmp_path):
    path = tmp_path / "gated.mlir"
    path.write_text(str(gated()))
    done = subprocess.run([BUILD / "bin" / "convbert-opt", path, "--convbert-simplify"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    assert "residual(" in done.stdout and "times" in done.stdout  # the norm and the product have been fused


def test_weights_from_a_file(tmp_path):
    graph = gated()
    weights = random_weights(graph)
    write_safetensors(tmp_path / "w.safetensors", weights)
    x = normal(1, 5, C)
    np.testing.assert_array_equal(graph.compile(tmp_path / "w.safetensors")(x), graph.compile(weights)(x))


@pytest.mark.parametrize("content", [b"", b"1234", b"\xff" * 100, b"\2\0\0\0\0\0\0\0[]",
                                     b'\x3c\0\0\0\0\0\0\0{"w":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}}     .'])
def test_a_file_that_is_no_safetensors(tmp_path, content):
    path = tmp_path / "w.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="^weights: requires a safetensors file of numbers, but found another one at "):
        gated().compile(path)


def test_several_inputs_and_outputs():
    graph = nn.Graph("two")
    x, y, row, mask = graph.input("x", C), graph.input("y", 5), graph.pooled("row", 7), graph.mask("mask")
    w = graph.parameter("w", (5, C))
    graph.output(nn.mask_tokens(nn.dense(x, w), mask) * y, "product")
    graph.output(nn.dense(row, graph.parameter("v", (3, 7)), activation="tanh"), "pooled")
    graph.output(nn.concat(nn.dense(x, w), nn.activation(y, "relu")), "both")
    weights = random_weights(graph)
    function = graph.compile(weights)
    x, y, row, mask = normal(2, 6, C), normal(2, 6, 5), normal(2, 7), np.arange(6) < [[6], [2]]
    product, pooled, both = function(x, y, mask=mask, row=row)
    w, v = wide(weights["w"], weights["v"])
    check(product, oracle.mask_tokens(oracle.dense(*wide(x), w), mask) * y)
    check(pooled, np.tanh(oracle.dense(*wide(row), v)))
    check(both, np.concatenate([oracle.dense(*wide(x), w), np.maximum(y, 0)], axis=-1))


def test_parts_of_features():
    graph = nn.Graph()
    x = graph.input("x", C)
    a, b, c = nn.split(x, (3, 4, 5))
    graph.output(nn.activation(b, "relu"))
    graph.output(c)
    graph.output(a + a)
    x = normal(2, 5, C)
    for got, want in zip(graph.compile()(x), (np.maximum(x[..., 3:7], 0), x[..., 7:], 2 * x[..., :3])):
        np.testing.assert_array_equal(got, want)


def test_lengths():
    """What is behind a sequence's end is not read; its results are zero."""
    graph = nn.Graph()
    x = graph.input("x", C)
    graph.output(nn.depthwise_conv1d(x, graph.parameter("w", (C, 5))))
    graph.output(nn.pool(x, "mean"))
    w = weight(C, 5)
    function = graph.compile({"w": w})
    x = normal(2, 6, C)
    x[1, 2:] = np.nan
    conv, mean = function(x, lengths=[6, 2])
    check(conv[1:, :2], oracle.depthwise_conv1d(*wide(x[1:, :2], w), pads=(2, 2)))
    assert (conv[1, 2:] == 0).all()
    check(mean[1], wide(x[1, :2])[0].mean(axis=0))


def test_results_in_arrays_of_the_caller():
    graph = nn.Graph("two")
    x = graph.input("x", C)
    graph.output(x + x, "twice")
    graph.output(nn.pool(x, "mean"), "mean")
    function, x = graph.compile(), normal(2, 6, C)
    twice, mean = np.full((2, 6, C), np.nan, np.float32), np.full((2, C), np.nan, np.float32)
    for _ in range(2):  # the second call knows the shapes
        found = function(x, out={"twice": twice, "mean": mean})
        assert found[0] is twice and found[1] is mean
        np.testing.assert_array_equal(twice, 2 * x)
        check(mean, wide(x)[0].mean(axis=1))
        twice.fill(np.nan)
    function(x, lengths=[6, 2], out={"twice": twice, "mean": mean})
    np.testing.assert_array_equal(twice[1], np.where(np.arange(6)[:, None] < 2, 2 * x[1], 0))
    for out, message in ((twice, "requires an array for each of twice, mean, but found twice$"),
                         ({"twice": twice[:1], "mean": mean}, r"out\['twice'\]: requires float32 of shape \[2, 6, 12\], but found float32 of shape \[1, 6, 12\]"),
                         ({"twice": twice, "mean": [1.0]}, "requires a NumPy array, but found a list")):
        with pytest.raises(ValueError, match=message):
            function(x, out=out)
    with pytest.raises(ValueError, match="^output twice: requires memory of its own, but found that of input x"):
        function(x, out={"twice": x, "mean": mean})
    before = x.copy()
    with pytest.raises(ValueError, match="requires memory of its own, but found that of x"):
        function(x, lengths=[6, 2], out={"twice": x, "mean": mean})
    np.testing.assert_array_equal(x, before)


def test_the_fastest_call():
    graph = nn.Graph("twice")
    x = graph.input("x", C)
    graph.output(x + x)
    function, x = graph.compile(threads=1), normal(4, 600, C)
    start = time.perf_counter()
    fastest = function.fastest_ms(x, calls=20)
    assert 0 < fastest <= (time.perf_counter() - start) / 20 * 1e3
    assert function.fastest_ms(x[:1, :1], calls=20) < fastest
    with pytest.raises(ValueError, match="calls: requires a number >= 1, but found 0"):
        function.fastest_ms(x, calls=0)
    with pytest.raises(ValueError, match="x: requires the shape"):
        function.fastest_ms(x[..., 1:])


def test_calls_of_all_kinds_one_after_another():
    """What a call found out about shapes serves later calls with the same shapes and types alone."""
    graph = nn.Graph()
    x, mask = graph.input("x", C), graph.mask("mask")
    graph.output(nn.mask_tokens(x + x, mask))
    function, rng = graph.compile(), np.random.default_rng(0)
    for _ in range(300):
        batch, length = rng.integers(1, 4), rng.integers(1, 40)
        x, mask = rng.standard_normal((batch, length, C), np.float32), rng.random((batch, length)) < 0.5
        want = 2 * x * mask[..., None]
        turned = np.ascontiguousarray(x[..., ::-1])[..., ::-1]
        fixed = x.copy()
        fixed.flags.writeable = False
        given = (x, x.astype(np.float64), turned, fixed, x.tolist())[rng.integers(5)]
        bits = (mask, mask.astype(np.int64), np.asfortranarray(mask), mask.tolist())[rng.integers(4)]
        for _ in range(2):
            np.testing.assert_allclose(function(given, bits), want, rtol=1e-6)
        np.testing.assert_allclose(function(given, mask=bits, lengths=[length] * batch), want, rtol=1e-6)
        with pytest.raises(ValueError, match="^mask: requires the shape"):
            function(x, np.ones((batch, length + 1), bool))
        with pytest.raises(ValueError, match="^x: requires floating-point values, but found int32$"):
            function(x.astype(np.int32), mask)


def layer(x):
    return nn.norm(nn.linear(nn.depthwise_conv1d(x, x.graph.parameter("taps", (C, 3))), "out", C, "gelu"), "norm",
                   residual=x)


def test_repeated_layers_are_one_function():
    texts = []
    for count in (2, 5):
        graph = nn.Graph("deep")
        graph.output(nn.repeat(graph.input("x", C), count, layer))
        texts.append(str(graph))
        assert list(graph.parameters)[:2] == ["layers.0.taps", "layers.0.out.weight"]
        weights = random_weights(graph)
        x = normal(2, 7, C)
        (want,), w = wide(x), doubles(weights)
        for index in range(count):
            get = lambda name: w[f"layers.{index}.{name}"]  # noqa: E731
            h = oracle.dense(oracle.depthwise_conv1d(want, get("taps"), pads=(1, 1)), get("out.weight"), get("out.bias"),
                             activation="gelu")
            want = oracle.layer_norm(h, get("norm.weight"), get("norm.bias"), want)
        check(graph.compile(weights)(x), want)
    assert [text.count("convbert.layer_norm") for text in texts] == [1, 1]
    assert [text.count("func.call") for text in texts] == [2, 5]


def test_a_layer_of_a_checkpoint():
    """convbert_layer on the weights of a checkpoint's file equals the layer as specified."""
    config, tensors = load_checkpoint(GOLDEN / "base_tiny")
    prefix = next(name for name in tensors if "encoder.layer.0." in name).split("encoder.layer.0.")[0] + "encoder."
    weights = {name[len(prefix):]: array for name, array in tensors.items() if name.startswith(prefix + "layer.0.")}
    heads = config["num_attention_heads"] // config["head_ratio"]
    graph = nn.Graph("layer")
    x = graph.input("x", config["hidden_size"])
    mask = graph.mask("mask")
    graph.output(nn.repeat(x, 1, lambda x, mask: nn.convbert_layer(
        x, mask, attn_heads=heads, conv_heads=heads, head_size=config["hidden_size"] // config["num_attention_heads"],
        taps=config["conv_kernel_size"], intermediate=config["intermediate_size"]), mask, scope="layer"))
    assert sorted(graph.parameters) == sorted(weights)
    x, mask = normal(2, 9, config["hidden_size"]), np.arange(9) < [[9], [5]]
    got = graph.compile(weights)(x, mask)
    w = {name.removeprefix("layer.0."): array for name, array in doubles(weights).items()}
    own = "attention.self."
    mixed = oracle.mixed_attention(
        wide(x)[0], w[own + "query.weight"], w[own + "query.bias"], w[own + "key.weight"], w[own + "key.bias"],
        w[own + "value.weight"], w[own + "value.bias"], w[own + "key_conv_attn_layer.depthwise.weight"][:, 0],
        w[own + "key_conv_attn_layer.pointwise.weight"][..., 0], w[own + "key_conv_attn_layer.bias"][:, 0],
        w[own + "conv_kernel_layer.weight"], w[own + "conv_kernel_layer.bias"], w[own + "conv_out_layer.weight"],
        w[own + "conv_out_layer.bias"], w["attention.output.dense.weight"], w["attention.output.dense.bias"],
        bias=oracle.attention_bias(mask, np.float64), attn_heads=heads, conv_heads=heads,
        head_size=config["hidden_size"] // config["num_attention_heads"])
    h = oracle.layer_norm(mixed, w["attention.output.LayerNorm.weight"], w["attention.output.LayerNorm.bias"], wide(x)[0])
    f = oracle.feed_forward(h, w["intermediate.dense.weight"], w["intermediate.dense.bias"], w["output.dense.weight"],
                            w["output.dense.bias"])
    check(got, oracle.layer_norm(f, w["output.LayerNorm.weight"], w["output.LayerNorm.bias"], h))


def test_code_is_found_in_the_cache(tmp_path):
    graph = gated()
    first = graph.compile(random_weights(graph), cache=tmp_path)
    second = graph.compile(random_weights(graph, seed=1), cache=tmp_path)
    assert [f.timings["cached"] for f in (first, second)] == [False, True]
    from convbert.cache import entries

    assert [entry.note["function"] for entry in entries(str(tmp_path))] == ["gated"]
    assert not graph.compile(random_weights(graph), cache=False).timings["cached"]


# ---- what is refused ------------------------------------------------------------------------------------------------

def one_input():
    graph = nn.Graph("f")
    return graph, graph.input("x", C)


@pytest.mark.parametrize("build, message", [
    (lambda g, x: g.input("x", 3), "input: requires a name of its own, but found 'x' twice"),
    (lambda g, x: g.input("z", 0), "z: requires sizes >= 1, but found [0]"),
    (lambda g, x: nn.Graph("not a name"), "name: requires a letter, then letters, digits and _, but found 'not a name'"),
    (lambda g, x: (g.parameter("w", 3), g.parameter("w", 4)), "w: requires one shape, but found [3] and [4]"),
    (lambda g, x: nn.add(x, g.input("y", 3)), "addf: requires values of one shape, but found [B, T, 12] and [B, T, 3]"),
    (lambda g, x: x + 1, "addf: requires two values, but found 1"),
    (lambda g, x: nn.add(one_input()[1], x), "requires a value of the graph f, but found one of f"),
    (lambda g, x: nn.split(x, (3, 4)), "split: requires sizes that sum to 12 features, but found 7"),
    (lambda g, x: nn.repeat(x, 0, layer), "repeat: requires at least 1 layer, but found 0"),
    (lambda g, x: nn.repeat(x, 2, lambda y: nn.linear(y, "l", 3)),
     "repeat: requires a result of the shape [B, T, 12] of its input, but found [B, T, 3]"),
    (lambda g, x: nn.repeat(x, 2, lambda y: y + x), "requires a value of the graph f_layers_0, but found one of f; what "
                                                    "a repeated layer reads is passed to it by repeat()"),
    (lambda g, x: str(g), "f: requires at least one output, but found none"),
    (lambda g, x: (g.output(x, "y"), g.output(x, "y")), "output: requires a name of its own, but found 'y' twice"),
    (lambda g, x: nn.concat(x, g.pooled("p", 3)), "concat: requires values that differ in one axis alone, but found "
                                                  "[B, T, 12] and [B, 3]"),
])
def test_wrong_graphs(build, message):
    with pytest.raises(ValueError) as error:
        build(*one_input())
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("weights, message", [
    (None, "weights: requires an array for each parameter, but found none for 'linear1.weight'"),
    ({"w": 1}, "weights: requires names of parameters (linear1.weight, linear1.bias, norm.weight, norm.bias), but found "
               "'w'"),
    (3, "weights: requires arrays by name or the path of a safetensors file, but found 3"),
])
def test_wrong_weights(weights, message):
    with pytest.raises(ValueError) as error:
        gated().compile(weights)
    assert str(error.value) == message


def test_a_weight_of_another_shape():
    graph = gated()
    weights = random_weights(graph) | {"norm.bias": np.zeros(3)}
    with pytest.raises(ValueError, match=r"norm.bias: requires the shape \[12\], but found \[3\]"):
        graph.compile(weights)


@pytest.mark.parametrize("arguments, named, message", [
    ((), {}, "x: requires an array, but found none"),
    ((1, 2), {}, "f: requires at most 1 inputs (x), but found 2"),
    ((), {"y": 1}, "f: requires the inputs x, but found y, which is no input"),
    ((np.zeros((1, 2, 3)),), {}, "x: requires the shape [B, T, 12], but found [1, 2, 3]"),
    ((np.zeros((1, 0, C)),), {}, "x: requires at least one sequence and one token, but found [1, 0, 12]"),
    ((np.zeros((1, 2, C), int),), {}, "x: requires floating-point values, but found int64"),
    ((np.zeros((1, 2, C)),), {"lengths": [1, 2]}, "lengths: requires the shape [1], but found [2]"),
    ((np.zeros((1, 2, C)),), {"lengths": [3]}, "lengths: requires values in [1, 2], but found 3 at [0]"),
])
def test_wrong_inputs(arguments, named, message):
    graph, x = one_input()
    graph.output(x + x)
    function = graph.compile()
    with pytest.raises(ValueError) as error:
        function(*arguments, **named)
    assert str(error.value) == message


def test_what_the_dialect_refuses():
    graph, x = one_input()
    graph.output(nn.layer_norm(x, graph.parameter("g", C), graph.parameter("b", 5)))
    with pytest.raises(convbert.Error, match="^f: layer_norm: requires the size of `beta` to be 12, but found 5$"):
        graph.compile(random_weights(graph))
