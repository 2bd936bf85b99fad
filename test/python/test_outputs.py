"""attentions, conv_kernels and head_mask: entries of their own beside the plain one."""

import itertools

import numpy as np
import pytest

import convbert
from checkpoints import GOLDEN, golden_inputs, golden_manifest, loaded, write_random
from convbert import reference
from convbert.artifact import cpu_flags

EXTRAS = ("hidden_states", "attentions", "conv_kernels")
ALL = {f"output_{name}": True for name in EXTRAS}
#: Heads of 9 features, odd numbers of everything: (heads, head size) differ from the register tiles.
ODD = dict(vocab_size=50, max_position_embeddings=40, type_vocab_size=2, embedding_size=24, hidden_size=54,
           num_hidden_layers=2, num_attention_heads=6, head_ratio=2, conv_kernel_size=5, intermediate_size=70,
           num_groups=1)
TARGETS = ["x86-64-v2", "x86-64-v3", pytest.param("x86-64-v4", marks=pytest.mark.skipif(
    "avx512f" not in cpu_flags(), reason="this CPU has no AVX-512"))]


def maps(case):
    return [name for name in case["suggested_atol"] if name.startswith(("attentions.", "conv_kernels."))]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("case", [case for case in golden_manifest() if maps(case)], ids=lambda case: case["case"])
def test_golden(case, threads):
    model = loaded(GOLDEN / case["dir"], threads=threads)
    out = model(**golden_inputs(case), **ALL)
    stored = reference.read_safetensors(GOLDEN / case["dir"] / case["expected"])
    layers = model.config["num_hidden_layers"]
    assert (len(out.attentions), len(out.conv_kernels)) == (layers, layers)
    assert len(maps(case)) == 2 * layers
    for name in maps(case):
        kind, _, index = name.partition(".")
        found = out[kind][int(index)]
        assert found.dtype == np.float32 and found.shape == stored["f64." + name].shape
        np.testing.assert_allclose(found, stored["f64." + name], rtol=0, atol=case["suggested_atol"][name],
                                   err_msg=name)
    plain = model(**golden_inputs(case))
    for name in plain:
        np.testing.assert_array_equal(plain[name], out[name])


@pytest.fixture(scope="module", params=TARGETS)
def odd(request, tmp_path_factory):
    """A model of odd sizes for each instruction set: (tensors, model with 1 thread, with 2, exact)."""
    directory = tmp_path_factory.mktemp("odd")
    write_random(directory, ODD)
    tensors = reference.read_safetensors(directory / "model.safetensors")

    def load(**options):
        return convbert.load(directory, target=request.param, **options)

    return tensors, load(threads=1), load(threads=2), load(threads=1, padding="exact")


def arguments(batch, length, seed=0):
    rng = np.random.default_rng(seed)
    mask = np.arange(length) < rng.integers(1, length + 1, (batch, 1))
    return {"input_ids": rng.integers(0, 50, (batch, length)), "attention_mask": mask}


def expected(model, tensors, inputs, dtype=np.float64, head_mask=None):
    """Outputs of the reference by name; head_mask [L, Ha + Hc] is folded into the weights that read the heads."""
    tensors = dict(tensors)
    for index, factors in enumerate([] if head_mask is None else head_mask):
        name = f"encoder.layer.{index}.attention.output.dense.weight"
        tensors[name] = tensors[name] * np.repeat(factors, tensors[name].shape[1] // len(factors))
    return reference.forward(model.config, tensors, inputs, dtype=dtype)


def flat(out):
    result = {}
    for name, value in out.items():
        result.update({f"{name}.{i}": part for i, part in enumerate(value)} if isinstance(value, tuple)
                      else {name: value})
    return result


def assert_near(found, model, tensors, inputs, head_mask=None):
    """Within eight times what NumPy errs in float32."""
    exact, rough = (expected(model, tensors, inputs, dtype, head_mask) for dtype in (np.float64, np.float32))
    for name, array in found.items():
        bound = 8 * max(np.abs(rough[name] - exact[name]).max(), np.spacing(np.float32(np.abs(exact[name]).max())))
        assert array.shape == exact[name].shape, name
        np.testing.assert_allclose(array, exact[name], rtol=0, atol=bound, err_msg=name)


@pytest.mark.parametrize("batch, length", [(1, 1), (2, 2), (3, 5), (1, 8), (2, 17), (3, 33), (1, 40)])
def test_shapes(odd, batch, length):
    tensors, model, two, _ = odd
    inputs = arguments(batch, length)
    out = flat(model(**inputs, **ALL))
    assert_near(out, model, tensors, inputs)
    for name, array in flat(two(**inputs, **ALL)).items():
        np.testing.assert_array_equal(out[name], array, err_msg=name)
    for index in range(2):
        np.testing.assert_allclose(out[f"attentions.{index}"].sum(axis=-1), 1, atol=1e-5)
        np.testing.assert_allclose(out[f"conv_kernels.{index}"].sum(axis=-1), 1, atol=1e-5)


def test_every_combination_gives_the_same_bits(odd):
    _, model, _, _ = odd
    inputs = arguments(2, 13)
    plain, everything = model(**inputs), model(**inputs, **ALL)
    packed = model.packed_bytes
    ones = np.ones((2, 6))
    for size in range(len(EXTRAS) + 1):
        for names in itertools.combinations(EXTRAS, size):
            for head_mask in (None, ones):
                out = model(**inputs, head_mask=head_mask, **{f"output_{name}": True for name in names})
                assert list(out) == ["last_hidden_state", *names]
                np.testing.assert_array_equal(out.last_hidden_state, plain.last_hidden_state)
                for name in names:
                    for one, other in zip(out[name], everything[name]):
                        np.testing.assert_array_equal(one, other)
    assert model.compile_count == 16
    assert model.packed_bytes == packed  # all entries read one copy


def test_exact_padding(odd):
    _, model, _, exact = odd
    inputs = arguments(3, 19)
    found = exact(**inputs, **ALL)
    for row, mask in enumerate(inputs["attention_mask"]):
        length = mask.sum()
        alone = model(inputs["input_ids"][row:row + 1, :length], **ALL)
        for one, other in zip(found.attentions, alone.attentions):
            np.testing.assert_array_equal(one[row, :, :length, :length], other[0])
            assert not one[row, :, length:].any() and not one[row, :, :, length:].any()
        for one, other in zip(found.conv_kernels, alone.conv_kernels):
            np.testing.assert_array_equal(one[row, :length], other[0])
            assert not one[row, length:].any()


@pytest.mark.parametrize("shape", [(3,), (6,), (2, 3), (2, 6)], ids=str)
def test_head_mask(odd, shape):
    tensors, model, two, _ = odd
    inputs = arguments(2, 13)
    factors = np.random.default_rng(len(shape)).choice([0, 0.5, 1], shape).astype(np.float32)
    whole = np.ones((2, 6), np.float32)
    whole[:, :shape[-1]] = factors
    out = model(**inputs, head_mask=factors, output_hidden_states=True)
    assert_near(flat(out), model, tensors, inputs, whole)
    seen = model(**inputs, head_mask=factors.tolist(), output_attentions=True, output_conv_kernels=True)
    np.testing.assert_array_equal(seen.last_hidden_state, out.last_hidden_state)
    np.testing.assert_array_equal(two(**inputs, head_mask=factors).last_hidden_state, out.last_hidden_state)
    # As in transformers, probabilities come with their factor; taps come without.
    states = expected(model, tensors, inputs, head_mask=whole)
    for index in range(2):
        np.testing.assert_allclose(seen.attentions[index], states[f"attentions.{index}"] * whole[index, :3, None, None],
                                   atol=1e-5)
        np.testing.assert_allclose(seen.conv_kernels[index], states[f"conv_kernels.{index}"], atol=1e-5)


def test_head_mask_changes_no_code(odd):
    _, model, _, _ = odd
    inputs = arguments(1, 7)
    model(**inputs, head_mask=[1, 1, 1])
    before = model.compile_count
    outs = [model(**inputs, head_mask=mask).last_hidden_state for mask in ([1, 0, 1], [0, 1, 1], [True, False, True])]
    assert model.compile_count == before
    assert (outs[0] != outs[1]).any()
    np.testing.assert_array_equal(outs[0], outs[2])


@pytest.mark.parametrize("mask, message", [
    (np.ones(5), "head_mask: requires the shape [3] or [2, 3] or [6] or [2, 6] (heads, or layers and heads; attention "
                 "heads first), but found [5]"),
    (np.ones((3, 3)), "head_mask: requires the shape [3] or [2, 3] or [6] or [2, 6] (heads, or layers and heads; "
                      "attention heads first), but found [3, 3]"),
    (1.0, "head_mask: requires the shape [3] or [2, 3] or [6] or [2, 6] (heads, or layers and heads; attention heads "
          "first), but found []"),
    (["a", "b", "c"], "head_mask: requires bool, integer or floating-point values, but found <U1"),
    ([None] * 3, "head_mask: requires an array or nested lists of numbers, but found objects of type NoneType")])
def test_bad_head_masks(odd, mask, message):
    with pytest.raises(ValueError) as error:
        odd[1](**arguments(1, 4), head_mask=mask)
    assert str(error.value) == message


def test_out_takes_maps(odd):
    _, model, _, _ = odd
    inputs, others = arguments(2, 9), arguments(2, 9, seed=5)
    wanted = {name: [array.copy() for array in value] for name, value in model(**inputs, **ALL).items()
              if name != "last_hidden_state"}
    out = model(**others, **ALL)
    again = model(**inputs, **ALL, out=out)
    for name, arrays in wanted.items():
        for one, other, reused in zip(again[name], arrays, out[name]):
            assert one is reused
            np.testing.assert_array_equal(one, other)


def test_broken_sequences_stay_alone(tmp_path):
    """A sequence whose numbers are not finite leaves its neighbours' maps alone."""
    write_random(tmp_path, ODD)
    tensors = reference.read_safetensors(tmp_path / "model.safetensors")
    tensors["embeddings.word_embeddings.weight"][7] = 3e38  # overflows in the norm of this token
    reference.write_safetensors(tmp_path / "model.safetensors", tensors)
    model = convbert.load(tmp_path, threads=1)
    ids = np.random.default_rng(1).integers(8, 50, (3, 11))
    clean = model(ids, **ALL)
    ids[1, 4] = 7
    broken = model(ids, **ALL)
    assert not np.isfinite(broken.last_hidden_state[1]).all()
    for name, array in flat(broken).items():
        np.testing.assert_array_equal(array[[0, 2]], flat(clean)[name][[0, 2]], err_msg=name)
