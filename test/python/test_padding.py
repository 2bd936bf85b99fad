"""Padding: what transformers computes ("parity"), and what a sequence gets alone ("exact")."""

import numpy as np
import pytest

import convbert
from checkpoints import DEMO, GOLDEN, loaded

LENGTHS = [16, 1, 5, 8, 13]
MASK = (np.arange(16) < np.array(LENGTHS)[:, None]).astype(np.int64)


@pytest.fixture(scope="module", params=["base_tiny", "groups2", "odd_heads", "seqcls", "tokcls", "qa", "mlm_tied"])
def pair(request):
    """The same checkpoint in both modes."""
    directory = GOLDEN / request.param
    return loaded(directory), convbert.load(directory, padding="exact", threads=1)


def batch(model):
    rng = np.random.default_rng(6)
    return {"input_ids": rng.integers(0, model.config["vocab_size"], MASK.shape),
            "token_type_ids": rng.integers(0, 2, MASK.shape)}


def test_exact_is_alone(pair):
    parity, exact = pair
    arguments = batch(parity)
    together = exact(**arguments, attention_mask=MASK)
    for row, length in enumerate(LENGTHS):
        alone = parity(**{name: value[row:row + 1, :length] for name, value in arguments.items()})
        for name in alone:
            found = together[name][row]
            if "T" in parity.outputs[list(alone).index(name)]["shape"]:
                assert not found[length:].any()  # rows of padding are zero
                found = found[:length]
            np.testing.assert_array_equal(found, alone[name][0])


def test_without_padding_both_are_the_same(pair):
    parity, exact = pair
    arguments = batch(parity)
    for mask in (None, np.ones_like(MASK)):
        for name, value in parity(**arguments).items():
            np.testing.assert_array_equal(exact(**arguments, attention_mask=mask)[name], value)


def test_parity_depends_on_padding():
    model = loaded(DEMO / "langid")
    ids = np.array([[2, 2045, 17, 3]])
    padded = model(np.pad(ids, ((0, 0), (0, 6))), attention_mask=np.arange(10)[None] < 4)
    assert np.abs(padded.logits - model(ids).logits).max() > 1e-3


def test_choices_alone():
    """The last token of a choice, not of the padding, speaks for it."""
    parity, exact = loaded(GOLDEN / "mc"), convbert.load(GOLDEN / "mc", padding="exact", threads=1)
    ids = np.random.default_rng(3).integers(0, parity.config["vocab_size"], (1, 2, 9))
    mask = np.ones_like(ids)
    mask[0, 1, 4:] = 0
    found = exact(ids, mask).logits
    assert found[0, 0] == parity(ids[:, :1]).logits[0, 0]
    assert found[0, 1] == parity(ids[:, 1:, :4]).logits[0, 0]


@pytest.mark.parametrize("row", [[0, 1, 1], [1, 0, 1], [0, 0, 0]], ids=["left", "hole", "empty"])
def test_other_masks_are_refused(row):
    model = convbert.load(GOLDEN / "base_tiny", padding="exact", threads=1)
    with pytest.raises(ValueError) as error:
        model([[1, 2, 3]] * 2, attention_mask=[[1, 1, 1], row])
    assert str(error.value) == ("attention_mask: requires rows of ones followed by zeros (padding on the right) for "
                                'padding="exact", but found another pattern')


def test_reused_buffers_hold_no_old_rows():
    model = convbert.load(GOLDEN / "base_tiny", padding="exact", threads=1)
    out = model([[1, 2, 3]] * 2)
    again = model([[1, 2, 3]] * 2, attention_mask=[[1, 1, 1], [1, 0, 0]], out=out)
    assert not again.last_hidden_state[1, 1:].any() and again.last_hidden_state is out.last_hidden_state
