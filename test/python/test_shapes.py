"""One compiled module serves every batch and length, in constant memory, and sequences do not meet."""

import os
from pathlib import Path

import numpy as np
import pytest

import convbert
from checkpoints import DEMO, GOLDEN, loaded, write_changed
from convbert import reference


def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def random_batch(rng, vocabulary, batch, length):
    """Arguments with masked tokens and both token types."""
    mask = np.ones((batch, length), np.int64)
    for row in mask:
        row[rng.integers(1, length + 1):] = 0
    return {"input_ids": rng.integers(0, vocabulary, (batch, length)), "attention_mask": mask,
            "token_type_ids": rng.integers(0, 2, (batch, length))}


def test_200_shapes_from_one_module(tmp_path):
    model = convbert.load(GOLDEN / "base_tiny", threads=2, cache=tmp_path)
    config, tensors = reference.load_checkpoint(GOLDEN / "base_tiny")
    rng = np.random.default_rng(2)
    model(**random_batch(rng, 41, 12, 24))  # the largest first, so that the workspace has its final size
    before = None
    for i in range(200):
        arguments = random_batch(rng, 41, int(rng.integers(1, 13)), int(rng.integers(1, 25)))
        found = model(**arguments).last_hidden_state
        expected = reference.forward(config, tensors, arguments)["last_hidden_state"]
        # The largest tolerance of the stored cases of this checkpoint.
        np.testing.assert_allclose(found, expected, rtol=0, atol=7e-6, err_msg=str(found.shape))
        if i == 50:
            before = resident_bytes(), model.workspace_bytes
    assert model.compile_count == 1
    assert len(list(tmp_path.rglob("*.so"))) == 1
    assert model.workspace_bytes == before[1]
    assert resident_bytes() - before[0] < 16 << 20


def test_memory_is_flat_on_a_larger_model():
    model = loaded(DEMO / "mlm", 2)
    rng = np.random.default_rng(3)
    batches = [random_batch(rng, 8192, int(rng.integers(1, 5)), int(rng.integers(1, 129))) for _ in range(30)]
    for arguments in batches:
        model(**arguments)
    before = resident_bytes(), model.workspace_bytes
    for arguments in batches:
        model(**arguments)
    assert model.workspace_bytes == before[1]
    assert resident_bytes() - before[0] < 32 << 20


@pytest.mark.parametrize("name", ["base_tiny", "groups2", "emb_gt_hidden", "odd_heads", "k7", "head_ratio4"])
@pytest.mark.parametrize("length", [1, 2, 7, 8, 9, 13, 16])
def test_neighbours_change_no_bit(name, length):
    model = loaded(GOLDEN / name)
    rng = np.random.default_rng(length)
    arguments = random_batch(rng, model.config["vocab_size"], 5, length)
    together = model(**arguments)[0]
    for row in range(5):
        alone = model(**{key: value[row:row + 1] for key, value in arguments.items()})[0]
        np.testing.assert_array_equal(together[row], alone[0])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", ["base_tiny", "groups2"])
def test_a_broken_neighbour_changes_no_bit(name, threads, tmp_path):
    """Sequences whose embeddings overflow: infinity, and NaN from the norm on."""
    broken = 7

    def change(tensors):
        for suffix, row in (("word_embeddings.weight", broken), ("token_type_embeddings.weight", 1)):
            (key,) = [key for key in tensors if key.endswith(suffix)]
            tensors[key][row] = 3e38

    write_changed(GOLDEN / name, tmp_path / "broken", change)
    model, healthy = convbert.load(tmp_path / "broken", threads=threads), loaded(GOLDEN / name)
    rng = np.random.default_rng(4)
    for length in (1, 3, 8, 11, model.config["max_position_embeddings"]):
        arguments = random_batch(rng, model.config["vocab_size"], 6, length)
        ids, types = arguments["input_ids"], arguments["token_type_ids"]
        ids[ids == broken] = 1
        types[:] = 0
        expected = healthy(**arguments).last_hidden_state
        for row in (0, 3, 5):
            ids[row, length // 2], types[row, length // 2] = broken, 1
        found = model(**arguments).last_hidden_state
        for row in (0, 3, 5):
            assert np.isnan(found[row, length // 2]).all()
        for row in (1, 2, 4):
            np.testing.assert_array_equal(found[row], expected[row])


@pytest.mark.parametrize("directory", [GOLDEN / "base_tiny", GOLDEN / "groups2", GOLDEN / "odd_heads", DEMO / "langid",
                                       DEMO / "mlm"], ids=lambda path: path.name)
def test_threads_change_no_bit(directory):
    one, two = loaded(directory, 1), loaded(directory, 2)
    rng = np.random.default_rng(5)
    limit = one.config["max_position_embeddings"]
    for batch, length in ((1, 1), (1, 7), (1, limit), (3, limit // 2 + 1), (7, 5)):
        arguments = random_batch(rng, one.config["vocab_size"], batch, length)
        first, second = one(**arguments), two(**arguments)
        for name in first:
            np.testing.assert_array_equal(first[name], second[name])


def test_three_threads_equal_one():
    """More threads than there are CPUs, and than there is work."""
    one, three = loaded(GOLDEN / "base_tiny", 1), loaded(GOLDEN / "base_tiny", 3)
    ids = np.arange(20)[None]
    np.testing.assert_array_equal(one(ids)[0], three(ids)[0])


@pytest.mark.parametrize("name", ["base_tiny", "groups2", "odd_heads"])
def test_ragged_batches_equal_single_sequences(name):
    """The runtime's own interface: each sequence with its length, as if it were alone and not padded."""
    model = loaded(GOLDEN / name)
    entry = model._entry(())
    lengths = np.array([16, 1, 5, 8, 13], np.int64)
    ids = np.random.default_rng(6).integers(0, model.config["vocab_size"], (5, 16))
    width = model.config["hidden_size"]
    out = np.full((5, 16, width), 7, np.float32)
    entry.runtime.forward(5, 16, [ids, None, None, None], [out], lengths)
    for row, length in enumerate(lengths):
        np.testing.assert_array_equal(out[row, :length], model(ids[row:row + 1, :length]).last_hidden_state[0])
        assert (out[row, length:] == 7).all()
