"""Vectors in place of ids, and checkpoints of layers without embeddings."""

import json
import subprocess
import sys

import numpy as np
import pytest

import convbert
from checkpoints import GOLDEN, loaded
from convbert import reference
from stored_checkpoints import unpacked

IDS = np.array([[1, 5, 9, 2, 10], [3, 4, 0, 0, 0]])
MASK = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]])
TYPES = np.array([[0, 0, 1, 1, 1], [0, 0, 0, 0, 0]])


def words(directory):
    return reference.load_checkpoint(directory)[1]


def vectors_of(directory, ids):
    tensors = reference.normalize_names(words(directory))
    return tensors["embeddings.word_embeddings.weight"][ids]


@pytest.mark.parametrize("name", ["spec8_g1_seqcls", "emb_gt_hidden", "bert", "electra_seqcls"])
def test_rows_of_the_table_give_what_their_ids_give(name):
    model = loaded(GOLDEN / name)
    arguments = dict(attention_mask=MASK, token_type_ids=TYPES)
    out = model(inputs_embeds=vectors_of(GOLDEN / name, IDS), **arguments)
    for key, expected in model(IDS, **arguments).items():
        np.testing.assert_array_equal(out[key], expected, key)


def test_multiple_choice_takes_vectors():
    model = loaded(GOLDEN / "spec8_g1_mc")
    found = model(inputs_embeds=vectors_of(GOLDEN / "spec8_g1_mc", IDS[None])).logits
    np.testing.assert_array_equal(found, model(IDS[None]).logits)
    with pytest.raises(ValueError, match=r"requires the shape \[batch, choices, length, 4\], but found rank 3"):
        model(inputs_embeds=np.zeros((2, 5, 4), np.float32))


def test_vectors_with_hidden_states_and_exact_padding():
    model = convbert.load(GOLDEN / "spec8_g2", padding="exact")
    vectors = vectors_of(GOLDEN / "spec8_g2", IDS)
    out = model(inputs_embeds=vectors, attention_mask=MASK, output_hidden_states=True)
    expected = model(IDS, attention_mask=MASK, output_hidden_states=True)
    for found, right in zip(out.hidden_states, expected.hidden_states):
        np.testing.assert_array_equal(found, right)
    # A compiled set for each: plain, with hidden states, with vectors and hidden states.
    assert model.compile_count == 3
    alone = model(inputs_embeds=vectors[1:, :2])
    np.testing.assert_array_equal(out.last_hidden_state[1, :2], alone.last_hidden_state[0])


def test_double_precision_and_strides_are_taken():
    model = loaded(GOLDEN / "spec8_g2")
    vectors = vectors_of(GOLDEN / "spec8_g2", IDS)
    expected = model(inputs_embeds=vectors).last_hidden_state
    strided = np.asfortranarray(vectors.astype(np.float64))
    np.testing.assert_array_equal(model(inputs_embeds=strided).last_hidden_state, expected)


def test_a_vector_that_is_no_number_stays_in_its_sequence():
    model = loaded(GOLDEN / "spec8_g2")
    vectors = vectors_of(GOLDEN / "spec8_g2", IDS)
    clean = model(inputs_embeds=vectors).last_hidden_state
    vectors[0, 3, 1] = np.nan
    found = model(inputs_embeds=vectors).last_hidden_state
    assert np.isnan(found[0]).any()
    np.testing.assert_array_equal(found[1], clean[1])


def test_artefact_takes_vectors(tmp_path):
    place = convbert.compile(GOLDEN / "spec8_g2", output=tmp_path / "m.cbx", outputs=["inputs_embeds"])
    vectors = vectors_of(GOLDEN / "spec8_g2", IDS)
    found = convbert.load(place)(inputs_embeds=vectors).last_hidden_state
    np.testing.assert_array_equal(found, loaded(GOLDEN / "spec8_g2")(IDS).last_hidden_state)
    plain = convbert.load(convbert.compile(GOLDEN / "spec8_g2", output=tmp_path / "plain.cbx"))
    with pytest.raises(convbert.Error, match="requires code for inputs_embeds, but the artefact was compiled with the "
                                            "plain outputs alone"):
        plain(inputs_embeds=vectors)


def test_command_line(tmp_path):
    """Artefacts with code for vectors, and runs on arrays of them."""
    def run(*arguments):
        command = [sys.executable, "-m", "convbert", *map(str, arguments)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        return result.stdout

    run("compile", GOLDEN / "spec8_g2", "-o", tmp_path / "m.cbx", "--inputs-embeds")
    np.save(tmp_path / "vectors.npy", vectors_of(GOLDEN / "spec8_g2", IDS))
    np.save(tmp_path / "ids.npy", IDS)
    printed = run("run", tmp_path / "m.cbx", "--input", tmp_path / "vectors.npy")
    assert printed == run("run", tmp_path / "m.cbx", "--input", tmp_path / "ids.npy")
    np.save(tmp_path / "x.npy", np.ones((4, 24), np.float32))  # one sequence
    printed = run("run", unpacked("models") / "encoder_only", "--input", tmp_path / "x.npy")
    assert printed.startswith("last_hidden_state [1, 4, 24], from ")


# ---- layers alone ----------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def encoder():
    return loaded(unpacked("models") / "encoder_only_head")


def test_layers_alone_describe_themselves(encoder):
    assert encoder.model_class == "EncoderOnly"
    assert encoder.max_positions is None
    assert encoder.labels == ["LABEL_0", "LABEL_1", "LABEL_2"]
    assert [item["name"] for item in encoder.inputs] == ["encoder_input", "attention_mask"]
    assert "positions" not in encoder.summary()
    assert encoder.cost(1, 1000).macs > 0


@pytest.mark.parametrize("length", [1, 2, 40, 300])
def test_layers_alone_take_any_length(encoder, length):
    x = np.random.default_rng(length).standard_normal((2, length, 24), np.float32)
    config, tensors = reference.load_checkpoint(encoder.path)
    exact = reference.forward(config, tensors, {"encoder_input": x}, "EncoderOnly")
    single = reference.forward(config, tensors, {"encoder_input": x}, "EncoderOnly", np.float32)
    out = encoder(encoder_input=x, output_hidden_states=True)
    np.testing.assert_array_equal(out.hidden_states[0], x)
    for name in ("last_hidden_state", "logits"):
        atol = 8 * np.abs(single[name] - exact[name]).max()
        np.testing.assert_allclose(out[name], exact[name], rtol=0, atol=atol)


X = np.zeros((2, 3, 24), np.float32)


@pytest.mark.parametrize("arguments, message", [
    (dict(input_ids=IDS), "input_ids: requires None, but found an array; this model takes encoder_input, for it has no "
                          "embeddings"),
    (dict(inputs_embeds=X), "inputs_embeds: requires None, but found an array; this model takes encoder_input"),
    (dict(encoder_input=X[..., :8]), r"encoder_input: requires the shape \[batch, length, 24\], but found rank 3 with "
                                     r"shape \[2, 3, 8\]"),
    (dict(encoder_input=X.astype(int)), "encoder_input: requires floating-point values, but found int64"),
    (dict(encoder_input=X, token_type_ids=np.zeros((2, 3), int)), "token_type_ids: requires None, but found an array; "
                                                                  "this model has no embeddings"),
    (dict(encoder_input=X, position_ids=np.zeros((2, 3), int)), "position_ids: requires None, but found an array"),
    (dict(encoder_input=X, attention_mask=np.ones((2, 4))), r"requires the shape \[2, 3\] of encoder_input"),
    (dict(encoder_input=X[:, :0]), "encoder_input: requires at least 1 token a sequence, but found 0"),
])
def test_layers_alone_refuse(encoder, arguments, message):
    with pytest.raises(ValueError, match="^.*" + message):
        encoder(**arguments)


def test_layers_alone_are_verified_and_compiled(encoder, tmp_path):
    assert convbert.verify(encoder.path).ok
    place = convbert.compile(encoder.path, output=tmp_path / "m.cbx")
    x = np.random.default_rng(0).standard_normal((2, 3, 24), np.float32)
    np.testing.assert_array_equal(convbert.load(place)(encoder_input=x).logits, encoder(encoder_input=x).logits)


def test_rows_of_the_layer_behind_follow_the_file_where_no_labels_are_named(tmp_path, encoder):
    source = unpacked("models") / "encoder_only_head"
    (tmp_path / "model.safetensors").write_bytes((source / "model.safetensors").read_bytes())
    config = json.loads((unpacked("models") / "encoder_only" / "config.json").read_text(encoding="utf-8"))
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    model = convbert.load(tmp_path)
    assert model.labels == []
    np.testing.assert_array_equal(model(encoder_input=X + 1).logits, encoder(encoder_input=X + 1).logits)


def test_missing_tables_are_no_encoder_where_a_class_is_named(tmp_path):
    source = unpacked("models") / "encoder_only"
    (tmp_path / "model.safetensors").write_bytes((source / "model.safetensors").read_bytes())
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    (tmp_path / "config.json").write_text(json.dumps({**config, "architectures": ["ConvBertModel"]}), encoding="utf-8")
    with pytest.raises(convbert.Error, match="tensor 'embeddings.word_embeddings.weight' .* is missing"):
        convbert.load(tmp_path)
