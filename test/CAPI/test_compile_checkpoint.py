"""The compiler's C interface: options, errors, cache."""

import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from c_library import Library

# Run by several processes at once; prints the answer.
WORKER = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.convbert_compile_checkpoint.restype = ctypes.c_void_p
answer = library.convbert_compile_checkpoint(sys.argv[2].encode(), sys.argv[3].encode(), None)
print(ctypes.string_at(answer).decode() if answer else "")
"""


class Compiler(Library):
    def __init__(self, path):
        super().__init__(path)
        self.library.convbert_compile_checkpoint.restype = ctypes.c_void_p
        self.library.convbert_version.restype = ctypes.c_char_p

    def __call__(self, directory, options="{}"):
        text = options if isinstance(options, str) or options is None else json.dumps(options)
        return self.ask(self.library.convbert_compile_checkpoint, str(directory).encode(),
                        text.encode() if text is not None else None)


@pytest.fixture(scope="module")
def compiler(build_dir):
    return Compiler(build_dir / "lib" / "libconvbert.so")


@pytest.fixture(scope="module")
def checkpoint(root):
    return root / "test" / "golden" / "base_tiny"


@pytest.fixture(scope="module")
def first(compiler, checkpoint, tmp_path_factory):
    """The answer of the first call with an empty cache."""
    return compiler(checkpoint, {"cache_dir": str(tmp_path_factory.mktemp("cache"))})


def cache_of(answer):
    return str(Path(answer["object"]).parents[1])


def test_version(compiler, root):
    assert f"VERSION {compiler.library.convbert_version().decode()} " in (root / "CMakeLists.txt").read_text()


@pytest.mark.parametrize(
    "options, message",
    [
        ("{", "requires options as a JSON object, but found: "),
        ("[]", "requires options as a JSON object, but found: []"),
        ({"colour": 1}, "requires an option 'target', 'dtype', 'weights', 'outputs', 'inputs', 'cache_dir' or "
                        "'dump_dir', but found 'colour'"),
        ({"target": 3}, "option 'target' requires a string, but found 3"),
        ({"outputs": "x"}, "option 'outputs' requires an array, but found \"x\""),
        ({"outputs": ["x"]}, "option 'outputs' requires \"hidden_states\", \"attentions\", \"conv_kernels\", \"steps\", but found "
                             "\"x\""),
        ({"inputs": ["x"]}, "option 'inputs' requires \"head_mask\", \"inputs_embeds\", but found \"x\""),
        ({"dtype": "f16"}, "requires a dtype 'float32' or 'bfloat16', but found 'f16'"),
        ({"dtype": "bfloat16", "target": "x86-64-v3"}, "dtype 'bfloat16' requires a target with AVX512_BF16, "
         "'x86-64-v4-bf16' or 'native' on such a CPU, but found 'x86-64-v3'"),
        ({"weights": "f16"}, "option 'weights' requires \"f32\" or \"bf16\", but found \"f16\""),
        ({"target": "z80"}, "requires a target 'native', 'x86-64-v2', 'x86-64-v3', 'x86-64-v4', 'x86-64-v4-bf16' or 'aarch64', but found 'z80'"),
    ],
)
def test_wrong_options(compiler, checkpoint, options, message):
    with pytest.raises(ValueError) as error:
        compiler(checkpoint, options)
    assert str(error.value).startswith(message)


def test_missing_checkpoint(compiler, tmp_path):
    with pytest.raises(ValueError, match="nothing"):
        compiler(tmp_path / "nothing")
    with pytest.raises(ValueError, match="requires the directory of a checkpoint, but found an empty name"):
        compiler("")


def test_error_pointer_is_optional(compiler):
    assert not compiler.library.convbert_compile_checkpoint(b"/nonexistent", None, None)


def test_answer(first, checkpoint):
    assert Path(first["object"]).read_bytes().startswith(b"\x7fELF")
    assert first["cached"] is False and first["compile_ms"] > 0
    assert list(first["phases_ms"]) and set(first["phases_ms"]) >= {"simplify", "outline", "llvm", "codegen", "link"}
    assert first["target"]["isa"] in ("avx2", "avx512")
    manifest = first["manifest"]
    assert [i["name"] for i in manifest["inputs"]] == [
        "input_ids",
        "attention_mask",
        "token_type_ids",
        "position_ids",
    ]
    assert manifest["vocab_size"] == 41 and manifest["hidden_size"] == 32 and manifest["min_row_pitch"] == 8
    assert len(first["weights"]) == len(manifest["parameters"])
    for weight, parameter in zip(first["weights"], manifest["parameters"]):
        assert weight["name"] == parameter["name"]
        assert weight["offset"] + weight["bytes"] <= os.path.getsize(weight["file"])


def test_second_time_is_cached(compiler, checkpoint, first):
    again = compiler(checkpoint, {"cache_dir": cache_of(first)})
    assert again["cached"] is True and again["compile_ms"] == 0
    assert again["object"] == first["object"] and again["manifest"] == first["manifest"]


def test_other_outputs_are_another_object(compiler, checkpoint, first):
    more = compiler(checkpoint, {"cache_dir": cache_of(first), "outputs": ["hidden_states"]})
    assert more["cached"] is False and more["object"] != first["object"]
    assert len(more["manifest"]["outputs"]) > len(first["manifest"]["outputs"])


def test_same_geometry_shares_the_object(compiler, checkpoint, first, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("config.json", "model.safetensors"):
        shutil.copy(checkpoint / name, copy)
    again = compiler(copy, {"cache_dir": cache_of(first)})
    assert again["cached"] is True
    assert {w["file"] for w in again["weights"]} == {str(copy / "model.safetensors")}


def test_damaged_entry_is_replaced(compiler, checkpoint, first, tmp_path):
    shutil.copytree(cache_of(first), tmp_path / "cache")
    entry = tmp_path / "cache" / Path(first["object"]).relative_to(cache_of(first))
    entry.write_bytes(b"")
    again = compiler(checkpoint, {"cache_dir": str(tmp_path / "cache")})
    assert again["cached"] is False and again["object"] == str(entry)
    assert entry.read_bytes().startswith(b"\x7fELF")


def test_unusable_cache_falls_back(compiler, checkpoint, tmp_path):
    (tmp_path / "file").write_text("no directory")
    answer = compiler(checkpoint, {"cache_dir": str(tmp_path / "file" / "cache")})
    assert answer["cached"] is False and os.path.exists(answer["object"])
    shutil.rmtree(Path(answer["object"]).parent)


def test_two_writers(compiler, checkpoint, tmp_path):
    options = json.dumps({"cache_dir": str(tmp_path)})
    command = [sys.executable, "-c", WORKER, str(compiler.path), str(checkpoint), options]
    workers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = [json.loads(worker.communicate()[0]) for worker in workers]
    assert answers[0]["object"] == answers[1]["object"]
    folder = Path(answers[0]["object"]).parent
    assert [entry.name for entry in folder.iterdir()] == ["model.so"]


def test_dump(compiler, checkpoint, first, tmp_path):
    answer = compiler(checkpoint, {"cache_dir": cache_of(first), "dump_dir": str(tmp_path / "phases")})
    assert answer["cached"] is False
    names = sorted(path.name for path in (tmp_path / "phases").iterdir())
    assert names[0] == "0-import.mlir" and names[-1] == "8-llvm.mlir" and len(names) == 9


def test_entries_end_with_a_hash(compiler, checkpoint, first, tmp_path):
    """One bit is enough for an entry to be compiled again."""
    shutil.copytree(cache_of(first), tmp_path / "cache")
    entry = tmp_path / "cache" / Path(first["object"]).relative_to(cache_of(first))
    content = entry.read_bytes()
    assert content[-18:-17] == b"[" and content.endswith(b"]")
    entry.write_bytes(content[:1000] + bytes([content[1000] ^ 1]) + content[1001:])
    again = compiler(checkpoint, {"cache_dir": str(tmp_path / "cache")})
    assert again["cached"] is False and entry.read_bytes() == content


def test_inspect(compiler, checkpoint, first):
    inspect = compiler.library.convbert_inspect_checkpoint
    inspect.restype = ctypes.c_void_p
    facts = json.loads(compiler.take(inspect(str(checkpoint).encode(), None, None)))
    assert facts["manifest"] == first["manifest"] and facts["weights"] == first["weights"]
    assert facts["parameters"] == 19428
    # Two layers of 16 attention features: q k^T and p v.
    assert facts["cost"]["self_attention"] == {"count": 2, "macs": [0, 0, 2 * 2 * 16]}
    assert facts["cost"]["dense"]["macs"][2] == 0
    assert not inspect(b"/nonexistent", None, None)
