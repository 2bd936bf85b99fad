"""Checkpoints of layers that lack heads: they give what the whole ones give with these heads silenced."""

import numpy as np
import pytest

import convbert
import pruning
from checkpoints import GOLDEN, golden_inputs, golden_manifest
from convbert import reference
from convbert.verification import FACTOR

# Checkpoint, and the heads that its layers lose.
CASES = {
    "an attention head": ("base_tiny", {0: {"attention": [1]}}),
    "the first attention head": ("base_tiny", {0: {"attention": [0]}}),
    "a convolution head": ("base_tiny", {1: {"conv": [0]}}),
    "one of each": ("base_tiny", {0: {"attention": [0], "conv": [1]}, 1: {"attention": [1], "conv": [0]}}),
    "all attention heads": ("base_tiny", {0: {"attention": [0, 1]}}),
    "all convolution heads": ("base_tiny", {1: {"conv": [0, 1]}}),
    "all convolution heads and an attention head": ("base_tiny", {0: {"conv": [0, 1], "attention": [0]}}),
    "the middle of three": ("odd_heads", {0: {"attention": [1]}}),
    "more of one kind": ("odd_heads", {0: {"attention": [0, 2], "conv": [0]}}),
    "none": ("odd_heads", {0: {}}),
    "with groups and a head": ("spec8_g2_seqcls", {0: {"attention": [1]}, 1: {"conv": [1]}}),
    "of BERT": ("bert", {0: {"attention": [1]}, 1: {"attention": [0, 2]}}),
    "of ELECTRA": ("electra", {1: {"attention": [0]}}),
}


def checkpoint(name):
    config, tensors = reference.load_checkpoint(GOLDEN / name)
    case = next(case for case in golden_manifest() if case["dir"] == name)
    return config, tensors, golden_inputs(case), config["architectures"][0]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_pruned_is_masked(case, tmp_path):
    name, removed = case
    config, tensors, inputs, model_class = checkpoint(name)
    silenced = pruning.masked(config, tensors, removed)
    small_config, small = pruning.pruned(config, tensors, removed)
    expected = reference.forward(config, silenced, inputs, model_class)
    oracle = reference.forward(small_config, small, inputs, model_class)
    single = reference.forward(small_config, small, inputs, model_class, np.float32)
    model = convbert.load(pruning.write(tmp_path / "model", small_config, small))
    out = model(**inputs)
    for key, found in out.items():
        np.testing.assert_allclose(oracle[key], expected[key], rtol=0, atol=1e-12, err_msg=key)
        atol = FACTOR * max(np.abs(single[key] - oracle[key]).max(), 1e-7)
        np.testing.assert_allclose(found, expected[key], rtol=0, atol=atol, err_msg=key)
    if any(heads for heads in removed.values()):
        whole = reference.forward(config, tensors, inputs, model_class)
        assert any(np.abs(whole[key] - expected[key]).max() > 1e-3 for key in out)


def test_pruned_layers_are_verified_and_explained(tmp_path):
    config, tensors, _, _ = checkpoint("base_tiny")
    directory = pruning.write(tmp_path / "model", *pruning.pruned(config, tensors, {0: {"attention": [0]},
                                                                                      1: {"conv": [0, 1]}}))
    assert convbert.verify(directory).ok
    from convbert.compiler import explain

    text = explain(directory)
    assert "from layer 0: 1 attention heads and 2 convolution heads of width 8, 9 taps" in text
    assert "from layer 1: 2 attention heads and 0 convolution heads of width 8, feed-forward" in text


def refusal(directory):
    with pytest.raises(convbert.Error) as caught:
        convbert.load(directory)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_tensors_that_lack_other_heads_than_said(tmp_path):
    config, tensors, _, _ = checkpoint("odd_heads")
    _, small = pruning.pruned(config, tensors, {0: {"attention": [1]}})
    # More heads removed than the tensors lack: both numbers.
    said = {**config, pruning.KEY: {"0": {"attention": [0, 1]}}}
    message = refusal(pruning.write(tmp_path / "more", said, small))
    assert "attention.self.key.weight" in message
    assert "leaves 1 of 3 attention heads and 3 of 3 convolution heads" in message
    # None said.
    assert "attention.self.key.weight" in refusal(pruning.write(tmp_path / "none", config, small))
    # All convolution heads said to be gone, and their tensors there.
    said = {**config, pruning.KEY: {"0": {"conv": [0, 1, 2]}}}
    assert "attention.output.dense.weight" in refusal(pruning.write(tmp_path / "conv", said, tensors))
    # A layer that the key does not name is whole.
    said = {**config, pruning.KEY: {}}
    assert "attention.self.key.weight" in refusal(pruning.write(tmp_path / "empty", said, small))


@pytest.mark.parametrize("value, message", [
    ([], "requires convbert_pruned_heads to be an object from layers to heads, but found an array"),
    ({"7": {}}, "requires the keys of convbert_pruned_heads to be layers below num_hidden_layers"),
    ({"00": {}}, "but found '00'"),
    ({"0": [1]}, 'requires convbert_pruned_heads["0"] to be an object with attention and conv, but found an array'),
    ({"0": {"convolution": [1]}}, 'requires convbert_pruned_heads["0"] to have the keys attention and conv, but found '
                                  "'convolution'"),
    ({"0": {"conv": 1}}, 'requires convbert_pruned_heads["0"].conv to be an array of head numbers, but found the number '
                         "1"),
    ({"0": {"conv": [3]}}, 'requires convbert_pruned_heads["0"].conv to be numbers of the 3 heads that the layer was '
                           "built with, from 0, but found the number 3"),
    ({"0": {"attention": [1, 1]}}, 'requires convbert_pruned_heads["0"].attention to name each head once, but found 1 '
                                   "twice"),
    ({"0": {"attention": [0, 1, 2], "conv": [2, 1, 0]}}, 'requires convbert_pruned_heads["0"] to leave a head, but '
                                                         "found all 6 removed"),
])
def test_what_the_key_may_not_say(tmp_path, value, message):
    config, tensors, _, _ = checkpoint("odd_heads")
    assert message in refusal(pruning.write(tmp_path / "model", {**config, pruning.KEY: value}, tensors))


def test_layers_of_bert_have_no_convolution_heads(tmp_path):
    config, tensors, _, _ = checkpoint("bert")
    message = refusal(pruning.write(tmp_path / "model", {**config, pruning.KEY: {"0": {"conv": [0]}}}, tensors))
    assert "the 0 heads" in message


def test_the_librarys_own_key_is_refused(tmp_path):
    config, tensors, _, _ = checkpoint("bert")
    assert "requires pruned_heads to be empty" in refusal(
        pruning.write(tmp_path / "model", {**config, "pruned_heads": {"0": [1]}}, tensors))
