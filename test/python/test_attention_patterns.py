"""Classes of attention maps: the table of the specification, for eight tokens in two segments, special ones at the ends."""

import numpy as np
import pytest

import convbert
from checkpoints import GOLDEN
from convbert.attention_patterns import Thresholds, measure

L, SPECIAL, SEGMENTS = 8, [0, 7], [0] * 4 + [1] * 4
ROWS = np.arange(L)


def rows(*columns):
    """Each row's mass in equal parts on the columns, an array each."""
    a = np.zeros((L, L))
    for column in columns:
        np.add.at(a, (ROWS, np.asarray(column)), 1 / len(columns))
    return a


P = np.array([3, 6, 5, 1, 2, 0, 3, 4])
TABLE = {
    "ends": (rows([0] * L, [7] * L), (1, -1 / 7, 1, 0, 1 / 3, 3.5), "vertical"),
    "next": (rows(np.minimum(ROWS + 1, 7)), (0, 1, 1, 3 / 4, 0, 7 / 8), "diagonal"),
    "last and previous": (rows([7] * L, np.maximum(ROWS - 1, 0)), (1 / 2, 3 / 7, 1, 3 / 8, 1 / 3, 7 / 8),
                          "vertical+diagonal"),
    "segment": (np.kron(np.eye(2), np.full((4, 4), 1 / 4)), (0, 3 / 7, 7 / 15, 1, 2 / 3, 1.5), "block"),
    "scattered": (rows(P, (P + 4) % 8), (0, -1 / 7, -1 / 5, 0, 1 / 3, 3), "heterogeneous"),
    "uniform": (np.full((L, L), 1 / L), (0, 0, 0, 0, 1, 3.5), "heterogeneous"),
}


@pytest.mark.parametrize("name", TABLE)
def test_table(name):
    a, want, kind = TABLE[name]
    found = measure(a, SPECIAL, SEGMENTS)
    got = (found.vertical, found.diagonal, found.union, found.block, found.entropy)
    np.testing.assert_allclose(got, want[:5], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.distance, want[5], rtol=0, atol=1e-12)
    assert found.classify() == kind
    # Of heads in float32, too.
    assert measure(a.astype(np.float32), SPECIAL, SEGMENTS).classify() == kind


def test_thresholds_and_what_is_left_out():
    a = TABLE["last and previous"][0]
    assert measure(a, SPECIAL, SEGMENTS).classify(Thresholds(some=0.45)) == "heterogeneous"
    # The heaviest columns are the ends; without segments there is no block.
    assert measure(TABLE["ends"][0]).vertical == 1
    assert measure(TABLE["segment"][0]).block == 0
    assert measure([[1.0]], special=[0]).classify() == "heterogeneous"


@pytest.mark.parametrize("arguments, message", [
    ((np.ones((2, 3)),), r"attention: requires a map \[L, L\], but found \[2, 3\]"),
    ((np.eye(3), [3]), "special: requires positions below 3, but found 3"),
    ((np.eye(3), 4), "special: requires 0 to 3 columns, but found 4"),
    ((np.eye(3), [0], [0, 1]), r"segments: requires one number for each of 3 tokens, but found \[2\]"),
])
def test_what_is_refused(arguments, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        measure(*arguments)


def test_heads_of_a_model():
    out = convbert.load(GOLDEN / "base_tiny")([[1, 5, 9, 2, 10]], output_attentions=True)
    for layer in out.attentions:
        for head in layer[0]:
            found = measure(head, special=[0, 4])
            assert 0 < found.entropy <= 1 + 1e-6 and found.classify() in {kind for *_, kind in TABLE.values()}
