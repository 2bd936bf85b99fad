"""convbert verify: right models pass, wrong ones are named by step, two targets are compared."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

import convbert
from checkpoints import DEMO, GOLDEN, loaded
from convbert import verification
from convbert.steps import SteppedModel

NAMES = ["base_tiny", "groups2", "odd_heads", "emb_gt_hidden", "mlm_tied", "tokcls", "qa", "seqcls", "mc",
         "bert", "bert_mlm", "bert_pretraining", "bert_seqcls", "bert_mc", "electra", "electra_mlm", "electra_rtd",
         "electra_mc"]


#: Steps of a layer in the order in which they are computed.
LAYER = ["attention.query", "attention.key", "attention.value", "attention.conv_value", "attention.span.depthwise",
         "attention.span.pointwise, attention.conv.kernel", "attention.conv", "attention.conv (conv_kernels)",
         "attention.self_attention", "attention.self_attention (attentions)", "attention.output",
         "attention.output.LayerNorm", "feed_forward.up", "feed_forward.down", "output.LayerNorm"]


@pytest.mark.parametrize("name", NAMES)
def test_golden_checkpoints_pass(name):
    report = convbert.verify(GOLDEN / name, threads=1)
    assert report.ok and report.verdict == "ok"
    layers = loaded(GOLDEN / name).config["num_hidden_layers"]
    steps = [row.step for row in report.rows]
    assert steps[0] == "embeddings" and report.rows[0].operation == "embeddings"
    first = steps.index("layer 0: attention.query")
    has_conv = loaded(GOLDEN / name).model_class.startswith("ConvBert")
    layer = [step for step in LAYER if has_conv or not re.search("conv|span", step)]
    assert steps[first:first + layers * len(layer)] == [f"layer {i}: {step}" for i in range(layers) for step in layer]
    for item in loaded(GOLDEN / name).outputs:
        assert item["name"] == "last_hidden_state" or any(step.endswith(f"({item['name']})") for step in steps)
    for row in report.rows:
        # Less than half of what is allowed, so that another compiler's rounding has room.
        assert row.own_error <= max(row.bound / 2, np.spacing(np.float32(row.magnitude))), row
        assert row.magnitude > 0


@pytest.fixture(scope="module")
def stepped():
    """A model, its judge and its outputs."""
    model = SteppedModel(str(GOLDEN / "base_tiny"), threads=1)
    inputs = verification.sample_inputs(model.entry.manifest, 3, 12)
    parameters = verification.load_parameters(GOLDEN / "base_tiny")[1]
    return model, verification.Judge(model, parameters, inputs), model(inputs)


def wrong(stepped, step, error):
    """The outputs with an error in one step."""
    _, judge, outputs = stepped
    for value, found, _, part in judge.steps(judge.names):
        if found == step:
            name = judge.names[value]
            array = outputs[name].copy()
            array[(1,) * (array.ndim - 1) + (part.start or 0,)] += np.float32(error)
            return {**outputs, name: array}
    raise AssertionError(step)


@pytest.mark.parametrize("step", ["layer 0: attention.key", "layer 1: attention.span.depthwise",
                                  "layer 0: attention.conv (conv_kernels)", "layer 1: attention.self_attention",
                                  "layer 0: feed_forward.up", "layer 1: output.LayerNorm"])
@pytest.mark.parametrize("error", [1e-3, np.nan, np.inf])
def test_a_wrong_step_is_named(stepped, step, error):
    outputs = wrong(stepped, step, error)
    bad = [row.step for row in stepped[1].rows(outputs) if not row.ok]
    # What follows does right with what it is given, though the errors from the ids on are large; a NaN it cannot undo.
    assert bad[0] == step
    assert verification.Report("", (3, 12), stepped[1].rows(outputs)).verdict == f"wrong from {step} on"
    parting = [row.step for row in stepped[1].differences(stepped[2], outputs) if not row.ok]
    assert parting[0] == step


def test_later_steps_are_judged_by_themselves(stepped):
    outputs = {**stepped[2], "hidden_states.0": stepped[2]["hidden_states.0"] + np.float32(0.01)}
    bad = [row.step for row in stepped[1].rows(outputs) if not row.ok]
    # All that read the wrong values did right with others: the projections and the convolution of the first layer, and
    # the norm that adds them to its input.
    assert bad[0] == "embeddings"
    assert all(step == "embeddings" or step.startswith("layer 0: attention") for step in bad)


def test_given_inputs():
    report = convbert.verify(GOLDEN / "base_tiny", inputs={"input_ids": [[1, 2, 3]]}, threads=1)
    assert report.ok and report.shape == (1, 3)


@pytest.mark.parametrize("first, second", [("x86-64-v3", "x86-64-v4"), ("native", "float64"), ("float64", "reference"),
                                           ("float32", "reference"), ("x86-64-v3", "reference")])
def test_bisect(first, second):
    if "x86-64-v4" in (first, second) and "avx512f" not in convbert.artifact.cpu_flags():
        pytest.skip("this CPU has one target only")
    report = verification.bisect(GOLDEN / "base_tiny", first, second)
    assert report.ok and report.model.endswith(f"base_tiny: {first} against {second}")
    # What the specification names: taps, probabilities and the results of layers.
    assert len(report.rows) == (1 + 2 * 3 if "reference" in (first, second) else 1 + 2 * len(LAYER))
    if "float64" in (first, second) and "reference" in (first, second):
        assert max(row.error for row in report.rows) < 1e-6  # 1 / sqrt(d) is a float32 in the module


def test_bisect_names_where_they_part(monkeypatch, capsys):
    from convbert.cli import main

    original = verification._compute

    def compute(way, *arguments):
        outputs = dict(original(way, *arguments))
        if way == "float64":
            outputs["conv_kernels.1"] = outputs["conv_kernels.1"] * 1.01
        return outputs

    monkeypatch.setattr(verification, "_compute", compute)
    assert main(["verify", str(GOLDEN / "base_tiny"), "--bisect", "native", "float64"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == (
        "verdict: they part at layer 1: attention.conv (conv_kernels) (apply_kernel)")


def command(*arguments):
    return subprocess.run([sys.executable, "-m", "convbert", "verify", *map(str, arguments)], capture_output=True,
                          text=True, check=False)


def test_command(tmp_path):
    result = command(DEMO / "langid", "--threads", 1)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == f"{DEMO / 'langid'}, batch 3, length 24"
    assert lines[1].split() == ["step", "operation", "error", "own", "error", "allowed", "magnitude"]
    assert [line.split("  ")[0] for line in lines[2:5]] == ["embeddings", "embeddings", "layer 0: attention.query"]
    assert lines[-2].startswith("classifier (logits)")
    assert lines[-1] == "verdict: ok"
    facts = json.loads(command(GOLDEN / "base_tiny", "--json", "--shape", "1x5").stdout)
    assert facts["ok"] and facts["shape"] == [1, 5] and facts["rows"][0]["step"] == "embeddings"
    refused = command(tmp_path / "none")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert command(DEMO / "langid", "--bisect", "native").returncode == 2
    assert command(DEMO / "langid", "--bisect", "native", "float16").returncode == 2
    refused = command(DEMO / "langid", "--bisect", "native", "float64", "--weights", "bf16")
    assert refused.stderr.endswith("--bisect: requires float32, but found --weights bf16 and --dtype float32\n")
    assert (refused.returncode, refused.stdout) == (1, "")


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
