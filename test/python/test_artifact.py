"""Artefacts: compiled once, run without compiler or LLVM, refused on the wrong machine."""

import json
import multiprocessing
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import convbert
from checkpoints import DEMO, GOLDEN, loaded
from convbert import artifact

IDS = [[5, 6, 7, 8]]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    output = tmp_path_factory.mktemp("artefacts") / "model.cbx"
    assert convbert.compile(DEMO / "langid", output=output, outputs=["hidden_states", "attentions+hidden_states", "head_mask"]
                            ) == str(output)
    return output


@pytest.fixture
def copy(place, tmp_path):
    shutil.copytree(place, tmp_path / "copy.cbx")
    return tmp_path / "copy.cbx"


def manifest(directory, change=None):
    """The manifest, written back after `change`."""
    path = directory / "manifest.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    if change:
        change(found)
        path.write_text(json.dumps(found), encoding="utf-8")
    return found


def refusal(directory, **options):
    with pytest.raises(convbert.Error) as error:
        convbert.load(directory, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_same_bits_and_facts(place):
    model, direct = convbert.load(place, threads=1), loaded(DEMO / "langid")
    np.testing.assert_array_equal(model(IDS).logits, direct(IDS).logits)
    for found, right in zip(model(IDS, output_hidden_states=True).hidden_states,
                            direct(IDS, output_hidden_states=True).hidden_states):
        np.testing.assert_array_equal(found, right)
    both = dict(output_hidden_states=True, output_attentions=True)
    for found, right in zip(model(IDS, **both).attentions, direct(IDS, **both).attentions):
        np.testing.assert_array_equal(found, right)
    np.testing.assert_array_equal(model(IDS, head_mask=[1, 0]).logits, direct(IDS, head_mask=[1, 0]).logits)
    assert model.packed_bytes == os.path.getsize(place / "weights.bin")  # one copy for all entries
    assert model.labels == direct.labels and model.config == direct.config and model.outputs == direct.outputs
    assert model.cost(2, 7) == direct.cost(2, 7)
    assert model.summary().splitlines()[1:] == direct.summary().splitlines()[1:]


def test_files(place):
    names = {path.name for path in place.iterdir()}
    assert {"manifest.json", "model.so", "hidden_states.so", "hidden_states+attentions.so", "head_mask.so",
            "weights.bin", "config.json", "tokenizer.json", "vocab.txt"} <= names
    assert len([name for name in names if name.endswith(".bin")]) == 1
    assert not [name for name in names if name.startswith(".")]
    facts = manifest(place)
    assert set(facts["files"]) == names - {"manifest.json"}
    # Both entries read the same packed weights, which are stored once.
    assert {entry["packed"] for entry in facts["entries"].values()} == {"weights.bin"}
    assert [path.name for path in place.parent.iterdir()] == [place.name]  # nothing temporary is left


MAPS = """
import sys, convbert
model = convbert.load(sys.argv[1])
model([[1, 2, 3]])
maps = open("/proc/self/maps").read()
print("LLVM" in maps, "libconvbert.so" in maps, "weights.bin" in maps, "convbert._compiler" in sys.modules)
"""


def test_no_llvm_and_weights_are_mapped(place):
    result = subprocess.run([sys.executable, "-c", MAPS, str(place)], capture_output=True, text=True, check=False)
    assert result.stdout == "False False True False\n", result.stderr


def shared_pages(path, connection):
    model = convbert.load(path, threads=1)
    model(IDS)
    connection.send("ready")
    connection.recv()
    inside, kilobytes = False, {}
    with open("/proc/self/smaps", encoding="utf-8") as smaps:
        for line in smaps:
            if "-" in line.split()[0]:
                inside = "weights.bin" in line
            elif inside and line.split(":")[0] in ("Shared_Clean", "Shared_Dirty", "Anonymous"):
                kind = line.split(":")[0].partition("_")[0]
                kilobytes[kind] = kilobytes.get(kind, 0) + int(line.split()[1])
    connection.send(kilobytes)


def test_processes_share_the_weights(place):
    context = multiprocessing.get_context("spawn")
    pairs = [context.Pipe() for _ in range(2)]
    processes = [context.Process(target=shared_pages, args=(str(place), theirs)) for _, theirs in pairs]
    for process in processes:
        process.start()
    assert [ours.recv() for ours, _ in pairs] == ["ready"] * 2
    pairs[0][0].send("look")
    found = pairs[0][0].recv()
    pairs[1][0].send("look")
    for process in processes:
        process.join()
    assert found["Shared"] > 1000  # of some 5000; the rows of tokens that did not come up were never read
    assert found["Anonymous"] == 0


def test_wrong_cpu(copy):
    manifest(copy, lambda found: found["target"].update(features=["avx2", "avx4096"], cpu="future"))
    assert refusal(copy) == (f"{copy}: requires a CPU with avx4096 (it was compiled for native, future), but this one "
                             "lacks them; compile the checkpoint for it")


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", "x86-64-v4"])
def test_targets(target, tmp_path):
    flags = artifact.cpu_flags()
    if target == "x86-64-v4" and "avx512f" not in flags:
        with pytest.raises(convbert.Error, match="requires a CPU with AVX-512"):
            convbert.compile(GOLDEN / "base_tiny", output=tmp_path / "m.cbx", target=target)
        return
    convbert.compile(GOLDEN / "base_tiny", output=tmp_path / "m.cbx", target=target)
    found = manifest(tmp_path / "m.cbx")["target"]
    assert found["name"] == target and ("avx512f" in found["features"]) == (target == "x86-64-v4")
    model = convbert.load(tmp_path / "m.cbx")
    assert model.isa == {"x86-64-v2": "generic", "x86-64-v3": "avx2", "x86-64-v4": "avx512"}[target]
    np.testing.assert_allclose(model(IDS)[0], loaded(GOLDEN / "base_tiny")(IDS)[0], rtol=0, atol=7e-6)


def test_another_architecture(tmp_path):
    with pytest.raises(convbert.Error, match="^target 'aarch64' requires a CPU with NEON, but this one .* is of x86_64;"):
        convbert.compile(GOLDEN / "base_tiny", output=tmp_path / "m.cbx", target="aarch64")


def test_without_hidden_states(tmp_path):
    convbert.compile(GOLDEN / "base_tiny", output=tmp_path / "m.cbx")
    model = convbert.load(tmp_path / "m.cbx")
    with pytest.raises(convbert.Error) as error:
        model(IDS, output_hidden_states=True)
    assert str(error.value) == (f"{tmp_path / 'm.cbx'}: requires code for hidden_states, but the artefact was compiled "
                                "with the plain outputs alone; compile the checkpoint again with "
                                "outputs=['hidden_states']")
    # An artefact is replaced, by one with hidden states.
    convbert.compile(GOLDEN / "base_tiny", output=tmp_path / "m.cbx", outputs=["hidden_states"])
    assert len(convbert.load(tmp_path / "m.cbx")(IDS, output_hidden_states=True).hidden_states) == 3
    with pytest.raises(convbert.Error) as error:
        convbert.load(tmp_path / "m.cbx")(IDS, head_mask=[1, 1], output_attentions=True)
    assert str(error.value) == (f"{tmp_path / 'm.cbx'}: requires code for attentions+head_mask, but the artefact was "
                                "compiled with hidden_states alone; compile the checkpoint again with "
                                "outputs=['attentions+head_mask']")
    model(IDS)  # and who had loaded the old one keeps it
    assert [path.name for path in tmp_path.iterdir()] == ["m.cbx"]


def test_damaged_artefacts(copy):
    size = os.path.getsize(copy / "weights.bin")
    content = (copy / "weights.bin").read_bytes()
    (copy / "weights.bin").write_bytes(content[:-1])
    assert refusal(copy) == (f"{copy / 'weights.bin'}: requires {size} bytes, but found {size - 1}; compile the "
                             "checkpoint again")
    (copy / "weights.bin").write_bytes(bytes([content[0] ^ 1]) + content[1:])
    with pytest.raises(convbert.Error, match="requires the bytes that the compiler wrote, but found others"):
        artifact.check_contents(str(copy))
    (copy / "weights.bin").unlink()
    assert refusal(copy) == f"{copy}: requires the file weights.bin, but found none; compile the checkpoint again"
    manifest(copy, lambda found: found.pop("target"))
    assert refusal(copy) == (f"{copy / 'manifest.json'}: requires the member 'target', but found none; compile the "
                             "checkpoint again")
    manifest(copy, lambda found: found.update(format=2))
    assert refusal(copy) == (f"{copy}: requires an artefact of format 1, but found 2; compile the checkpoint again")
    (copy / "manifest.json").write_text("{")
    assert refusal(copy).startswith(f"{copy / 'manifest.json'} cannot be read: ")


def test_refused_uses(place, tmp_path):
    with pytest.raises(ValueError, match="target: requires None for an artefact, but found 'native'"):
        convbert.load(place, target="native")
    (tmp_path / "file").write_text("mine")
    for output, message in [(tmp_path / "file", "requires a new name or an artefact to replace, but found something"),
                            (tmp_path / "a" / "b", "requires an existing folder to write to, but found none at")]:
        with pytest.raises(convbert.Error, match=message):
            convbert.compile(GOLDEN / "base_tiny", output=output)
    with pytest.raises(convbert.Error, match="requires a checkpoint directory, but found an artefact"):
        convbert.compile(place, output=tmp_path / "m.cbx")
    for outputs, message in [(["all"], "outputs: requires names from hidden_states, attentions, conv_kernels, head_mask, "
                                       "inputs_embeds, but found 'all'"),
                             (["attentions+"], "outputs: requires names from .*, but found ''"),
                             ("attentions", "outputs: requires a list of names, but found 'attentions'")]:
        with pytest.raises(ValueError, match=message):
            convbert.compile(GOLDEN / "base_tiny", output=tmp_path / "m.cbx", outputs=outputs)
    assert (tmp_path / "file").read_text() == "mine"
