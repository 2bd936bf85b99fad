"""convbert run on files: JSON lines, Parquet, plain text, arrays; and what it says about bad records."""

import json
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from checkpoints import DEMO, GOLDEN, loaded
from convbert import records
from test_cli import convbert, refused, with_vocabulary  # noqa: F401

TEXTS = ["Kliknij ikonę, aby usunąć urządzenie.", "Das ist ein Satz.", "C'est une phrase."]
LANGUAGES = ["pl", "de", "fr"]


@pytest.fixture
def jsonl(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(TEXTS)) + "\n",
                    encoding="utf-8")
    return path


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def check(rows):
    assert [row["id"] for row in rows] == [0, 1, 2]
    assert [row["text"] for row in rows] == TEXTS
    assert [row["labels"][0]["label"] for row in rows] == LANGUAGES


def test_json_lines_to_json_lines(jsonl, tmp_path):
    result = convbert("run", DEMO / "langid", "--input", jsonl, "--output", tmp_path / "out.jsonl")
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"3 records in {tmp_path / 'out.jsonl'}\n"
    assert result.stderr == ""  # no progress bar in a pipe
    check(lines(tmp_path / "out.jsonl"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


def test_standard_input_to_standard_output(jsonl):
    result = convbert("run", DEMO / "langid", "--json", "--input", "-", input=jsonl.read_text(encoding="utf-8"))
    assert result.returncode == 0, result.stderr
    check([json.loads(line) for line in result.stdout.splitlines()])


def test_plain_text(tmp_path):
    (tmp_path / "in.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    result = convbert("run", DEMO / "langid", "--input", tmp_path / "in.txt")
    found = [line.split()[0] for i, line in enumerate(result.stdout.splitlines()) if line.startswith("  ")]
    assert [label for label in found if label in LANGUAGES][0] == "pl"
    assert [line for line in result.stdout.splitlines() if not line.startswith(" ")] == TEXTS


@pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")
def test_parquet(jsonl, tmp_path):
    assert convbert("run", DEMO / "langid", "--input", jsonl, "--output", tmp_path / "out.parquet").returncode == 0
    check(records.read(str(tmp_path / "out.parquet")))
    again = convbert("run", DEMO / "langid", "--input", tmp_path / "out.parquet", "--output", tmp_path / "out.jsonl")
    assert again.returncode == 0, again.stderr
    check(lines(tmp_path / "out.jsonl"))


@pytest.mark.skipif(find_spec("pyarrow") is not None, reason="pyarrow is installed")
def test_parquet_without_pyarrow(jsonl, tmp_path):
    message = "requires the Python package pyarrow for Parquet; install it: pip install pyarrow"
    assert refused("run", DEMO / "langid", "--input", jsonl, "--output", tmp_path / "out.parquet") == message
    (tmp_path / "in.parquet").write_bytes(b"PAR1")
    assert refused("run", DEMO / "langid", "--input", tmp_path / "in.parquet") == message


def test_arrays(tmp_path):
    ids = np.array([[2, 5, 7, 3], [2, 9, 3, 0]])
    np.save(tmp_path / "ids.npy", ids)
    result = convbert("run", GOLDEN / "base_tiny", "--input", tmp_path / "ids.npy", "--output", tmp_path / "out.npz")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("last_hidden_state [2, 4, 32], from ")
    with np.load(tmp_path / "out.npz") as out:
        np.testing.assert_array_equal(out["last_hidden_state"], loaded(GOLDEN / "base_tiny")(ids)[0])
    facts = json.loads(convbert("run", GOLDEN / "base_tiny", "--json", "--input", tmp_path / "ids.npy").stdout)
    assert facts["last_hidden_state"]["shape"] == [2, 4, 32]
    (tmp_path / "bad.npy").write_bytes(b"no array")
    assert "cannot be read as an array" in refused("run", GOLDEN / "base_tiny", "--input", tmp_path / "bad.npy")
    np.save(tmp_path / "bad.npy", np.array([[1, 99]]))
    assert refused("run", GOLDEN / "base_tiny", "--input", tmp_path / "bad.npy") == (
        "input_ids: requires token ids in [0, 41), but found 99 at [0, 1]")


def test_pairs_and_choices(with_vocabulary, tmp_path):  # noqa: F811
    answers = convbert("run", with_vocabulary("qa"), "--json", "--text", "a b", "--pair", "c d, ca e.")
    assert answers.returncode == 0, answers.stderr
    (row,) = json.loads(answers.stdout)
    answer = row["answer"]
    assert row["pair"][answer["start"]:answer["end"]] == answer["text"] and 0 < answer["probability"] <= 1
    (tmp_path / "in.jsonl").write_text(json.dumps({"text": "a", "choices": ["b", "c d"]}) + "\n")
    choices = convbert("run", with_vocabulary("mc"), "--json", "--input", tmp_path / "in.jsonl")
    assert choices.returncode == 0, choices.stderr
    found = json.loads(choices.stdout)["choices"]
    assert [choice["text"] for choice in found] == ["b", "c d"]
    assert sum(choice["probability"] for choice in found) == pytest.approx(1)


@pytest.mark.parametrize("line, message", [
    ("{", "{path}:2: requires a JSON object, but found no JSON"),
    ("3", "{path}:2: requires a JSON object or a string, but found a int"),
    ('{"txt": "a"}', "{path}:2: requires a string in the field 'text', but found none"),
    ('{"text": 3}', "{path}:2: requires a string in the field 'text', but found a int"),
    (json.dumps("word " * 200), "{path}:2: input_ids: requires at most 128 tokens a sequence"),
], ids=["no json", "number", "no text", "no string", "too long"])
def test_bad_records(line, message, tmp_path):
    path, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    path.write_text('"Ein Satz."\n' + line + "\n", encoding="utf-8")
    assert refused("run", DEMO / "langid", "--input", path, "--output", output).startswith(message.format(path=path))
    assert [entry.name for entry in tmp_path.iterdir()] == ["in.jsonl"]  # nothing half written


def test_bad_files(tmp_path, jsonl):
    for arguments, message in [
        (("--input", tmp_path / "none.jsonl"), f"{tmp_path / 'none.jsonl'}: cannot be read: No such file or directory"),
        (("--input", tmp_path / "x.csv"),
         "requires a file that ends in .jsonl, .parquet, .txt or .npy, but found .csv"),
        (("--input", jsonl, "--output", tmp_path / "o.csv"),
         "requires a file that ends in .jsonl or .parquet, but found .csv"),
        (("--input", jsonl, "--output", tmp_path / "no" / "o.jsonl"), "cannot be written: No such file or directory")]:
        (tmp_path / "x.csv").write_text("a")
        assert message in refused("run", DEMO / "langid", *arguments)
    (tmp_path / "latin.jsonl").write_bytes('"é"'.encode("latin-1"))
    assert "requires text in UTF-8" in refused("run", DEMO / "langid", "--input", tmp_path / "latin.jsonl")


def test_progress_on_a_terminal(jsonl, tmp_path):
    """A pseudo terminal as error stream: a progress bar there, results on the output alone."""
    import os
    import pty

    try:
        ours, theirs = pty.openpty()
    except OSError as error:
        pytest.skip(f"no terminal to be had: {error}")
    process = subprocess.Popen([sys.executable, "-m", "convbert", "run", str(DEMO / "langid"), "--json", "--input",
                                str(jsonl)], stdout=subprocess.PIPE, stderr=theirs, text=True,
                               env=dict(os.environ, TERM="xterm", COLUMNS="80"))
    os.close(theirs)
    output, shown = process.communicate()[0], b""
    try:
        while chunk := os.read(ours, 4096):
            shown += chunk
    except OSError:  # the other end is closed
        pass
    check([json.loads(line) for line in output.splitlines()])
    assert b"running" in shown
