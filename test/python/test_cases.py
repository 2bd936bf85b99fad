"""Cases from public bug threads, through the public interface (see test/cases/README.md)."""

import json
import shutil
import warnings

import numpy as np
import pytest

import convbert
from checkpoints import INPUTS, loaded
from convbert import reference
from stored_cases import all_cases, folder, rows


def stored(case_id, row):
    return reference.read_safetensors(folder() / case_id / row["dir"] / row["expected"])


def run(case_id, row):
    """Outputs of a stored row, all that are stored, computed once."""
    key = case_id, row["case"]
    if key not in run.results:
        arrays = stored(case_id, row)
        model = loaded(folder() / case_id / row["dir"])
        kinds = {"output_" + name.partition(".")[0]: True for name in row["suggested_atol"] if "." in name}
        run.results[key] = model(**{name: arrays[name] for name in INPUTS if name in arrays}, **kinds)
    return run.results[key]


run.results = {}

NUMERIC = rows("numeric")
CALLS = [(case_id, row) for case_id, row in rows("refuse") if "config" not in row.get("call", {"config": None})]
LOADS = [(case_id, row) for case_id, row in rows("refuse") if "config" in row.get("call", {"config": None})]


def name(pair):
    case_id, row = pair
    return f"{case_id}-{row.get('case') or row.get('why', row.get('output'))[:40]}"


@pytest.mark.parametrize("pair", NUMERIC, ids=name)
def test_numbers(pair):
    case_id, row = pair
    out, arrays = run(case_id, row), stored(case_id, row)
    for output, tolerance in row["suggested_atol"].items():
        kind, _, index = output.partition(".")
        found = out[kind][int(index)] if index else out[kind]
        np.testing.assert_allclose(found, arrays["f64." + output], rtol=0, atol=tolerance, err_msg=output)


@pytest.mark.parametrize("pair", rows("relations"), ids=name)
def test_relations(pair):
    case_id, relation = pair
    by_name = {row["case"]: row for row in all_cases()[case_id]["numeric"]}

    def part(which):
        row = by_name[relation[which]]
        array = run(case_id, row)[relation["output"]]
        if relation["rows_" + which] is not None:
            index, first, last = relation["rows_" + which]
            array = array[index, first:last]
        return array, row["suggested_atol"][relation["output"]]

    (a, tolerance), (b, _) = part("a"), part("b")
    gap = np.abs(a.astype(np.float64) - b).max()
    if relation["what"] == "equal":
        assert gap <= 2 * tolerance
    else:
        assert gap > relation["max_abs_gap_f64"] / 2


def check_message(row, error):
    message = str(error)
    assert "\n" not in message
    for alternatives in row["must_mention"]:
        assert any(word in message for word in alternatives), (message, alternatives)


@pytest.mark.parametrize("pair", CALLS, ids=name)
def test_refused_calls(pair):
    case_id, row = pair
    model = loaded(folder() / case_id / row["dir"])
    call = dict(row["call"])
    if "inputs_embeds_shape" in call:
        call["inputs_embeds"] = np.zeros(call.pop("inputs_embeds_shape"), np.float32)
    with pytest.raises(ValueError) as error:
        model(**call)
    check_message(row, error.value)


@pytest.mark.parametrize("pair", LOADS, ids=name)
def test_refused_checkpoints(pair, tmp_path):
    case_id, row = pair
    directory = folder() / case_id / row["dir"]
    if "call" in row:
        shutil.copytree(directory, tmp_path / "model")
        directory = tmp_path / "model"
        config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
        (directory / "config.json").write_text(json.dumps({**config, **row["call"]["config"]}), encoding="utf-8")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = convbert.load(directory)
    except convbert.Error as error:
        check_message(row, error)
        return
    assert row["outcome"] == "error_or_warn"
    check_message(row, " ".join([*model.notes, *(str(warning.message) for warning in caught)]))


def test_int32_and_int64_give_the_same_bits():
    by_name = {row["case"]: row for row in all_cases()["A12"]["numeric"]}
    one, two = (run("A12", by_name[name]) for name in ("model.b2_t5", "model.b2_t5_i32"))
    np.testing.assert_array_equal(one[0], two[0])
