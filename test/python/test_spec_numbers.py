"""The numbers that the specification prints for its self-made model, in one and two groups.

They are printed to seven decimals, and the tolerance of the stored cases is at most 4e-6.
"""

import numpy as np
import pytest

from checkpoints import BASE, GOLDEN, MEDIUM_SMALL, SMALL, body_shapes, loaded, write_empty
from convbert.cli import main

IDS = [[1, 5, 9, 2, 10], [3, 4, 0, 0, 0]]
MASK = [[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]]
TYPES = [[0, 0, 1, 1, 1], [0, 0, 0, 0, 0]]

NUMBERS = {
    1: {
        "x0": [-1.2163817, -1.7978702, 2.2235838, 3.3265894, .320537, .5271773, -.1611317, -.6833534],
        (0, 0): [.4725555, .0157642, .9389323, 1.1016357, -.7531564, -.2182895, .0002009, -.2549412],
        (1, 1): [-.7438623, 1.006832, -.1324388, .8614623, -1.2394584, .7855569, -1.2781566, 1.0784504],
        (1, 4): [-.6250422, 1.0936003, -.7465809, 1.0421244, -1.4194053, .6337298, -1.148854, .6948271],
        "sum": 2.0684093, "sum of abs": 64.2781892,
        "mlm": [.0336627, -.4924431, -1.1201809, -.4770189, 1.7218464], "sum of mlm": 40.9045307,
        "seqcls": [[1.7536153, -.5598811], [.8725863, -.0080655]],
        "start": [1.3778001, 1.420386, .0939327, .3238472, .4328407],
        "end": [.6489547, 1.1323635, .1007442, -1.0751914, -.5204707],
        "mc": [.5844815, .5817911],
        "tok": [-.5985851, 1.4336499, 1.1561872],
        "alone": [-.6139803, 1.1280222, -.3591624, .7870871, -1.0190183, .8242908, -1.3623468, .9220775],
        "gap": .1112895, "masked gap": .2662,
    },
    2: {
        "x0": [-1.2163817, -1.7978702, 2.2235838, 3.3265894, .320537, .5271773, -.1611317, -.6833534],
        (0, 0): [-.2340864, .96951, -1.6539887, .9053733, -1.6227721, .9135436, -.310545, -.0428796],
        (1, 1): [-.7950841, .9932918, -2.256836, .8951136, -1.1811954, .8667194, -.410604, .6042202],
        (1, 4): [-1.0986751, .8293145, -2.5886857, .9156879, -.6128888, .8614392, -.3240142, .5974199],
        "sum": -8.4316892, "sum of abs": 76.1495430,
        "mlm": [.1150041, -.7179174, -1.0740459, -.6625267, 1.7094388], "sum of mlm": 42.4626536,
        "seqcls": [[1.547016, .243189], [.3650243, .2210893]],
        "start": [.7960918, .3139609, .4797854, -.295442, .6068246],
        "end": [-.5262003, -.1334744, -.6352109, -1.1146507, -3.3912228],
        "mc": [1.846369, 1.2310376],
        "tok": [.1900117, -.4666932, .1035339],
        "alone": [-1.0177181, .7994189, -2.4091649, .9533795, -.8062224, .8554299, -.4409452, .8462628],
        "gap": .4909077, "masked gap": .4022,
    },
}

GROUPS = pytest.mark.parametrize("groups", [1, 2])


def run(groups, head="", **arguments):
    model = loaded(GOLDEN / f"spec8_g{groups}{head}")
    return model(**{"input_ids": IDS, "attention_mask": MASK, "token_type_ids": TYPES, **arguments})


def close(found, expected, atol=5e-6):
    np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


@GROUPS
def test_body(groups):
    numbers = NUMBERS[groups]
    out = run(groups, output_hidden_states=True)
    close(out.hidden_states[0][0, 0], numbers["x0"])
    for position in ((0, 0), (1, 1), (1, 4)):
        close(out.last_hidden_state[position], numbers[position])
    close(out.last_hidden_state.sum(dtype=np.float64), numbers["sum"], 8e-5)
    close(np.abs(out.last_hidden_state).sum(dtype=np.float64), numbers["sum of abs"], 8e-5)


@GROUPS
def test_heads(groups):
    numbers = NUMBERS[groups]
    logits = run(groups, "_mlm").logits
    close(logits[0, 0, :5], numbers["mlm"])
    close(logits.sum(dtype=np.float64), numbers["sum of mlm"], 1e-4)
    close(run(groups, "_seqcls").logits, numbers["seqcls"])
    answer = run(groups, "_qa")
    close(answer.start_logits[0], numbers["start"])
    close(answer.end_logits[0], numbers["end"])
    close(run(groups, "_tok").logits[0, 0], numbers["tok"])
    choice = run(groups, "_mc", input_ids=[IDS], attention_mask=[MASK], token_type_ids=[TYPES])
    close(choice.logits, [numbers["mc"]])


@GROUPS
def test_padding_changes_results_as_specified(groups):
    numbers = NUMBERS[groups]
    alone = loaded(GOLDEN / f"spec8_g{groups}")([IDS[1][:2]]).last_hidden_state
    close(alone[0, 0], numbers["alone"])
    close(np.abs(alone[0] - run(groups).last_hidden_state[1, :2]).max(), numbers["gap"], 1e-5)


@GROUPS
def test_a_fully_masked_row_attends_evenly(groups):
    masked = run(groups, attention_mask=[MASK[0], [0] * 5]).last_hidden_state[1]
    unmasked = run(groups, attention_mask=[MASK[0], [1] * 5]).last_hidden_state[1]
    close(np.abs(masked - unmasked).max(), NUMBERS[groups]["masked gap"], 1e-4)


@pytest.mark.parametrize("config, total", [(SMALL, 13143768), (MEDIUM_SMALL, 17475888), (BASE, 105680520)],
                         ids=["small", "medium-small", "base"])
def test_parameter_totals(config, total, tmp_path, capsys):
    assert sum(int(np.prod(shape)) for shape in body_shapes(config).values()) == total
    write_empty(tmp_path, config)
    assert main(["info", str(tmp_path)]) == 0
    assert f"parameters   {total:,} in " in capsys.readouterr().out
