"""The cache of compiled objects: list, clear, its bound, and what damage and a full disk do."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import convbert
from checkpoints import GOLDEN
from convbert import cache
from convbert.cache import parse_size

NAMES = ("base_tiny", "groups2", "odd_heads")
IDS = [[1, 2, 3]]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A cache with three checkpoints, used in this order."""
    directory = tmp_path_factory.mktemp("filled")
    for age, name in zip((300, 200, 100), NAMES):
        convbert.load(GOLDEN / name, cache=directory)
        (entry,) = [entry for entry in cache.entries(str(directory)) if entry.note["checkpoint"].endswith(name)]
        for file in Path(entry.path).iterdir():
            os.utime(file, (entry.last_used - age, entry.last_used - age))
    return directory


@pytest.fixture
def copied(filled, tmp_path):
    subprocess.run(["cp", "-a", filled, tmp_path / "cache"], check=True)
    return tmp_path / "cache"


def checkpoints(directory):
    return [os.path.basename(entry.note["checkpoint"]) for entry in cache.entries(str(directory))]


def command(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "convbert", "cache", *map(str, arguments)], capture_output=True,
                          text=True, check=False, **options)


def test_entries_are_listed_by_use(copied):
    assert checkpoints(copied) == list(reversed(NAMES))
    assert convbert.load(GOLDEN / "base_tiny", cache=copied).timings["cached"]
    assert checkpoints(copied)[0] == "base_tiny"


def test_list_and_clear(copied):
    (copied / "something else").write_text("not ours")
    result = command("list", "--dir", copied)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["key", "size", "last", "used", "isa", "checkpoint"]
    assert lines[1].endswith(str(GOLDEN / "odd_heads"))
    assert lines[-1].startswith("3 entries, ") and lines[-1].endswith(f"in {copied}")
    facts = json.loads(command("list", "--dir", copied, "--json").stdout)
    assert [entry["checkpoint"] for entry in facts["entries"]] == [str(GOLDEN / name) for name in reversed(NAMES)]
    assert facts["bytes"] == sum(entry["bytes"] for entry in facts["entries"]) > 0
    assert json.loads(command("clear", "--dir", copied, "--json").stdout)["removed"] == 3
    assert [path.name for path in copied.iterdir()] == ["something else"]
    assert command("list", "--dir", copied / "nowhere").stdout.startswith("0 entries")


def test_the_least_recently_used_go_first(copied, monkeypatch):
    size = cache.entries(str(copied))[0].bytes
    monkeypatch.setenv("CONVBERT_CACHE_LIMIT", str(int(size * 3.5)))
    convbert.load(GOLDEN / "k7", cache=copied)
    assert checkpoints(copied) == ["k7", "odd_heads", "groups2"]
    monkeypatch.setenv("CONVBERT_CACHE_LIMIT", "1")
    convbert.load(GOLDEN / "head_ratio4", cache=copied)  # what was just made stays
    assert checkpoints(copied) == ["head_ratio4"]


def test_an_object_removed_by_another_process_is_made_again(copied, monkeypatch):
    from convbert import entry

    real, removed = entry._runtime.Model, []

    def remove_first(description, *arguments):
        if not removed:
            removed.append(json.loads(description)["object"])
            os.remove(removed[0])
        return real(description, *arguments)

    monkeypatch.setattr(entry._runtime, "Model", remove_first)
    assert convbert.load(GOLDEN / "base_tiny", cache=copied)(IDS)[0].shape == (1, 3, 32)
    assert removed


@pytest.mark.parametrize("damage", ["empty", "short", "changed"])
def test_damaged_objects_are_compiled_again(copied, damage):
    (entry,) = [entry for entry in cache.entries(str(copied)) if entry.note["checkpoint"].endswith("base_tiny")]
    path = Path(entry.path) / "model.so"
    content = path.read_bytes()
    middle = len(content) // 2
    path.write_bytes({"empty": b"", "short": content[:middle],
                      "changed": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1:]}[damage])
    (path.parent / "note.json").write_text("{")
    model = convbert.load(GOLDEN / "base_tiny", cache=copied)
    assert not model.timings["cached"]
    assert model(IDS)[0].shape == (1, 3, 32)
    assert convbert.load(GOLDEN / "base_tiny", cache=copied).timings["cached"]


FULL = """
import resource, signal, sys, convbert
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
print(convbert.load(sys.argv[1], cache=sys.argv[2])([[1, 2, 3]])[0].shape)
"""


def test_a_full_disk(tmp_path):
    """A file system of its own, too small for the object."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", place], capture_output=True,
                             check=False)
    if mounted.returncode != 0:
        pytest.skip("mounting a file system is not allowed here")
    try:
        result = subprocess.run([sys.executable, "-c", FULL, str(GOLDEN / "base_tiny"), str(place)],
                                capture_output=True, text=True, check=False)
        assert result.stdout == "(1, 3, 32)\n", result.stderr
        assert not list(place.rglob("*.so"))
    finally:
        subprocess.run(["umount", place], check=False)


def test_a_cache_that_cannot_be_written_to_harms_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    assert convbert.load(GOLDEN / "base_tiny", cache=tmp_path / "file")(IDS)[0].shape == (1, 3, 32)
    assert (tmp_path / "file").read_text() == ""


def test_two_processes_and_a_small_bound(tmp_path):
    """They evict each other's entries all the time, and both get right answers."""
    code = ("import sys, convbert\nfor name in sys.argv[3:]:\n"
            "  print(convbert.load(sys.argv[1] + '/' + name, cache=sys.argv[2])([[1, 2, 3]])[0].sum())")
    environment = dict(os.environ, CONVBERT_CACHE_LIMIT="100K")
    processes = [subprocess.Popen([sys.executable, "-c", code, str(GOLDEN), str(tmp_path), *names], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
                 for names in (("base_tiny", "k7"), ("k7", "base_tiny"))]
    (one, errors), (two, more) = (process.communicate() for process in processes)
    assert errors == more == ""
    assert one.split() == two.split()[::-1]
    assert sum(entry.bytes for entry in cache.entries(str(tmp_path))) < 200 << 10


def test_sizes():
    assert [parse_size(text) for text in ("0", "12", "1K", "1.5m", "2G", "3 GiB", "1TB")] == [
        0, 12, 1024, 3 << 19, 2 << 30, 3 << 30, 1 << 40]
    for text in ("", "G", "-1", "1X"):
        with pytest.raises(ValueError, match="requires a size such as 500M or 2G, but found"):
            parse_size(text)


def test_default_directory_is_the_compilers(monkeypatch, tmp_path):
    monkeypatch.delenv("CONVBERT_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    convbert.load(GOLDEN / "base_tiny")
    assert [os.path.dirname(entry.path) for entry in cache.entries()] == [str(tmp_path / ".cache" / "convbert")]
    monkeypatch.setenv("XDG_CACHE_HOME", "x")
    assert cache.default_directory() == "x/convbert"
    monkeypatch.setenv("CONVBERT_CACHE", "c")
    assert cache.default_directory() == "c"
