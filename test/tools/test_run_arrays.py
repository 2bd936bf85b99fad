"""convbert-run's own reader and writer of array files: what NumPy writes is read, what is damaged is refused in a line."""

import io
import random
import struct
import subprocess

import numpy as np
import pytest


@pytest.fixture(scope="module")
def checkpoint(root):
    return root / "test" / "golden" / "base_tiny"


@pytest.fixture(scope="module")
def module(tools, checkpoint, tmp_path_factory):
    """A module that reads its inputs and refuses: all array files are read before it is compiled."""
    path = tmp_path_factory.mktemp("module") / "model.mlir"
    subprocess.run([tools / "convbert-import", checkpoint, "-o", path], check=True)
    return path


@pytest.fixture
def run(tools):
    def call(*arguments):
        return subprocess.run([tools / "convbert-run", *map(str, arguments)], capture_output=True, text=True)

    return call


def refused(result):
    """The one line of a refusal."""
    assert result.returncode == 1, result
    lines = result.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("convbert-run: "), result.stderr
    return lines[0]


@pytest.fixture(scope="module")
def ids():
    return np.random.default_rng(0).integers(0, 41, (2, 7))


@pytest.fixture(scope="module")
def expected(tools, checkpoint, ids, tmp_path_factory):
    folder = tmp_path_factory.mktemp("expected")
    np.save(folder / "ids.npy", ids)
    command = [tools / "convbert-run", checkpoint, f"--input=input_ids=@{folder}/ids.npy", f"--output-dir={folder}/out"]
    subprocess.run(command, check=True, capture_output=True)
    array = np.load(folder / "out" / "last_hidden_state.npy")
    assert array.dtype == np.float32 and array.shape == (2, 7, 32) and array.flags.c_contiguous
    return folder / "out"


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_integer_types(run, checkpoint, expected, ids, tmp_path, dtype):
    np.save(tmp_path / "ids.npy", ids.astype(dtype))
    result = run(checkpoint, f"--input=input_ids=@{tmp_path}/ids.npy", f"--check-against={expected}", "--atol=0")
    assert result.returncode == 0, result


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz(run, checkpoint, expected, ids, tmp_path, save):
    save(tmp_path / "in.npz", input_ids=ids, attention_mask=np.ones((2, 7), bool), ignored=np.zeros(3))
    save(tmp_path / "out.npz", last_hidden_state=np.load(expected / "last_hidden_state.npy").astype(np.float64))
    result = run(checkpoint, f"--inputs={tmp_path}/in.npz", f"--check-against={tmp_path}/out.npz", "--atol=0")
    assert result.returncode == 0, result


def test_float16_and_npy_versions(run, checkpoint, ids, expected, tmp_path):
    want = np.load(expected / "last_hidden_state.npy")
    with open(tmp_path / "last_hidden_state.npy", "wb") as file:
        np.lib.format.write_array(file, want.astype(np.float16), version=(3, 0))
    with open(tmp_path / "ids.npy", "wb") as file:
        np.lib.format.write_array(file, np.asfortranarray(ids)[:, :].copy(order="C"), version=(2, 0))
    arguments = [checkpoint, f"--input=input_ids=@{tmp_path}/ids.npy"]
    result = run(*arguments, f"--check-against={tmp_path}/last_hidden_state.npy", "--atol=1e-2")
    assert result.returncode == 0, result
    assert run(*arguments, f"--check-against={tmp_path}/last_hidden_state.npy", "--atol=1e-9").returncode == 1


def test_parameter_files(run, module, tmp_path):
    np.save(tmp_path / "bias.npy", np.zeros(32, np.float32))
    name = "embeddings.LayerNorm.bias"
    assert run(module, f"--param={name}=@{tmp_path}/bias.npy").returncode == 0
    line = refused(run(module, f"--param=embeddings.LayerNorm.bais=@{tmp_path}/bias.npy"))
    assert "requires the name of a parameter" in line and f"the nearest is '{name}'" in line
    np.save(tmp_path / "bias.npy", np.zeros(31, np.float32))
    assert f"{name}: requires float32 [32], but found float32 [31]" in refused(
        run(module, f"--param={name}=@{tmp_path}/bias.npy")
    )


def npy(header, data=b"", version=1):
    text = header.encode()
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text + data


HEADER = "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 2), }"
DAMAGED = [
    (b"", "requires a .npy file"),
    (b"\x93NUMPY", "requires a .npy file"),
    (b"\x93NUMPY\x01\x00\xff\xff", "requires a header of 65535 bytes"),
    (b"\x93NUMPY\x02\x00\xff\xff\xff", "requires a header"),
    (npy(HEADER, b"\0" * 16, version=9), "requires .npy version 1, 2 or 3, but found 9"),
    (npy(HEADER, b"\0" * 15), "requires 16 bytes for int64 [1, 2], but found 15"),
    (npy(HEADER, b"\0" * 17), "requires 16 bytes for int64 [1, 2], but found 17"),
    (npy(HEADER.replace("(1, 2)", "(1, -2)"), b"\0" * 16), "in its header"),
    (npy(HEADER.replace("(1, 2)", "(4294967296, 4294967296)")), "product fits 62 bits"),
    (npy(HEADER.replace("(1, 2)", f"({'1,' * 70})"), b"\0" * 8), "in its header"),
    (npy(HEADER.replace("(1, 2)", "1"), b"\0" * 16), "in its header"),
    (npy(HEADER.replace("(1, 2)", "(99999999999999999999,)")), "in its header"),
    (npy(HEADER.replace("<i8", ">i8"), b"\0" * 16), "requires little-endian numbers, but found elements of type '>i8'"),
    (npy(HEADER.replace("<i8", "|O"), b"\0" * 16), "but found elements of type '|O'"),
    (npy(HEADER.replace("False", "True"), b"\0" * 16), "requires an array in C order"),
    (npy(HEADER.replace("False", "Maybe"), b"\0" * 16), "in its header"),
    (npy("{'descr': '<i8'", b""), "in its header"),
    (npy("{'descr': '<i8}", b""), "in its header"),
    (npy("[1]", b""), "in its header"),
    (npy("{}", b""), "in its header"),
]


@pytest.mark.parametrize("number", range(len(DAMAGED)))
def test_damaged_npy(run, module, tmp_path, number):
    data, message = DAMAGED[number]
    (tmp_path / "x.npy").write_bytes(data)
    line = refused(run(module, f"--input=input_ids=@{tmp_path}/x.npy"))
    assert f"{tmp_path}/x.npy: " in line and message in line


def test_wrong_arrays(run, module, ids, tmp_path):
    np.save(tmp_path / "x.npy", ids.astype(np.float32))
    assert "input_ids: requires elements of type int64, but found float32 [2, 7]" in refused(
        run(module, f"--input=input_ids=@{tmp_path}/x.npy")
    )
    np.save(tmp_path / "x.npy", ids[0])
    assert "input_ids: requires int64 [1, 16], but found int64 [7]" in refused(
        run(module, f"--input=input_ids=@{tmp_path}/x.npy")
    )
    np.save(tmp_path / "x.npy", ids)
    np.save(tmp_path / "mask.npy", np.full((2, 7), 2))
    arguments = [f"--input=input_ids=@{tmp_path}/x.npy", f"--input=attention_mask=@{tmp_path}/mask.npy"]
    assert "attention_mask: requires values that fit bool, but found 2 at element 0" in refused(run(module, *arguments))
    np.save(tmp_path / "mask.npy", np.ones((2, 8), bool))
    assert "input_ids: requires a batch of 2x8" in refused(run(module, *arguments))
    np.save(tmp_path / "x.npy", np.full((1, 4), 41))
    assert "input_ids: requires token ids in [0, 41), but found 41 at [0, 0]" in refused(
        run(module, f"--input=input_ids=@{tmp_path}/x.npy")
    )


def test_damaged_npz(run, module, ids, tmp_path):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, input_ids=ids)
    whole = buffer.getvalue()
    path = tmp_path / "x.npz"
    generator = random.Random(1)
    for size in [0, 10, len(whole) // 2, len(whole) - 30]:
        path.write_bytes(whole[:size])
        refused(run(module, f"--inputs={path}"))
    for _ in range(40):
        data = bytearray(whole)
        data[generator.randrange(len(data))] ^= 1 << generator.randrange(8)
        path.write_bytes(data)
        # The batch is refused even if the archive is none the worse.
        refused(run(module, f"--inputs={path}", "--shape=3x3"))
