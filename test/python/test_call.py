"""Calling a model: what it takes, what it returns, and the one line it refuses with."""

import threading

import numpy as np
import pytest

import convbert
from checkpoints import DEMO, GOLDEN, loaded
from dlpack_arrays import OnlyDLPack

IDS = np.array([[1, 5, 9, 2, 10], [3, 4, 0, 0, 0]])


@pytest.fixture(scope="module")
def model():
    return loaded(GOLDEN / "base_tiny")


@pytest.fixture(scope="module")
def expected(model):
    return model(IDS).last_hidden_state


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
    (dict(input_ids=None), "input_ids, inputs_embeds or encoder_input: requires one of them, but found none"),
    (dict(), "input_ids, inputs_embeds or encoder_input: requires one of them, but found none"),
    (dict(input_ids=5), "input_ids: requires rank 2 [batch, length], but found rank 0 with shape []"),
    (dict(input_ids={"a": 1}), "input_ids: requires an array or nested lists of numbers, but found a dict"),
    (dict(input_ids=np.array([[1, None]])),
     "input_ids: requires an array or nested lists of numbers, but found objects of type NoneType"),
    (dict(input_ids=IDS.astype(object)),
     "input_ids: requires an array or nested lists of numbers, but found objects of type int (too large)"),
    (dict(input_ids=[[1 << 70]]),
     "input_ids: requires an array or nested lists of numbers, but found objects of type int (too large)"),
    (dict(input_ids=np.array([["2020-01-01"]], "datetime64[D]")),
     "input_ids: requires integers (int32 or int64), but found datetime64[D]"),
    (dict(input_ids=IDS, inputs_embeds=np.zeros((2, 5, 32))),
     "input_ids, inputs_embeds or encoder_input: requires one of them, but found both input_ids and inputs_embeds"),
    (dict(inputs_embeds=np.zeros((2, 5, 7), np.float32)),
     "inputs_embeds: requires the shape [batch, length, 32], but found rank 3 with shape [2, 5, 7]"),
    (dict(inputs_embeds=np.zeros((2, 5, 32), int)), "inputs_embeds: requires floating-point values, but found int64"),
    (dict(input_ids=IDS, head_mask=np.ones(5)),
     "head_mask: requires the shape [2] or [2, 2] or [4] or [2, 4] (heads, or layers and heads; attention heads first), "
     "but found [5]"),
    (dict(input_ids=IDS, output_attentions=None), "output_attentions: requires True or False, but found None"),
    (dict(input_ids=IDS, output_attentions=np.ones(14)),
     "output_attentions: requires True or False, but found array([1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1.])"),
    (dict(input_ids=IDS, output_conv_kernels="yes"), "output_conv_kernels: requires True or False, but found 'yes'"),
    (dict(inputs_embeds=np.zeros((5, 32))),
     "inputs_embeds: requires the shape [batch, length, 32], but found rank 2 with shape [5, 32]"),
    (dict(inputs_embeds=np.zeros((2, 5, 32)), attention_mask=np.ones((2, 4))),
     "attention_mask: requires the shape [2, 5] of inputs_embeds, but found [2, 4]"),
    (dict(inputs_embeds=np.zeros((2, 5, 32)), position_ids=np.zeros((2, 4), int)),
     "position_ids: requires the shape [2, 5] of inputs_embeds, but found [2, 4]"),
    (dict(inputs_embeds=np.zeros((2, 0, 32))), "inputs_embeds: requires at least 1 token a sequence, but found 0"),
    (dict(encoder_input=np.zeros((2, 5, 32))),
     "encoder_input: requires None, but found an array; this model takes input_ids or inputs_embeds"),
    (dict(input_ids=IDS, output_hidden_states=1), "output_hidden_states: requires True or False, but found 1"),
    (dict(input_ids=IDS, out=np.zeros((2, 5, 32), np.float32)), "out: requires arrays by name, but found a ndarray"),
    (dict(input_ids=IDS, out={"logits": np.zeros(1, np.float32)}),
     "out: requires names of outputs (last_hidden_state), but found 'logits'"),
    (dict(input_ids=IDS, out={"last_hidden_state": [0.0]}),
     "out: requires names of outputs (last_hidden_state), but found 'last_hidden_state.0'"),
    (dict(input_ids=IDS, out={"last_hidden_state": None}),
     "out['last_hidden_state']: requires a NumPy array, but found a NoneType"),
    (dict(input_ids=IDS, out={"last_hidden_state": np.zeros((2, 5, 32))}),
     "out['last_hidden_state']: requires float32 of shape [2, 5, 32], but found float64 of shape [2, 5, 32]"),
    (dict(input_ids=IDS, out={"last_hidden_state": np.zeros((2, 4, 32), np.float32)}),
     "out['last_hidden_state']: requires float32 of shape [2, 5, 32], but found float32 of shape [2, 4, 32]"),
    (dict(input_ids=IDS, out={"last_hidden_state": np.zeros((2, 5, 64), np.float32)[:, :, ::2]}),
     "out['last_hidden_state']: requires a C-contiguous array that can be written to, but found one that is strided"),
    (dict(input_ids=IDS, out={"last_hidden_state": np.frombuffer(bytes(4 * 320), np.float32).reshape(2, 5, 32)}),
     "out['last_hidden_state']: requires a C-contiguous array that can be written to, but found one that is read-only"),
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


def test_out_is_written_to(model, expected):
    buffers = {"last_hidden_state": np.full((2, 5, 32), np.nan, np.float32)}
    out = model(IDS, out=buffers)
    assert out.last_hidden_state is buffers["last_hidden_state"]
    np.testing.assert_array_equal(out.last_hidden_state, expected)
    again = model(IDS + 1, out=out)
    assert again.last_hidden_state is out.last_hidden_state
    np.testing.assert_array_equal(again[0], model(IDS + 1)[0])


def test_out_for_hidden_states(model):
    first = model(IDS, output_hidden_states=True)
    kept = [state.copy() for state in first.hidden_states]
    second = model(IDS, output_hidden_states=True, out={"hidden_states": first.hidden_states})
    assert all(a is b for a, b in zip(first.hidden_states, second.hidden_states))
    assert second.last_hidden_state is not first.last_hidden_state
    for found, right in zip(second.hidden_states, kept):
        np.testing.assert_array_equal(found, right)
    twice = (first.hidden_states[0],) * 3
    with pytest.raises(ValueError, match=r"out\['hidden_states.1'\]: requires memory of its own, but found that of "):
        model(IDS, output_hidden_states=True, out={"hidden_states": twice})


def test_out_must_not_be_an_input():
    model = loaded(GOLDEN / "seqcls")
    width = model.outputs[0]["shape"][1]
    memory = np.zeros(64, np.int64)
    ids, out = memory[:5].reshape(1, 5), memory.view(np.float32)[:width].reshape(1, width)
    with pytest.raises(ValueError, match=r"out\['logits'\]: requires memory of its own, but found that of input_ids"):
        model(ids, out={"logits": out})


def test_out_for_multiple_choice():
    model = loaded(GOLDEN / "mc")
    ids = np.ones((2, 3, 4), int)
    out = {"logits": np.zeros((2, 3), np.float32)}
    found = model(ids, out=out)
    assert found.logits is out["logits"]
    np.testing.assert_array_equal(found.logits, model(ids).logits)


@pytest.mark.parametrize("options, message", [
    (dict(padding="left"), "padding: requires \"parity\" or \"exact\", but found 'left'"),
    (dict(weights="int8"), "weights: requires None or \"bf16\", but found 'int8'"),
    (dict(dtype="float16"), "dtype: requires \"float32\" or \"bfloat16\", but found 'float16'"),
    (dict(cache=3), "cache: requires True, False or a path, but found 3"),
], ids=["padding", "weights", "dtype", "cache"])
def test_refused_options(options, message):
    with pytest.raises(ValueError) as error:
        convbert.load(GOLDEN / "base_tiny", **options)
    assert str(error.value) == message
    with pytest.raises(ValueError, match="path: requires a directory, but found a int"):
        convbert.load(3)


def test_summary_and_cost(model):
    text = model.summary()
    assert text.splitlines()[0] == f"ConvBertModel, {GOLDEN / 'base_tiny'}"
    assert "all                  19,428 parameters in 51 tensors" in text
    assert "layer 1" in text and "output       last_hidden_state float32[B, T, 32]" in text
    one = model.cost(1, 5)
    assert one.macs == sum(one.operations.values()) == model.cost(3, 5).macs // 3
    assert one.flops == 2 * one.macs
    assert one.operations["self_attention"] == 2 * 2 * 16 * 5 * 5
    assert model.cost(1, 10).operations["dense"] == 2 * one.operations["dense"]
    assert 0 < one.weight_bytes <= model.packed_bytes
    for arguments, message in [((0, 5), "batch: requires an integer >= 1, but found 0"),
                               ((1, 25), "length: requires an integer >= 1 and <= 24, but found 25"),
                               ((True, 5), "batch: requires an integer >= 1, but found True")]:
        with pytest.raises(ValueError) as error:
            model.cost(*arguments)
        assert str(error.value) == message


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
