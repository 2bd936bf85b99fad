"""convbert-run --perf: what a profiler reads to name code that lies in memory alone."""

import os
import re
import struct
import subprocess
from pathlib import Path

MODEL = Path(__file__).resolve().parents[1] / "golden" / "base_tiny"


def run(tools, folder, *options):
    """Runs the model; the number of the process, and what it left: its map, and its jitdump."""
    environment = dict(os.environ, JITDUMPDIR=str(folder))
    process = subprocess.Popen([tools / "convbert-run", MODEL, *options], env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return process.pid, f"/tmp/perf-{process.pid}.map", sorted(folder.glob(f"**/jit-{process.pid}.dump"))


def read_map(path):
    """{name: (address, bytes)}"""
    found = {}
    with open(path, encoding="ascii") as file:
        for line in file:
            address, size, name = line.split()
            found[name] = int(address, 16), int(size, 16)
    return found


def read_dump(path):
    """{name: (address, bytes, code)} of the records of loaded code."""
    data, found = path.read_bytes(), {}
    magic, _version, at = struct.unpack_from("=III", data)
    assert magic == 0x4A695444
    while at < len(data):
        kind, size, _time = struct.unpack_from("=IIQ", data, at)
        if kind == 0:
            _pid, _tid, _vma, address, length, _index = struct.unpack_from("=IIQQQQ", data, at + 16)
            name, code = data[at + 56:at + size].split(b"\0", 1)
            assert len(code) == length
            found[name.decode()] = address, length, code
        at += size
    return found


def test_perf_names_the_kernels(tools, tmp_path):
    _pid, path, dumps = run(tools, tmp_path, "--perf")
    try:
        functions = read_map(path)
    finally:
        os.remove(path)
    # What is small or called once, as @forward, has become part of its caller.
    assert {"_mlir_ciface_forward", "encoder_layer", "attention_d16_task"} <= set(functions)
    product, = (name for name in functions if re.fullmatch(r"dense(_n\d+)?_gelu_task", name))  # panels of this CPU
    # No function reaches into the next one: what perf says of an address is unambiguous.
    places = sorted(functions.values())
    assert all(address + size <= following for (address, size), (following, _) in zip(places, places[1:]))
    assert len(dumps) == 1
    dumped = read_dump(dumps[0])
    assert {name: (address, size) for name, (address, size, _) in dumped.items()} == functions
    # A kernel's code, which returns.
    assert b"\xc3" in dumped[product][2]


def test_a_map_of_an_earlier_process_is_replaced(tools, tmp_path):
    """A link that somebody left there is not followed."""
    victim = tmp_path / "victim"
    victim.write_text("kept")
    script = 'ln -s "$1" /tmp/perf-$$.map; shift; exec "$@"'
    process = subprocess.Popen(["sh", "-c", script, "sh", victim, tools / "convbert-run", MODEL, "--perf"],
                               env=dict(os.environ, JITDUMPDIR=str(tmp_path)), stdout=subprocess.DEVNULL)
    assert process.wait(timeout=300) == 0
    path = f"/tmp/perf-{process.pid}.map"
    assert "encoder_layer" in read_map(path) and not os.path.islink(path)
    os.remove(path)
    assert victim.read_text() == "kept"


def test_nothing_is_written_without_the_option(tools, tmp_path):
    _pid, path, dumps = run(tools, tmp_path)
    assert not os.path.exists(path) and not dumps


def test_a_closed_place(tools):
    environment = dict(os.environ, JITDUMPDIR="/dev/null")
    result = subprocess.run([tools / "convbert-run", MODEL, "--perf"], env=environment, capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr.startswith("convbert-run: perf requires a writable directory for a jitdump ($JITDUMPDIR, an "
                                    "absolute path, or the home directory), but found: ")
    assert len(result.stderr.splitlines()) == 1
