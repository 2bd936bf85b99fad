"""The command line: what it prints for each class of model, its exit codes, and one line a refusal."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from checkpoints import DEMO, GOLDEN

POLISH = "Kliknij ikonę, aby usunąć urządzenie."
TINY_VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefgh", "##a", "##b", ",", "."]


def convbert(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "convbert", *map(str, arguments)], capture_output=True, text=True,
                          check=False, **options)


def refused(*arguments):
    """The line on the error stream of a refused command."""
    result = convbert(*arguments)
    assert result.returncode == 1, result
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("convbert: ")
    return line[len("convbert: "):]


@pytest.fixture
def with_vocabulary(tmp_path):
    """Copies a stored checkpoint and gives it a vocabulary of letters."""
    def copy(name):
        shutil.copytree(GOLDEN / name, tmp_path / name)
        (tmp_path / name / "vocab.txt").write_text("\n".join(TINY_VOCABULARY) + "\n", encoding="utf-8")
        return tmp_path / name
    return copy


def test_classification():
    result = convbert("run", DEMO / "langid", "--text", POLISH, "--text", "Das ist ein Satz.")
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == POLISH
    assert lines[1].split()[0] == "pl" and float(lines[1].split()[1]) > 0.9
    assert any(line.split()[0] == "de" for line in lines[lines.index("Das ist ein Satz.") + 1:][:1])


def test_classification_json_equals_stored():
    row = json.loads((DEMO / "expected.json").read_text(encoding="utf-8"))[0]
    result = convbert("run", DEMO / "langid", "--json", "--threads", 1, "--text", row["text"])
    assert result.returncode == 0, result.stderr
    (answer,) = json.loads(result.stdout)
    assert answer["text"] == row["text"]
    assert answer["labels"][0]["label"] == row["predicted"]
    assert len(answer["labels"]) == 20
    assert sum(item["probability"] for item in answer["labels"]) == pytest.approx(1)


def test_fill_mask_equals_stored():
    row = json.loads((DEMO / "expected_mlm.json").read_text(encoding="utf-8"))[1]
    result = convbert("run", DEMO / "mlm", "--json", "--text", row["text"])
    assert result.returncode == 0, result.stderr
    (blank,) = json.loads(result.stdout)[0]["blanks"]
    assert blank["position"] == row["mask_position"]
    assert [guess["id"] for guess in blank["guesses"]] == [guess["id"] for guess in row["top5"]]
    for found, stored in zip(blank["guesses"], row["top5"]):
        assert found["token"] == stored["token"]
        assert found["probability"] == pytest.approx(stored["probability"], abs=2e-6)


def test_other_classes(with_vocabulary):
    tokens = convbert("run", with_vocabulary("tokcls"), "--json", "--text", "a b, ca")
    assert tokens.returncode == 0, tokens.stderr
    assert [item["token"] for item in json.loads(tokens.stdout)[0]["tokens"]] == [
        "[CLS]", "a", "b", ",", "c", "##a", "[SEP]"]
    answer = convbert("run", with_vocabulary("qa"), "--text", "a b c")
    assert answer.returncode == 0, answer.stderr
    assert [line.split()[0] for line in answer.stdout.splitlines()[1:]] == ["start", "end"]
    choices = convbert("run", with_vocabulary("mc"), "--json", "--text", "a", "--text", "b c")
    assert choices.returncode == 0, choices.stderr
    assert sum(item["probability"] for item in json.loads(choices.stdout)[0]["choices"]) == pytest.approx(1)
    body = convbert("run", with_vocabulary("base_tiny"), "--text", "A B")
    assert body.returncode == 0, body.stderr
    assert "last_hidden_state [1, 4, 32], norm" in body.stdout


@pytest.mark.parametrize("name, key", [("bert_mlm", "blanks"), ("bert_seqcls", "labels"), ("electra_tokcls", "tokens"),
                                       ("electra_qa", "start"), ("bert_mc", "choices"), ("electra", "norm")])
def test_other_families(with_vocabulary, name, key):
    result = convbert("run", with_vocabulary(name), "--json", "--text", "a [MASK] b" if key == "blanks" else "a b c")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)[0][key]


def test_info():
    result = convbert("info", DEMO / "langid")
    assert result.returncode == 0, result.stderr
    assert "class        ConvBertForSequenceClassification" in result.stdout
    assert "parameters   1,329,500 in " in result.stdout
    assert "output       logits float32[B, 20]" in result.stdout
    baseline = convbert("info", GOLDEN / "bert_seqcls")
    assert baseline.returncode == 0, baseline.stderr
    assert "class        BertForSequenceClassification" in baseline.stdout
    assert "labels       no, maybe, yes" in baseline.stdout
    assert "from layer 0: 3 attention heads of width 8, feed-forward 37 in 1 group\n" in baseline.stdout
    assert "(+0.0 %)" in baseline.stdout
    facts = json.loads(convbert("info", DEMO / "mlm", "--json").stdout)
    assert facts["parameters"] == 1326984
    assert facts["vocab_size"] == 8192


def test_refusals(tmp_path):
    assert refused("run", tmp_path / "none", "--text", "a") == (
        f"requires a checkpoint directory, but found none at {tmp_path / 'none'}")
    assert refused("run", GOLDEN / "base_tiny", "--text", "a") == (
        f"requires tokenizer.json, vocab.txt, or vocab.json with merges.txt in {GOLDEN / 'base_tiny'} for text, but "
        "found none of them")
    assert refused("run", DEMO / "mlm", "--text", "nothing to fill") == (
        "requires at least one [MASK] in the text, but found none: 'nothing to fill'")
    assert refused("run", DEMO / "langid", "--text", "word " * 200) == (
        "input_ids: requires at most 128 tokens a sequence (the model's positions), but found 202")
    refused("info", tmp_path)
    (tmp_path / "tokenizer.json").write_text("{", encoding="utf-8")
    assert "cannot be read" in refused("run", tmp_path, "--text", "a")


@pytest.mark.parametrize("arguments", [[], ["run"], ["run", "x"], ["fly"], ["run", "x", "--text", "a", "--target", "z"],
                                       ["run", "x", "--text", "a", "--threads", "0"], ["cache", "fly"],
                                       ["bench", "x", "--shapes", "1x"], ["compile", "x"]],
                         ids=" ".join)
def test_wrong_usage(arguments):
    result = convbert(*arguments)
    assert result.returncode == 2
    assert "usage: convbert" in result.stderr
    assert "Traceback" not in result.stderr


def test_script_of_the_build_tree(tools, tmp_path):
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    result = subprocess.run([tools / "convbert", "--version"], capture_output=True, text=True, check=False,
                            cwd=tmp_path, env=environment)
    assert result.stdout.startswith("convbert "), result.stderr


def test_a_closed_pipe_is_no_error():
    result = subprocess.run(f"{sys.executable} -m convbert info {DEMO / 'langid'} | true", shell=True, check=False,
                            capture_output=True, text=True)
    assert result.stderr == ""
