"""Checkpoints in every container: the stored ones against transformers, made ones against the same numbers plainly."""

import json
import math
import zipfile

import numpy as np
import pytest

import torch_files
from checkpoints import GOLDEN, INPUTS, loaded
from convbert import reference
from stored_checkpoints import entries, unpacked
from torch_files import View

import convbert

FORMATS, MODELS = entries("formats", "cases"), entries("models", "cases")


def inputs(stored):
    return {name: stored[name] for name in INPUTS if name in stored}


def outputs(case, archive="formats"):
    directory = unpacked(archive) / case["dir"]
    stored = reference.read_safetensors(directory / case["expected"])
    return loaded(directory)(**inputs(stored)), stored


def compare(case, archive):
    out, stored = outputs(case, archive)
    names = [name for name in case["suggested_atol"] if "." not in name]
    assert names == list(out.keys())
    for name in names:
        np.testing.assert_allclose(out[name], stored["f64." + name], rtol=0, atol=case["suggested_atol"][name])


@pytest.mark.parametrize("case", FORMATS, ids=lambda case: case["case"])
def test_stored_containers(case):
    compare(case, "formats")


@pytest.mark.parametrize("case", MODELS, ids=lambda case: case["case"])
def test_stored_models(case):
    """Widths, activations, heads and layers alone that ../golden does not have."""
    compare(case, "models")


@pytest.mark.parametrize("case", MODELS, ids=lambda case: case["case"])
def test_reference_on_stored_models(case):
    directory = unpacked("models") / case["dir"]
    stored = reference.read_safetensors(directory / case["expected"])
    out = reference.forward(*reference.load_checkpoint(directory), inputs(stored), case["class"])
    for name in case["suggested_atol"]:
        np.testing.assert_allclose(out[name], stored["f64." + name], rtol=0, atol=1e-11, err_msg=name)


def test_containers_of_equal_numbers_give_equal_bits():
    cases = {case["case"]: case for case in FORMATS}
    first, _ = outputs(cases["fmt_st"])
    for name in ("fmt_st_nometa", "fmt_st_odd", "fmt_st_shards", "fmt_bin_zip", "fmt_bin_legacy", "fmt_bin_strided",
                 "fmt_bin_plainzip", "fmt_bin_shards"):
        np.testing.assert_array_equal(outputs(cases[name])[0].last_hidden_state, first.last_hidden_state, name)


def test_loading_twice_gives_equal_bits():
    case = next(case for case in FORMATS if case["case"] == "fmt_fp16_bin")
    directory = unpacked("formats") / case["dir"]
    stored = reference.read_safetensors(directory / case["expected"])
    one, other = (convbert.load(directory)(**inputs(stored)).last_hidden_state for _ in range(2))
    np.testing.assert_array_equal(one, other)


# ---- one checkpoint, written in many ways ----------------------------------------------------------------------------

SOURCE = GOLDEN / "spec8_g2_seqcls"
IDS = np.array([[1, 5, 9, 2, 10], [3, 4, 0, 0, 0]])


def tensors():
    return reference.read_safetensors(SOURCE / "model.safetensors")


@pytest.fixture
def directory(tmp_path):
    (tmp_path / "config.json").write_bytes((SOURCE / "config.json").read_bytes())
    return tmp_path


def logits(directory):
    return convbert.load(directory)(IDS).logits


@pytest.fixture(scope="module")
def expected():
    return loaded(SOURCE)(IDS).logits


def test_torch_zip(directory, expected):
    torch_files.write_zip(directory / "pytorch_model.bin", tensors())
    np.testing.assert_array_equal(logits(directory), expected)


def test_torch_legacy(directory, expected):
    torch_files.write_legacy(directory / "pytorch_model.bin", tensors())
    np.testing.assert_array_equal(logits(directory), expected)


def test_torch_shards(directory, expected):
    torch_files.write_shards(directory, tensors(), 3)
    np.testing.assert_array_equal(logits(directory), expected)


@pytest.mark.parametrize("cache", [True, False], ids=["cache", "no cache"])
def test_deflated_zip(directory, expected, cache):
    torch_files.write_zip(directory / "pytorch_model.bin", tensors(), zipfile.ZIP_DEFLATED)
    np.testing.assert_array_equal(convbert.load(directory, cache=cache)(IDS).logits, expected)


def test_views(directory, expected):
    """Matrices stored column by column, projections that are columns of one wide matrix, biases in one storage."""
    values = tensors()
    prefix = "convbert.encoder.layer.0.attention.self."
    parts = [values[prefix + name + ".weight"] for name in ("query", "key", "value")]
    wide = np.concatenate(parts, axis=1)
    views = {}
    for i, (name, part) in enumerate(zip(("query", "key", "value"), parts)):
        views[prefix + name + ".weight"] = View(wide, part.shape, (wide.shape[1], 1), i * part.shape[1])
    vectors = [name for name, value in values.items() if value.ndim == 1]
    flat = np.concatenate([values[name] for name in vectors])
    offset = 0
    for name in vectors:
        views[name] = View(flat, values[name].shape, (1,), offset)
        offset += values[name].size
    for name, value in values.items():
        if name not in views and value.ndim == 2:
            views[name] = torch_files.transposed(value)
    torch_files.write_zip(directory / "pytorch_model.bin", {**values, **views})
    np.testing.assert_array_equal(logits(directory), expected)


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "mixed"])
def test_half_precision_is_computed_in_float32(directory, tmp_path, kind):
    """The same bits as from a file that holds the rounded numbers in float32."""
    stored, widened = {}, {}
    for i, (name, value) in enumerate(tensors().items()):
        to = ("float32", "float16", "bfloat16")[i % 3] if kind == "mixed" else kind
        if to == "bfloat16":
            raw = torch_files.bfloat16(value)
            stored[name] = torch_files.contiguous(raw, "bfloat16")
            widened[name] = (raw.astype(np.uint32) << 16).view(np.float32)
        else:
            stored[name] = value.astype(to)
            widened[name] = stored[name].astype(np.float32)
    torch_files.write_zip(directory / "pytorch_model.bin", stored)
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "config.json").write_bytes((SOURCE / "config.json").read_bytes())
    reference.write_safetensors(plain / "model.safetensors", widened)
    np.testing.assert_array_equal(logits(directory), logits(plain))


def test_compressed_numpy_arrays(tmp_path):
    """numpy.savez_compressed, with matrices in column-major order."""
    source = unpacked("formats") / "tf1_g2_npz"
    (tmp_path / "config.json").write_bytes((source / "config.json").read_bytes())
    arrays = np.load(source / "tf1_arrays.npz")
    np.savez_compressed(tmp_path / "tf1_arrays.npz",
                        **{name: np.asfortranarray(arrays[name]) for name in arrays.files})
    ids = np.array([[1, 2, 3, 4]])
    np.testing.assert_array_equal(convbert.load(tmp_path)(ids).last_hidden_state,
                                  convbert.load(source)(ids).last_hidden_state)


def test_electra_under_the_names_of_the_original_code(tmp_path):
    """Without the convolutions the names are the same."""
    source = GOLDEN / "electra"
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    arrays = {"global_step": np.zeros(1, np.float32)}
    for name, value in reference.read_safetensors(source / "model.safetensors").items():
        *path, last = name.replace("encoder.layer.", "encoder.layer_").split(".")
        if path[-1] == "LayerNorm":
            path.append({"weight": "gamma", "bias": "beta"}[last])
        elif last == "bias":
            path.append("bias")
        elif not path[-1].endswith("_embeddings"):
            path.append("kernel")
            value = value.T
        arrays["electra/" + "/".join(path)] = value
    np.savez(tmp_path / "tf1_arrays.npz", **arrays)
    ids = np.array([[1, 2, 3, 4]])
    np.testing.assert_array_equal(convbert.load(tmp_path)(ids).last_hidden_state, loaded(source)(ids).last_hidden_state)


def test_replaced_token_head(tmp_path):
    """The discriminator of the original code, with its head: gelu between two dense layers, one logit a token."""
    source = unpacked("formats") / "tf1_g1"
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    config["architectures"] = ["ConvBertForPreTraining"]
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    arrays = reference.read_safetensors(source / "tf1_arrays.safetensors")
    rng = np.random.default_rng(0)
    weight, bias = rng.standard_normal((8, 8)), rng.standard_normal(8)
    last, offset = rng.standard_normal((8, 1)), rng.standard_normal(1)
    for name, value in {"dense/kernel": weight, "dense/bias": bias, "dense_1/kernel": last, "dense_1/bias": offset}.items():
        arrays[f"discriminator_predictions/{name}"] = value.astype(np.float32)
    np.savez(tmp_path / "tf1_arrays.npz", **arrays)
    ids = np.array([[1, 2, 3, 4], [5, 6, 7, 8]])
    hidden = convbert.load(source)(ids).last_hidden_state.astype(np.float64)
    inner = hidden @ weight + bias
    inner = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
    expected = (inner @ last + offset)[..., 0]
    found = convbert.load(tmp_path)(ids).logits
    assert found.shape == (2, 4)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)
