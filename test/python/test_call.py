"""Calling a model: what it takes, what it returns, and the one line it refuses with."""

import threading

import numpy as np
import pytest

import convbert
from checkpoints import DEMO, GOLDEN, loaded

IDS = np.array([[1, 5, 9, 2, 10], [3, 4, 0, 0, 0]])


@pytest.fixture(scope="module")
def model():
    return loaded(GOLDEN / "base_tiny")


@pytest.fixture(scope="module")
def expected(model):
    return model(IDS).last_hidden_state


class OnlyDLPack:
    """An array that can be read through DLPack only."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("ids", [
    IDS.tolist(), tuple(map(tuple, IDS.tolist())), IDS.astype(np.int32), IDS.astype(np.uint8), np.asfortranarray(IDS),
    np.repeat(IDS, 2, axis=1)[:, ::2], OnlyDLPack(IDS), OnlyDLPack(IDS.astype(np.int32))],
    ids=["list", "tuple", "int32", "uint8", "column-major", "strided", "dlpack", "dlpack int32"])
def test_every_form_of_ids(model, expected, ids):
    np.testing.assert_array_equal(model(ids).last_hidden_state, expected)


@pytest.mark.parametrize("value", [1, True, 1.0, 0.5, -2], ids=repr)
def test_a_mask_is_what_is_not_zero(model, value):
    mask = np.array([[True] * 5, [True, True, False, False, False]])
    found = model(IDS, attention_mask=np.where(mask, value, type(value)(0))).last_hidden_state
    np.testing.assert_array_equal(found, model(IDS, attention_mask=mask).last_hidden_state)
    assert not np.array_equal(found[1], model(IDS).last_hidden_state[1])


def test_defaults(model, expected):
    out = model(IDS, attention_mask=np.ones_like(IDS), token_type_ids=np.zeros_like(IDS),
                position_ids=np.arange(5)[None])
    np.testing.assert_array_equal(out.last_hidden_state, expected)


def test_one_row_stands_for_all(model):
    positions = [[4, 3, 2, 1, 0]]
    np.testing.assert_array_equal(model(IDS, position_ids=positions).last_hidden_state,
                                  model(IDS, position_ids=positions * 2).last_hidden_state)


def test_output_object(model):
    out = model(IDS, output_hidden_states=True)
    assert list(out) == list(out.keys()) == ["last_hidden_state", "hidden_states"]
    assert out["last_hidden_state"] is out.last_hidden_state is out[0] is out.to_tuple()[0]
    assert out[1] is out.hidden_states and isinstance(out.hidden_states, tuple)
    assert "hidden_states" in out and "logits" not in out and len(out) == 2
    assert "hidden_states" not in model(IDS)
    assert repr(model(IDS)) == "ModelOutput(last_hidden_state=float32[2, 5, 32])"
    with pytest.raises(KeyError):
        out["logits"]
    with pytest.raises(AttributeError):
        out.logits


def test_model_facts(model):
    assert model.model_class == "ConvBertModel"
    assert model.config["hidden_size"] == 32
    assert [item["name"] for item in model.inputs] == ["input_ids", "attention_mask", "token_type_ids", "position_ids"]
    assert [(item["name"], item["shape"]) for item in model.outputs] == [("last_hidden_state", ["B", "T", 32])]
    assert model.labels == []
    assert {"compile_ms", "prepack_ms", "cached", "load_ms"} <= set(model.timings)
    assert model.packed_bytes > 0
    labels = loaded(DEMO / "langid").labels
    assert (len(labels), labels[0], labels[-1]) == (20, "cs", "uk")


@pytest.mark.parametrize("arguments, message", [
    (dict(input_ids=[1, 2]), "input_ids: requires rank 2 [batch, length], but found rank 1 with shape [2]"),
    (dict(input_ids=[[[1]]]), "input_ids: requires rank 2 [batch, length], but found rank 3 with shape [1, 1, 1]"),
    (dict(input_ids=[[]]), "input_ids: requires at least 1 token a sequence, but found 0"),
    (dict(input_ids=np.zeros((0, 4), int)), "input_ids: requires at least 1 sequence, but found 0"),
    (dict(input_ids=[[0] * 25]),
     "input_ids: requires at most 24 tokens a sequence (the model's positions), but found 25"),
    (dict(input_ids=[[1, 41]]), "input_ids: requires token ids in [0, 41), but found 41 at [0, 1]"),
    (dict(input_ids=[[1, 2], [-1, 2]]), "input_ids: requires token ids in [0, 41), but found -1 at [1, 0]"),
    (dict(input_ids=[[1.0, 2.0]]), "input_ids: requires integers (int32 or int64), but found float64"),
    (dict(input_ids=[[True]]), "input_ids: requires integers (int32 or int64), but found bool"),
    (dict(input_ids=np.array([[2**63]], np.uint64)),
     "input_ids: requires values below 2^63, but found 9223372036854775808"),
    (dict(input_ids=[[1, 2], [3]]),
     "input_ids: requires rows of one length, but found a ragged list; pad it and pass attention_mask"),
    (dict(input_ids=None), "input_ids: requires an array or nested lists of numbers, but found a NoneType"),
    (dict(input_ids="text"), "input_ids: requires integers (int32 or int64), but found <U4"),
    (dict(input_ids=IDS, attention_mask=[[1, 1]]),
     "attention_mask: requires the shape [2, 5] of input_ids, but found [1, 2]"),
    (dict(input_ids=IDS, attention_mask=[["a"] * 5] * 2),
     "attention_mask: requires bool, integer or floating-point values, but found <U1"),
    (dict(input_ids=IDS, token_type_ids=[[0] * 4] * 2),
     "token_type_ids: requires the shape [2, 5] of input_ids, but found [2, 4]"),
    (dict(input_ids=IDS, token_type_ids=[[0, 0, 0, 2, 0]] * 2),
     "token_type_ids: requires token types in [0, 2), but found 2 at [0, 3]"),
    (dict(input_ids=IDS, position_ids=[[0, 1, 2, 3, 24]]),
     "position_ids: requires positions in [0, 24), but found 24 at [0, 4]"),
], ids=lambda value: None if isinstance(value, dict) else value.split(", but")[0])
def test_refused_arguments(model, arguments, message):
    with pytest.raises(ValueError) as error:
        model(**arguments)
    assert str(error.value) == message
    model(IDS)  # and the model stays usable


def test_multiple_choice_needs_rank_three():
    model = loaded(GOLDEN / "mc")
    with pytest.raises(ValueError, match=r"requires rank 3 \[batch, choices, length\], but found rank 2"):
        model(IDS)


@pytest.mark.parametrize("threads", [0, -1, 2.0, True, "2"], ids=repr)
def test_refused_threads(threads):
    with pytest.raises(ValueError, match="threads: requires an integer >= 1 or None, but found"):
        convbert.load(GOLDEN / "base_tiny", threads=threads)


@pytest.mark.parametrize("path", ["nowhere", "a\0b"])
def test_refused_directories(path, tmp_path):
    with pytest.raises(convbert.Error) as error:
        convbert.load(tmp_path / path)
    assert "\n" not in str(error.value)


def test_no_cache_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    model = convbert.load(GOLDEN / "base_tiny", cache=False)
    assert not model.timings["cached"]
    assert list(tmp_path.iterdir()) == []
    model(IDS)


def test_cache_is_used(tmp_path):
    assert not convbert.load(GOLDEN / "base_tiny", cache=tmp_path).timings["cached"]
    again = convbert.load(GOLDEN / "base_tiny", cache=tmp_path)
    assert again.timings["cached"]
    again(IDS)


@pytest.mark.parametrize("threads", [1, 2])
def test_concurrent_calls(threads):
    """Eight callers with shapes of their own, all at once."""
    model = loaded(GOLDEN / "base_tiny", threads)
    rng = np.random.default_rng(1)
    batches = [rng.integers(0, 41, (1 + i % 3, 3 * i + 1)) for i in range(8)]
    alone = [model(ids).last_hidden_state for ids in batches]
    wrong = []

    def work(i):
        for _ in range(20):
            if not np.array_equal(model(batches[i]).last_hidden_state, alone[i]):
                wrong.append(i)

    callers = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert wrong == []
