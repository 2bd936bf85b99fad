"""Any call either works and equals the call in plain arrays, or raises one ValueError; the model survives all."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from checkpoints import GOLDEN, loaded

VOCABULARY, POSITIONS = 41, 24


@pytest.fixture(scope="module")
def model():
    return loaded(GOLDEN / "base_tiny")


def forms(draw, array):
    """The same numbers in another form."""
    kind = draw(st.sampled_from(["list", "int32", "int64", "uint8", "fortran", "strided", "reversed", "big-endian"]))
    if kind == "list":
        return array.tolist()
    if kind == "fortran":
        return np.asfortranarray(array)
    if kind == "strided":
        return np.repeat(array, 2, axis=-1)[..., ::2]
    if kind == "reversed":
        return np.ascontiguousarray(array[..., ::-1])[..., ::-1]
    return array.astype({"big-endian": ">i8"}.get(kind, kind))


@st.composite
def right_calls(draw):
    batch, length = draw(st.integers(1, 4)), draw(st.integers(1, POSITIONS))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    arrays = {"input_ids": rng.integers(0, VOCABULARY, (batch, length))}
    limits = {"attention_mask": 2, "token_type_ids": 2, "position_ids": POSITIONS}
    for name in draw(st.lists(st.sampled_from(sorted(limits)), unique=True)):
        arrays[name] = rng.integers(0, limits[name], (batch, length))
    return arrays, {name: forms(draw, array) for name, array in arrays.items()}


COMMON = settings(max_examples=60, deadline=None, database=None,
                  suppress_health_check=[HealthCheck.function_scoped_fixture])


@COMMON
@given(right_calls())
def test_every_form_of_a_call_gives_the_same_bits(model, call):
    arrays, others = call
    expected = model(**arrays).last_hidden_state
    names = ["input_ids", "attention_mask", "token_type_ids", "position_ids"]
    np.testing.assert_array_equal(model(**others).last_hidden_state, expected)
    np.testing.assert_array_equal(model(*(others.get(name) for name in names)).last_hidden_state, expected)
    out = {"last_hidden_state": np.full(expected.shape, np.nan, np.float32)}
    np.testing.assert_array_equal(model(**others, out=out).last_hidden_state, expected)


ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.binary(max_size=3),
    st.just(object()), st.just({}), st.just({"a": [1]}), st.just({1, 2}),
    st.recursive(st.one_of(st.integers(-2, 1 << 65), st.floats(), st.none()),
                 lambda inner: st.lists(inner, max_size=3)),
    st.tuples(st.lists(st.integers(0, 30), max_size=4),
              st.sampled_from(["i1", "u8", "f2", "f8", "c8", "?", "U2", "M8[s]", "O"]))
    .map(lambda pair: np.ones(pair[0][:3], int).astype(pair[1])))


@settings(COMMON, max_examples=200)
@given(st.dictionaries(st.sampled_from(["input_ids", "attention_mask", "token_type_ids", "position_ids", "head_mask",
                                        "inputs_embeds", "encoder_input", "out", "output_hidden_states", "output_attentions",
                                        "output_conv_kernels"]), ANYTHING))
def test_anything_else_is_one_value_error(model, arguments):
    try:
        model(**arguments)
    except ValueError as error:
        message = str(error)
        assert "\n" not in message
        assert "requires" in message and ("found" in message or "not supported yet" in message), message
