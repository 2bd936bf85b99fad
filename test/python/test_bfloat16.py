"""Weights of bfloat16 with float32 arithmetic, and products of bfloat16: against NumPy that rounds the same numbers."""

import json

import numpy as np
import pytest

import convbert
from checkpoints import DEMO, GOLDEN, write_random
from convbert import artifact, bfloat16, reference, verification
from convbert.steps import SteppedModel
from stored_checkpoints import unpacked
from test_shapes import random_batch

NAMES = ["base_tiny", "groups2", "odd_heads", "emb_gt_hidden", "mlm_tied", "mc", "bert_pretraining", "electra_mc"]
HAS_PRODUCTS = "avx512_bf16" in artifact.cpu_flags()
products = pytest.mark.skipif(not HAS_PRODUCTS, reason="this CPU has no AVX512_BF16")
VARIANTS = [pytest.param({"weights": "bf16"}, id="weights"),
            pytest.param({"weights": "bf16", "target": "x86-64-v3"}, id="weights-v3"),
            pytest.param({"dtype": "bfloat16"}, id="products", marks=products)]
variants = pytest.mark.parametrize("options", VARIANTS)

_models = {}


def model_of(name, options, threads=1):
    key = (name, *sorted(options.items()), threads)
    if key not in _models:
        _models[key] = convbert.load(GOLDEN / name, threads=threads, **options)
    return _models[key]


@variants
@pytest.mark.parametrize("name", NAMES)
def test_golden_checkpoints_pass(name, options):
    report = convbert.verify(GOLDEN / name, threads=1, **options)
    assert report.ok, [(row.step, row.own_error, row.bound) for row in report.rows if not row.ok]
    # Rounding to eight bits shows, and not by much.
    magnitude = max(row.magnitude for row in report.rows)
    assert 1e-5 < report.rounding < 0.1 * magnitude


@variants
def test_rounding_is_not_an_error_of_the_code(options):
    """Against the weights as they were, every product is wrong, and nothing else: the report would notice code that
    rounds too much."""
    model = SteppedModel(str(GOLDEN / "base_tiny"), threads=1, **options)
    inputs = verification.sample_inputs(model.entry.manifest, 3, 12)
    parameters = verification.load_parameters(GOLDEN / "base_tiny")[1]
    rows = verification.Judge(model, parameters, inputs, rounds=False).rows(model(inputs))
    assert {row.operation for row in rows if row.ok} == {"embeddings", "layer_norm", "depthwise_conv1d",
                                                         "self_attention"}
    # The product that makes the taps is no step of its own, but of what applies them.
    assert {row.operation for row in rows if not row.ok} == {"dense", "apply_kernel"}


@variants
def test_a_wrong_step_is_named(options):
    """An error that rounding explains nowhere."""
    model = SteppedModel(str(GOLDEN / "base_tiny"), threads=1, **options)
    inputs = verification.sample_inputs(model.entry.manifest, 3, 12)
    judge = verification.Judge(model, verification.load_parameters(GOLDEN / "base_tiny")[1], inputs)
    outputs = model(inputs)
    assert all(row.ok for row in judge.rows(outputs))
    for value, step, _, part in judge.steps(judge.names):
        if not step.startswith("layer 1"):
            continue
        wrong = outputs[judge.names[value]].copy()
        wrong[(1,) * (wrong.ndim - 1) + (part.start or 0,)] += np.float32(0.01 * np.abs(wrong).max())
        bad = [row.step for row in judge.rows({**outputs, judge.names[value]: wrong}) if not row.ok]
        assert bad and bad[0] == step


def test_rounding_is_to_nearest_even():
    numbers = np.array([1, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20, -1 - 2**-8, 0, 1e-40], np.float32)
    found = bfloat16.to_bfloat16(numbers)
    np.testing.assert_array_equal(found[:6], np.array([1, 1, 1 + 2**-6, 1 + 2**-7, -1, 0], np.float32))
    assert 0 < found[6] < 1e-40 and (found.view(np.uint32) & 0xFFFF == 0).all()


def test_open_cases_are_decided_the_other_way():
    numbers = np.array([1, 1 + 2**-8, 1 + 3 * 2**-8 - 2**-24, -1 - 2**-8 - 2**-24, 1 + 2**-9], np.float64)
    nearest, other = bfloat16.to_bfloat16(numbers), bfloat16.other_bfloat16(numbers)
    np.testing.assert_array_equal(nearest, [1, 1, 1 + 2**-6, -1, 1])
    np.testing.assert_array_equal(other, [1, 1 + 2**-7, 1 + 2**-7, -1 - 2**-7, 1])


@variants
@pytest.mark.parametrize("name", ["base_tiny", "groups2", "odd_heads"])
def test_threads_and_neighbours_change_no_bit(name, options):
    rng = np.random.default_rng(1)
    one, two = model_of(name, options), model_of(name, options, threads=2)
    for length in (1, 2, 3, 7, 8, 13, 16):
        batch = random_batch(rng, one.config["vocab_size"], 5, length)
        together = one(**batch)[0]
        np.testing.assert_array_equal(together, two(**batch)[0])
        for row in range(5):
            alone = one(**{key: value[row:row + 1] for key, value in batch.items()})[0]
            np.testing.assert_array_equal(together[row], alone[0])


@variants
@pytest.mark.parametrize("name", ["base_tiny", "k7"])
def test_random_shapes(name, options):
    """T = 1 and T below the number of taps among them."""
    parameters = verification.load_parameters(GOLDEN / name)[1]
    rng = np.random.default_rng(4)
    model = SteppedModel(str(GOLDEN / name), threads=1, **options)
    for length in (1, 2, 5, 11, int(rng.integers(12, 17))):
        inputs = random_batch(rng, model.entry.manifest["vocab_size"], int(rng.integers(1, 5)), length)
        rows = verification.Judge(model, parameters, inputs).rows(model(inputs))
        assert all(row.ok for row in rows), (length, [(row.step, row.own_error, row.bound) for row in rows])


@variants
def test_entries_give_what_the_plain_one_gives(options):
    """Maps, head_mask and vectors, alone and together, on one copy of the rounded weights."""
    model = convbert.load(GOLDEN / "base_tiny", threads=1, **options)
    batch = random_batch(np.random.default_rng(6), model.config["vocab_size"], 3, 11)
    plain, packed = model(**batch).last_hidden_state, model.packed_bytes
    tensors = reference.load_checkpoint(GOLDEN / "base_tiny")[1]
    words = next(array for name, array in tensors.items() if name.endswith("word_embeddings.weight"))
    vectors = {**batch, "inputs_embeds": words[batch["input_ids"]]}
    del vectors["input_ids"]
    for arguments in (batch, vectors):
        for mask in (None, np.ones(2, np.float32)):
            for wanted in (False, True):
                out = model(**arguments, head_mask=mask, output_hidden_states=wanted, output_attentions=wanted,
                            output_conv_kernels=wanted)
                np.testing.assert_array_equal(out.last_hidden_state, plain)
                # Code for vectors packs no table of words.
                assert arguments is vectors or model.packed_bytes == packed
    assert model.compile_count == 8
    for maps in (out.attentions, out.conv_kernels):
        for array in maps:
            np.testing.assert_allclose(array.sum(axis=-1), 1, atol=1e-6)
    silenced = model(**batch, head_mask=[0, 1], output_attentions=True)
    assert not silenced.attentions[0][:, 0].any() and silenced.attentions[0][:, 1].any()
    assert np.abs(silenced.last_hidden_state - plain).max() > 1e-2


@variants
def test_layers_alone(options):
    """The caller's vectors are rounded where the first layer reads them."""
    report = convbert.verify(unpacked("models") / "encoder_only_head", threads=1, **options)
    assert report.ok and 1e-5 < report.rounding < 0.1


@variants
def test_deep_products(tmp_path, options):
    """So deep that float32 takes them in slices."""
    config = dict(vocab_size=50, max_position_embeddings=24, type_vocab_size=2, embedding_size=24, hidden_size=54,
                  num_hidden_layers=1, num_attention_heads=6, head_ratio=2, conv_kernel_size=5, intermediate_size=2057,
                  num_groups=1)
    write_random(tmp_path, config)
    report = convbert.verify(tmp_path, threads=2, shape=(2, 20), **options)
    assert report.ok, [(row.step, row.own_error, row.bound) for row in report.rows if not row.ok]


@variants
def test_a_broken_sequence_breaks_alone(options):
    model = model_of("base_tiny", options)
    rng = np.random.default_rng(5)
    batch = random_batch(rng, model.config["vocab_size"], 3, 9)
    before = model(**batch)[0]
    # No input makes an activation infinite, so a neighbour of other length stands for it: nothing of it is read.
    batch["input_ids"][1] = 0
    after = model(**batch)[0]
    np.testing.assert_array_equal(before[[0, 2]], after[[0, 2]])


@variants
def test_what_a_model_says(options):
    model, plain = (convbert.load(GOLDEN / "base_tiny", **chosen) for chosen in (options, {}))
    assert (plain.weights, plain.dtype) == ("f32", "float32")
    assert model.weights == "bf16" and model.dtype == options.get("dtype", "float32")
    assert model.packed_bytes < plain.packed_bytes
    if options.get("dtype"):
        assert model.isa == "avx512bf16"


@variants
def test_artefacts_keep_the_types(tmp_path, options):
    place = convbert.compile(GOLDEN / "base_tiny", output=tmp_path / "m.cbx", **options)
    manifest = json.loads((tmp_path / "m.cbx" / "manifest.json").read_text())
    assert manifest["stored_weights"] == "bf16" and manifest["dtype"] == options.get("dtype", "float32")
    model = convbert.load(place, threads=1)
    assert (model.weights, model.dtype) == ("bf16", options.get("dtype", "float32"))
    np.testing.assert_array_equal(model([[5, 6, 7]])[0], model_of("base_tiny", options)([[5, 6, 7]])[0])
    with pytest.raises(ValueError, match="weights: requires None for an artefact, but found 'bf16'"):
        convbert.load(place, weights="bf16")
    with pytest.raises(ValueError, match="dtype: requires \"float32\", the default, for an artefact, but found 'bfloat16'"):
        convbert.load(place, dtype="bfloat16")


def test_the_cache_tells_the_types_apart(tmp_path):
    for options in ({}, {"weights": "bf16"}, *([{"dtype": "bfloat16"}] if HAS_PRODUCTS else [])):
        assert not convbert.load(GOLDEN / "base_tiny", cache=tmp_path, **options).timings["cached"]
        assert convbert.load(GOLDEN / "base_tiny", cache=tmp_path, **options).timings["cached"]


@pytest.mark.parametrize("options, message", [
    ({"weights": "float16"}, "weights: requires None or \"bf16\", but found 'float16'"),
    ({"dtype": "bf16"}, "dtype: requires \"float32\" or \"bfloat16\", but found 'bf16'"),
])
def test_other_types_are_refused(tmp_path, options, message):
    for call in (lambda: convbert.load(GOLDEN / "base_tiny", **options),
                 lambda: convbert.compile(GOLDEN / "base_tiny", output=tmp_path / "m.cbx", **options)):
        with pytest.raises(ValueError) as error:
            call()
        assert str(error.value) == message


def test_a_target_without_products_is_refused():
    with pytest.raises(convbert.Error) as error:
        convbert.load(GOLDEN / "base_tiny", dtype="bfloat16", target="x86-64-v4")
    assert str(error.value) == ("dtype 'bfloat16' requires a target with AVX512_BF16, 'x86-64-v4-bf16' or 'native' on "
                                "such a CPU, but found 'x86-64-v4'")


@pytest.mark.skipif(HAS_PRODUCTS, reason="this CPU has AVX512_BF16")
def test_a_cpu_without_products_is_refused():
    with pytest.raises(convbert.Error, match="dtype 'bfloat16' requires a CPU with AVX512_BF16, but this one "):
        convbert.load(GOLDEN / "base_tiny", dtype="bfloat16")


@variants
def test_the_demo_names_the_same_languages(options):
    """All held-out sentences, as with float32."""
    from convbert.tasks import run_texts
    from convbert.tokenization import load_tokenizer

    model, tokenizer = convbert.load(DEMO / "langid", threads=1, **options), load_tokenizer(DEMO / "langid")
    rows = [json.loads(line) for line in (DEMO / "eval.jsonl").read_text(encoding="utf-8").splitlines()]
    results = run_texts(model, tokenizer, [row["text"] for row in rows], None)
    right = sum(found["labels"][0]["label"] == row["label"] for found, row in zip(results, rows))
    assert (len(rows), right) == (400, 400)
