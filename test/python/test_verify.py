"""convbert verify: right models pass, wrong ones are named by step, two targets are compared."""

import json
import subprocess
import sys

import numpy as np
import pytest

import convbert
from checkpoints import DEMO, GOLDEN, loaded
from convbert import verification

NAMES = ["base_tiny", "groups2", "odd_heads", "emb_gt_hidden", "mlm_tied", "tokcls", "qa", "seqcls", "mc"]


@pytest.mark.parametrize("name", NAMES)
def test_golden_checkpoints_pass(name):
    report = convbert.verify(GOLDEN / name, threads=1)
    assert report.ok and report.verdict == "ok"
    layers = loaded(GOLDEN / name).config["num_hidden_layers"]
    finals = [item["name"] for item in loaded(GOLDEN / name).outputs]
    assert [row.step for row in report.rows] == ["embeddings", *(f"layer {i}" for i in range(layers)), *finals]
    for row in report.rows:
        # Less than half of what is allowed, so that another compiler's rounding has room.
        assert row.own_error <= row.bound / 2 and row.magnitude > 0


def faults(name, change):
    """The report on a checkpoint whose outputs went through `change`."""
    config, parameters, model_class = verification.load_parameters(GOLDEN / name)
    model = loaded(GOLDEN / name)
    inputs = verification.sample_inputs(model._manifest, 3, 12)
    outputs = dict(model(**inputs, output_hidden_states=True).items())
    outputs["hidden_states"] = [state.copy() for state in outputs["hidden_states"]]
    change(outputs)
    return verification.Report(name, (3, 12), verification.compare(config, parameters, model_class, inputs, outputs))


@pytest.mark.parametrize("index, step", [(0, "embeddings"), (1, "layer 0"), (2, "layer 1")])
@pytest.mark.parametrize("wrong", [1e-4, np.nan, np.inf])
def test_a_wrong_step_is_named(index, step, wrong):
    def change(outputs):
        outputs["hidden_states"][index][1, 3, 5] += np.float32(wrong)

    report = faults("base_tiny", change)
    assert not report.ok
    assert report.verdict == f"wrong from {step} on"


def test_later_steps_are_judged_by_themselves():
    def change(outputs):
        outputs["hidden_states"][0][...] += np.float32(0.01)

    report = faults("base_tiny", change)
    assert not report.rows[0].ok
    # The second layer does right with what it is given, though the errors from the ids on are large.
    assert report.rows[2].ok


def test_given_inputs():
    report = convbert.verify(GOLDEN / "base_tiny", inputs={"input_ids": [[1, 2, 3]]}, threads=1)
    assert report.ok and report.shape == (1, 3)


def test_bisect_two_targets():
    if "avx512f" not in convbert.artifact.cpu_flags():
        pytest.skip("this CPU has one target only")
    report = verification.bisect(GOLDEN / "groups2", "x86-64-v3", "x86-64-v4")
    assert report.ok


def test_bisect_names_where_they_part(monkeypatch):
    model = loaded(GOLDEN / "base_tiny")

    class Wrong:
        max_positions, _manifest = model.max_positions, model._manifest

        def __call__(self, **arguments):
            out = model(**arguments)
            out.hidden_states[2][0, 0, 0] += 0.1
            return out

    models = iter([model, Wrong()])
    monkeypatch.setattr("convbert.model.load", lambda *_, **__: next(models))
    report = verification.bisect(GOLDEN / "base_tiny", "native", "x86-64-v3")
    assert report.verdict == "wrong from layer 1 on"


def command(*arguments):
    return subprocess.run([sys.executable, "-m", "convbert", "verify", *map(str, arguments)], capture_output=True,
                          text=True, check=False)


def test_command(tmp_path):
    result = command(DEMO / "langid", "--threads", 1)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == f"{DEMO / 'langid'}, batch 3, length 24"
    assert lines[1].split() == ["step", "error", "own", "error", "allowed", "magnitude"]
    assert [line.split()[0] for line in lines[2:8]] == ["embeddings", *["layer"] * 4, "logits"]
    assert lines[-1] == "verdict: ok"
    facts = json.loads(command(GOLDEN / "base_tiny", "--json", "--shape", "1x5").stdout)
    assert facts["ok"] and facts["shape"] == [1, 5] and facts["rows"][0]["step"] == "embeddings"
    refused = command(tmp_path / "none")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert command(DEMO / "langid", "--bisect", "native").returncode == 2


def test_command_says_no(monkeypatch, capsys):
    from convbert.cli import main

    row = verification.Row("layer 7", 1.0, 1.0, 1e-6, 3.0)
    monkeypatch.setattr(verification, "verify", lambda *_, **__: verification.Report("m", (1, 2), [row]))
    assert main(["verify", str(GOLDEN / "base_tiny")]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "verdict: wrong from layer 7 on"
    assert main(["verify", str(GOLDEN / "base_tiny"), "--json"]) == 1


def test_transformers():
    if not verification.has_transformers():
        pytest.skip("transformers is not installed")
    assert convbert.verify(DEMO / "langid").transformers < 1e-4
