"""Encoders of fairseq and residual networks from state dicts, against what PyTorch computed of them (test/networks)."""

import sys

import numpy as np
import pytest

import convbert
from checkpoints import ROOT
from convbert.networks import load_fairseq_encoder, load_residual_network
from convbert.reference_files import read_safetensors, write_safetensors

NETWORKS = ROOT / "test" / "networks"
#: What a state dict does not say.
FAIRSEQ = {"light": {}, "light_first": {}, "dynamic": {"heads": 4}, "dynamic_first": {"heads": 8, "padding": "causal"}}


def stored(name):
    """The state dict, and the other arrays by name."""
    found = read_safetensors(NETWORKS / f"{name}.safetensors")
    weights = {key.removeprefix("weights."): array for key, array in found.items() if key.startswith("weights.")}
    return weights, {key: array for key, array in found.items() if not key.startswith("weights.")}


def close(got, arrays):
    """Within four times the gap of PyTorch's float32 to float64."""
    gap = max(4 * np.abs(arrays["f32"] - arrays["f64"]).max(), 1e-6)
    np.testing.assert_allclose(got, arrays["f64"], rtol=0, atol=gap)


def changed(name, **others):
    """The state dict with some arrays in place of others; None: without them."""
    weights = stored(name)[0] | {key.replace("__", "."): array for key, array in others.items()}
    return {key: array for key, array in weights.items() if array is not None}


# ---- fairseq --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", FAIRSEQ)
def test_fairseq(name):
    """Kernels of 3 to 31 taps on 24 tokens, the second sequence padded behind 9."""
    weights, arrays = stored("fairseq_" + name)
    encoder = load_fairseq_encoder(weights, **FAIRSEQ[name])
    x, mask = encoder.embed(arrays["ids"])
    np.testing.assert_allclose(x, arrays["x"], rtol=0, atol=2e-6 * np.abs(x).max())
    np.testing.assert_array_equal(mask, arrays["ids"] != 1)
    close(encoder(arrays["x"].transpose(1, 0, 2), mask, axes="tbc"), arrays)
    batch_first = encoder(arrays["x"], mask)
    close(batch_first.transpose(1, 0, 2), arrays)
    # More taps than tokens, and no mask: the second sequence by itself.
    alone = encoder(arrays["x"][1:, :9])
    np.testing.assert_allclose(alone, batch_first[1:, :9], rtol=0, atol=1e-6)


def test_what_is_read_off_a_fairseq_state_dict():
    light = load_fairseq_encoder(stored("fairseq_light")[0])
    assert [layer.taps for layer in light.layers] == [3, 7, 15, 31, 31]
    first, last = light.layers[0], load_fairseq_encoder(stored("fairseq_light_first")[0]).layers[0]
    assert (first.kind, first.heads, first.channels, first.conv_channels, first.gated, first.channel_bias) == (
        "light", 4, 16, 16, True, False)
    assert (last.heads, last.channels, last.conv_channels, last.gated, last.channel_bias) == (8, 16, 24, False, True)
    dynamic = load_fairseq_encoder(stored("fairseq_dynamic_first")[0], heads=8, padding="causal").layers[0]
    assert (dynamic.kind, dynamic.heads, dynamic.taps, dynamic.bias, dynamic.channel_bias) == ("dynamic", 8, 31, True, True)


def test_equal_layers_are_one_function():
    """The last two of five have 31 taps."""
    from convbert import import_fairseq

    texts, original = [], import_fairseq.Graph.compile
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_fairseq.Graph, "compile",
                      lambda graph, *a, **k: (texts.append(str(graph)), original(graph, *a, **k))[1])
        load_fairseq_encoder(stored("fairseq_light")[0])
    assert (texts[0].count("convbert.light_conv"), texts[0].count("func.call")) == (4, 5)


@pytest.mark.parametrize("prefix", ["", "model.encoder."])
def test_prefixes_and_files(tmp_path, prefix):
    weights, arrays = stored("fairseq_dynamic")
    renamed = {prefix + key.removeprefix("encoder."): array for key, array in weights.items()
               if key.startswith("encoder.")}
    path = tmp_path / "w.safetensors"
    write_safetensors(path, renamed)
    encoder = load_fairseq_encoder(path, heads=4, **({"prefix": prefix} if prefix else {}))
    close(encoder(arrays["x"], arrays["ids"] != 1).transpose(1, 0, 2), arrays)


def test_without_softmax():
    weights, arrays = stored("fairseq_light")
    taps = {key: array for key, array in weights.items() if key.endswith("conv.weight")}
    exponents = {key: np.exp(array) / np.exp(array).sum(-1, keepdims=True) for key, array in taps.items()}
    encoder = load_fairseq_encoder(weights | exponents, normalize="none")
    close(encoder(arrays["x"], arrays["ids"] != 1).transpose(1, 0, 2), arrays)


FC1 = "encoder__layers__1__fc1__weight"


@pytest.mark.parametrize("others, options, message", [
    ({"encoder__layers__1__fc2__bias": None, "encoder__layers__2__linear1__bias": None}, {},
     "weights: requires encoder.layers.1.fc2.bias, encoder.layers.2.linear1.bias for an encoder of 4 layers, but found no "
     "such names"),
    ({"encoder__layers__1__extra": np.zeros(3)}, {},
     "weights: requires no names but those of an encoder of 4 layers, but found encoder.layers.1.extra"),
    ({FC1: np.zeros((24, 15))}, {}, "encoder.layers.1.fc1.weight: requires the shape [24, 16], but found [24, 15]"),
    ({FC1: np.zeros(24)}, {}, "encoder.layers.1.fc1.weight: requires rank 2, but found [24]"),
    ({FC1: None}, {}, "weights: requires encoder.layers.1.fc1.weight, but found none; there are "
                      "encoder.layers.1.fc1.bias"),
    ({"encoder__layers__2__linear1__weight": np.zeros((20, 16))}, {},
     "encoder.layers.2.linear1.weight: requires 16 rows, or 32 with a gate, for a convolution of 16 channels, but found 20"),
    ({"encoder__layers__3__linear2__weight": np.zeros((12, 16))}, {},
     "encoder.layers.3.linear2.weight: requires 16 rows, as many as the channels of the layers before, but found 12"),
    ({"encoder__layers__5__fc1__weight": np.zeros((24, 16))}, {},
     "weights: requires numbers from 0 on in names such as encoder.layers.0., but found 5 without 4"),
    ({}, {"heads": None}, "heads: requires the heads of the dynamic convolutions (encoder.layers.0.conv.weight_linear.weight "
                          "has 12 rows, heads times taps), but found none"),
    ({}, {"heads": 5}, "heads: requires a divisor of the 12 rows of encoder.layers.0.conv.weight_linear.weight, but found 5"),
    ({}, {"prefix": "net."}, "weights: requires names such as net.layers.0.linear1.weight, but found encoder.version, "
                             "encoder.embed_tokens.weight, "),
    ({}, {"padding": "valid"}, "encoder: "),
])
def test_wrong_fairseq_state_dicts(others, options, message):
    with pytest.raises((ValueError, convbert.Error)) as error:
        load_fairseq_encoder(changed("fairseq_dynamic", **others), **({"heads": 4} | options))
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_heads_of_light_convolutions():
    with pytest.raises(ValueError, match="^heads: requires 4, the rows of encoder.layers.0.conv.weight, or None, but found 8"):
        load_fairseq_encoder(stored("fairseq_light")[0], heads=8)
    with pytest.raises(ValueError, match="^weights: requires arrays by name or the path of a safetensors file, but found 3$"):
        load_fairseq_encoder(3)


def test_wrong_calls():
    encoder = load_fairseq_encoder(stored("fairseq_light_first")[0])
    bare = load_fairseq_encoder(changed("fairseq_light_first", encoder__embed_tokens__weight=None))
    x = np.zeros((2, 5, 16), np.float32)
    for call, message in [
            (lambda: encoder(x, axes="bct"), "axes: requires btc or tbc, but found 'bct'"),
            (lambda: encoder(x[0]), "x: requires rank 3 [batch, tokens, channels], but found [5, 16]"),
            (lambda: encoder(x[..., :3]), "x: requires the shape [B, T, 16], but found [2, 5, 3]"),
            (lambda: encoder(x, np.ones((2, 4))), "mask: requires the shape [2, 5], but found [2, 4]"),
            (lambda: encoder.embed([1, 2]), "ids: requires rank 2 [batch, tokens], but found [2]"),
            (lambda: encoder.embed([[1, 13]]), "ids: requires values in [0, 13), but found 13"),
            (lambda: encoder.embed([[-1, 3]]), "ids: requires values in [0, 13), but found -1"),
            (lambda: encoder.embed(np.full((1, 60), 2)), "ids: requires at most 38 tokens, the rows of embed_positions.weight, "
                                                         "but found 60"),
            (lambda: bare.embed([[2]]), "ids: requires embed_tokens.weight among the weights, but found none; pass vectors "
                                        "instead")]:
        with pytest.raises(ValueError) as error:
            call()
        assert str(error.value) == message


# ---- residual networks ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name, options", [
    ("se", {}), ("sk", {}), ("se_stride", {"strides": (1, 2)})])
def test_residual_networks(name, options):
    weights, arrays = stored(name)
    close(load_residual_network(weights, **options)(arrays["x"].transpose(0, 2, 1)), arrays)


def test_lengths_of_a_residual_network():
    """A shorter sequence gives what it gives alone: neither convolutions nor gates see what is behind its end."""
    weights, arrays = stored("se")
    network, x = load_residual_network(weights), arrays["x"].transpose(0, 2, 1).copy()
    x[1, 8:] = np.nan
    np.testing.assert_allclose(network(x, lengths=[19, 8])[1:], network(x[1:, :8]), rtol=0, atol=1e-6)


def test_dense_layers_for_convolutions_of_one_tap():
    """Squeeze-and-excitation as Linear, a network without its head, and one behind a prefix."""
    weights, arrays = stored("se")
    linear = {key: array[..., 0] if ".se." in key and key.endswith("weight") else array for key, array in weights.items()}
    x = arrays["x"].transpose(0, 2, 1)
    close(load_residual_network(linear)(x), arrays)
    behind = load_residual_network({"net." + key: array for key, array in linear.items()} | {"other": 1}, prefix="net.")
    close(behind(x), arrays)
    features = load_residual_network({key: array for key, array in weights.items() if not key.startswith("fc.")})(x)
    assert features.shape == (2, 19, 20)
    close(features.mean(axis=1) @ weights["fc.weight"].T + weights["fc.bias"], arrays)


@pytest.mark.parametrize("name, others, options, message", [
    ("se", {"layer1__0__bn1__bias": None}, {}, "weights: requires layer1.0.bn1.bias, but found none; there are "),
    ("se", {"layer1__0__conv1__weight": np.zeros((12, 5, 3))}, {},
     "layer1.0.conv1.weight: requires input channels that divide the 12 that come in, but found 5"),
    ("se", {"layer1__0__conv1__weight": np.zeros((12, 12))}, {}, "layer1.0.conv1.weight: requires rank 3, but found [12, 12]"),
    ("se", {"layer2__0__downsample__0__weight": None}, {},
     "weights: requires layer2.0.downsample.0.weight, from 12 channels to 20, but found none"),
    ("se", {"layer1__0__conv4__weight": np.zeros((12, 12, 3))}, {},
     "weights: requires numbers from 1 on in names such as layer1.0.conv1., but found 4 without 3"),
    ("se", {"layer0__0__conv1__weight": np.zeros((12, 12, 3))}, {},
     "weights: requires numbers from 1 on in names such as layer1., but found 0"),
    ("se", {"avgpool": np.zeros(1)}, {}, "weights: requires no names but those of a residual network of 2 stages, but found "
                                         "avgpool"),
    ("se", {"conv1__weight": None}, {}, "weights: requires conv1.weight, but found none; there are "),
    ("se", {"layer1__0__se__fc1__bias": np.zeros(3)}, {}, "network: squeeze_excite: requires the size of `b1` to be 4, but "
                                                          "found 3"),
    ("sk", {"layer1__0__conv2__attn__fc_select__weight": np.zeros((15, 6, 1))}, {},
     "layer1.0.conv2.attn.fc_select.weight: requires 16 rows, 2 branches of 8 channels, but found 15"),
    ("sk", {}, {"strides": (1, 2, 2)}, "strides: requires 2 numbers, one a stage, but found 3"),
    ("se", {}, {"strides": (2, 1)}, "strides: requires layer1.0.downsample.0.weight for a stride of 2, but found none"),
    ("se", {}, {"prefix": "net."}, "weights: requires names such as net.layer1.0.conv1.weight, but found conv1.weight, "),
])
def test_wrong_residual_state_dicts(name, others, options, message):
    with pytest.raises((ValueError, convbert.Error)) as error:
        load_residual_network(changed(name, **others), **options)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


# ---- where there is PyTorch -----------------------------------------------------------------------------------------

@pytest.fixture
def networks(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(NETWORKS))
    import torch_networks

    yield torch_networks
    sys.modules.pop("torch_networks", None)


@pytest.mark.parametrize("length", [1, 2, 5, 16, 33, 70])
@pytest.mark.parametrize("name", FAIRSEQ)
def test_fairseq_beside_torch(networks, name, length):
    import torch

    network = networks.fairseq(name)
    encoder = load_fairseq_encoder(network.state_dict(), **FAIRSEQ[name])
    x = torch.randn(3, length, 16)
    mask = torch.arange(length) < torch.tensor([[length], [max(length - 3, 1)], [1]])
    with torch.no_grad():
        want = network.double().encoder(x.double().transpose(0, 1), ~mask).numpy()
    np.testing.assert_allclose(encoder(x, mask).transpose(1, 0, 2), want, rtol=0, atol=4e-6)


@pytest.mark.parametrize("length", [1, 2, 19, 50])
@pytest.mark.parametrize("name", ["se", "sk"])
def test_residual_networks_beside_torch(networks, name, length):
    import torch

    network, x = networks.residual(name), torch.randn(3, 7, length)
    found = load_residual_network(network.state_dict())(x.transpose(1, 2))
    with torch.no_grad():
        np.testing.assert_allclose(found, network.double()(x.double()).numpy(), rtol=0, atol=4e-6)
