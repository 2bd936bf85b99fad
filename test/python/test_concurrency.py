"""One model and many threads; forked and spawned processes; several models; other libraries in the process."""

import multiprocessing
import os
import re
import subprocess
import sys
import threading
import time
from importlib.util import find_spec

import numpy as np
import pytest

import convbert
from checkpoints import DEMO, GOLDEN, loaded

IDS = np.arange(10).reshape(2, 5)


def run(code, *arguments, timeout=120):
    result = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True,
                            check=False, timeout=timeout)
    assert result.returncode == 0, result.stderr
    return result.stdout


def tasks():
    return set(os.listdir("/proc/self/task"))


def assert_none_beyond(before):
    """The system lists a thread for a moment after it was joined, those of the compiler among them."""
    end = time.monotonic() + 10
    while tasks() - before and time.monotonic() < end:
        time.sleep(0.01)
    assert tasks() <= before


@pytest.mark.parametrize("threads", [1, 2])
def test_64_threads_give_the_serial_bits(threads):
    model = loaded(DEMO / "langid", threads)
    rng = np.random.default_rng(1)
    batches = [rng.integers(0, 8192, (1 + i % 3, 2 + 5 * i % 61)) for i in range(64)]
    serial = [model(ids).logits for ids in batches]
    wrong, barrier = [], threading.Barrier(64)

    def work(i):
        barrier.wait()
        if not np.array_equal(model(batches[i]).logits, serial[i]):
            wrong.append(i)

    callers = [threading.Thread(target=work, args=(i,)) for i in range(64)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert wrong == []


def test_threads_that_load_and_call_different_models():
    names = ["base_tiny", "groups2", "odd_heads", "k7"]
    serial = [loaded(GOLDEN / name)(IDS)[0] for name in names]
    import convbert

    found = [None] * 8

    def work(i):
        found[i] = convbert.load(GOLDEN / names[i % 4], threads=2)(IDS)[0]

    callers = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    for i in range(8):
        np.testing.assert_array_equal(found[i], serial[i % 4])


def child(connection, model):
    connection.send(model(IDS)[0])


@pytest.mark.parametrize("options", [{}, {"weights": "bf16"}], ids=["f32", "bf16"])
def test_threads_that_pack_give_the_same_bytes(options):
    """And none of them stays."""
    before = tasks()
    alone = convbert.load(DEMO / "langid", threads=1, **options)
    assert_none_beyond(before)
    together = convbert.load(DEMO / "langid", threads=3, **options)
    packed = [model._entries[()].runtime.packed for model in (alone, together)]
    assert np.array_equal(*packed) and packed[0].ctypes.data != packed[1].ctypes.data
    assert_none_beyond(before)


def test_fork_while_other_threads_call():
    """The child has all workspaces to itself, whatever the threads of the parent held."""
    model = loaded(GOLDEN / "base_tiny", 2)
    expected = model(IDS)[0]
    stop = threading.Event()

    def work():
        while not stop.is_set():
            model(IDS)

    callers = [threading.Thread(target=work) for _ in range(4)]
    for caller in callers:
        caller.start()
    try:
        context = multiprocessing.get_context("fork")
        for _ in range(10):
            ours, theirs = context.Pipe()
            process = context.Process(target=child, args=(theirs, model))
            process.start()
            assert ours.poll(60), "the child hangs"
            np.testing.assert_array_equal(ours.recv(), expected)
            process.join(60)
            assert process.exitcode == 0
    finally:
        stop.set()
        for caller in callers:
            caller.join()
    np.testing.assert_array_equal(model(IDS)[0], expected)


FORK = """
import os, sys, convbert
model = convbert.load(sys.argv[1], threads=2)
model([[1, 2, 3]])
pid = os.fork()
if pid == 0:
    # A second set of outputs is compiled (or found) in the child; then a model of its own.
    states = model([[1, 2, 3]], output_hidden_states=True).hidden_states
    other = convbert.load(sys.argv[2], threads=2)
    other([[1, 2, 3]])
    os._exit(0 if len(states) > 1 else 1)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def test_the_child_of_a_fork_may_compile_and_load():
    assert run(FORK, GOLDEN / "base_tiny", GOLDEN / "groups2") == "0\n"


def load_and_call(path):
    import convbert

    return convbert.load(path, threads=1)(IDS)[0]


def test_spawn():
    expected = loaded(GOLDEN / "base_tiny")(IDS)[0]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for found in pool.map(load_and_call, [str(GOLDEN / "base_tiny")] * 2):
            np.testing.assert_array_equal(found, expected)


OTHERS = """
import sys
order, name, path = sys.argv[1:]
if order == "before":
    __import__(name)
import convbert
model = convbert.load(path, threads=2)
first = model([[1, 2, 3]])[0]
module = __import__(name)
if name == "torch":
    module.set_num_threads(2)
    (module.ones(64, 64) @ module.ones(64, 64)).sum()
print((model([[1, 2, 3]])[0] == first).all())
"""


@pytest.mark.parametrize("order", ["before", "after"])
@pytest.mark.parametrize("name", ["torch", "onnxruntime", "jax", "openvino", "tokenizers"])
def test_other_libraries_in_the_process(name, order):
    if find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    assert run(OTHERS, order, name, GOLDEN / "base_tiny") == "True\n"


OTHER_OPENMP = """
import ctypes, sys
ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
import numpy as np, convbert
ids = np.arange(96).reshape(4, 24) % 40
found = [convbert.load(sys.argv[2], threads=threads)(ids)[0] for threads in (1, 2)]
print(np.array_equal(*found))
"""


def test_another_openmp_in_the_process(tmp_path, build_dir):
    """PyTorch brings GNU's OpenMP, to be found by everybody, which told both our threads that they are the first: each
    computed the same half. A stand-in for it that answers so."""
    cache = (build_dir / "CMakeCache.txt").read_text(encoding="utf-8")
    compiler = re.search(r"^CMAKE_C_COMPILER:\w+=(.*)$", cache, re.MULTILINE)[1]
    source, library = tmp_path / "openmp.c", tmp_path / "libopenmp.so"
    source.write_text("int omp_get_thread_num(void) { return 0; }\nint omp_get_num_threads(void) { return 2; }\n")
    subprocess.run([compiler, "-shared", "-fPIC", source, "-o", library], check=True)
    assert run(OTHER_OPENMP, library, GOLDEN / "base_tiny") == "True\n"


def test_10000_calls_of_random_shapes_leave_memory_flat():
    from test_shapes import resident_bytes

    model = loaded(GOLDEN / "base_tiny")
    rng = np.random.default_rng(8)
    ids = rng.integers(0, 41, (6, 24))
    model(ids)
    before = None
    for i in range(10_000):
        model(ids[:1 + i % 6, :1 + int(rng.integers(24))])
        if i == 1000:
            before = resident_bytes(), model.workspace_bytes
    assert model.workspace_bytes == before[1]
    assert resident_bytes() - before[0] < 4 << 20
