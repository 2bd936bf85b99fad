"""Random modules through all passes and phases: some seconds of what convbert-fuzz-ir does for minutes.

For minutes, from any seed:  build/bin/convbert-fuzz-ir --seconds 600 --seed 1000000
"""

import json
import subprocess

import pytest

# Kinds of modules alternate at random, so this many have all of them; seeds are fixed, so a failure comes again.
MODULES = 220
# Not a mark to reach but a net for a machine that stands still: the number of modules ends the run.
SECONDS = 120


def fuzz(tools, *options):
    return subprocess.run(
        [tools / "convbert-fuzz-ir", *map(str, options)], capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture(scope="module")
def report(tools, tmp_path_factory):
    """Counts and findings of one run."""
    folder = tmp_path_factory.mktemp("fuzz-ir")
    path = folder / "report.json"
    done = fuzz(tools, "--seed", 1, "--count", MODULES, "--seconds", SECONDS, "--directory", folder, "--report", path)
    assert path.exists(), done.stderr
    return json.loads(path.read_text()) | {"output": done.stdout, "code": done.returncode}


@pytest.fixture(scope="module")
def registered(tools):
    """What is under test: {"op": names, "pass": names}."""
    lines = [line.split(" ", 1) for line in fuzz(tools, "--list").stdout.splitlines()]
    return {kind: {name for what, name in lines if what == kind} for kind in ("op", "pass")}


def names(report, prefix):
    """The counts that begin with `prefix`, without it."""
    return {key[len(prefix) :]: n for key, n in report["counts"].items() if key.startswith(prefix)}


def test_nothing_is_found(report):
    assert report["code"] == 0 and not report["findings"], report["output"]
    # Modules on which a verifier of upstream dies before any pass of ours runs are none.
    assert report["counts"]["modules"] + sum(names(report, "upstream verifier dies").values()) == MODULES


def test_every_op_is_generated(report, registered):
    assert len(registered["op"]) >= 26
    assert set(names(report, "op ")) == registered["op"]


def test_every_pass_and_pipeline_runs(report, registered):
    assert {"convbert-decompose", "convbert-outline", "convbert-llvm-cpu"} <= registered["pass"]
    assert set(names(report, "runs ")) >= registered["pass"]


def test_every_pass_succeeds_somewhere(report, registered):
    # These need what phases before them leave.
    later = {"convbert-outline", "convbert-cpu"}
    assert set(names(report, "done ")) >= registered["pass"] - later


def test_passes_of_the_optimizer_are_all_there(tools, registered):
    text = subprocess.run([tools / "convbert-opt", "--help-hidden"], capture_output=True, text=True, check=True).stdout
    known = {line.split()[0].lstrip("-").split("=")[0] for line in text.splitlines() if line.strip().startswith("--convbert-")}
    assert known and known <= registered["pass"]


def test_all_activations_layouts_and_types(report):
    cases = names(report, "case ")
    kinds = {case.split("<")[1].rstrip(">") for case in cases if "#convbert.activation<" in case}
    assert {"identity", "gelu", "silu", "tanh"} <= kinds and len(kinds) >= 15
    for needed in ("convbert.dense #convbert.layout<in_out>", "convbert.pool #convbert.pool<mean>"):
        assert needed in cases
    assert {name.split()[1] for name in names(report, "element ")} == {"f16", "bf16", "f32", "f64"}


@pytest.mark.parametrize("isa", ["generic", "avx2", "avx512", "neon"])
def test_models_reach_the_end_for_every_instruction_set(report, isa):
    assert names(report, f"reached llvm {isa}")


def test_modules_are_the_same_everywhere(tools):
    first, second = (fuzz(tools, "--print", "--seed", 7).stdout for _ in range(2))
    assert first == second and "func.func" in first
    assert first != fuzz(tools, "--print", "--seed", 8).stdout


@pytest.mark.parametrize("kind", ["crash", "hang", "silent", "ignored", "invalid"])
def test_what_a_bad_pass_does_is_found(tools, tmp_path, kind):
    """Nothing found means nothing if a planted fault is not found."""
    done = fuzz(
        tools, "--plant", kind, "--seed", 1, "--count", 6, "--limit", 1, "--directory", tmp_path, "--report", tmp_path / "r"
    )
    assert done.returncode == 1
    found = [f for f in json.loads((tmp_path / "r").read_text())["findings"] if f["kind"] == kind]
    assert [f["pass"] for f in found] == ["convbert-planted"]
    # The module is saved; it is the reason; and the run went on after it.
    assert found[0]["replays"] and found[0]["times"] > 1
    assert "convbert.dense" in open(found[0]["file"], encoding="utf-8").read()
    assert "convbert-opt --pass-pipeline='builtin.module(convbert-planted)'" in done.stdout


def test_unknown_fault(tools):
    done = fuzz(tools, "--plant", "nonsense")
    assert done.returncode == 2 and "requires crash, hang, silent, ignored or invalid to plant" in done.stderr
