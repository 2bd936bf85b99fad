"""Which kernel and schedule each operation gets: none of a model falls back to scalar loops."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import convbert
from checkpoints import DEMO, GOLDEN
from convbert.schedules import scheduled

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "bench"))
import models  # noqa: E402

#: Kernels that are loops of copies, or of a vector a sequence, by design.
COPIES = {"attention_bias", "round", "load_tokens", "store_tokens"}
#: Lanes of a vector of f32.
LANES = {"x86-64-v2": 4, "x86-64-v3": 8, "x86-64-v4": 16, "aarch64": 4}


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sizes")
    sparse = Path(__file__).resolve().parents[1] / "Import" / "Inputs" / "make_checkpoint.py"
    subprocess.run([sys.executable, sparse, folder / "base", "--size", "base"], check=True)
    return {"base": folder / "base", **{size: models.make(size, folder) for size in ("small", "medium-small")}}


@pytest.mark.parametrize("target", LANES)
@pytest.mark.parametrize("name", ["small", "medium-small", "base", "langid", "mlm", "base_tiny"])
def test_nothing_falls_back(name, target, published):
    path = published.get(name) or (DEMO / name if (DEMO / name).exists() else GOLDEN / name)
    rows = scheduled(path, target)
    assert {"convbert.dense", "convbert.self_attention", "convbert.apply_kernel", "convbert.depthwise_conv1d",
            "convbert.layer_norm", "convbert.embeddings"} <= {row.operation for row in rows}
    for row in rows:
        assert row.fallbacks == ()
        assert row.schedule or row.kernel in COPIES or row.kernel.startswith(("pool", "activation")), row
        if row.operation == "convbert.dense":
            assert f"nv={LANES[target]}" in row.parameters.split(", ")


def test_command_line():
    command = [sys.executable, "-m", "convbert", "info", GOLDEN / "base_tiny", "--schedules", "--target", "x86-64-v3"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert text[0].split() == ["function", "operation", "of", "kernel", "schedule", "parameters"]
    assert any(re.match(r"encoder_layer +convbert\.self_attention ", line) and "attention.f32" in line for line in text)
    rows = json.loads(subprocess.run([*command, "--json"], capture_output=True, text=True, check=True).stdout)
    assert rows[0]["kernel"] == "dense" and rows[0]["fallbacks"] == []


def test_reasons():
    """What a choice of kernels rests on; a product whose activation needs the whole sum has none."""
    rows = {row.where: row for row in scheduled(GOLDEN / "base_tiny", "x86-64-v4")}
    assert rows["attention.output"].why == "64 features: 128 rows and a panel are 44 KiB and stay in 1280 KiB of L2"
    assert rows["feed_forward.up"].why == rows["embeddings"].why == ""
    command = [sys.executable, "-m", "convbert", "info", GOLDEN / "base_tiny", "--schedules", "--target", "x86-64-v4"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert text.count(f"{rows['attention.output'].kernel}: {rows['attention.output'].why}") == 1
    wide = {row.where: row for row in scheduled(GOLDEN / "base_tiny", "x86-64-v4", weights="bf16")}["feed_forward.up"]
    assert (wide.kernel, wide.why) == ("dense_n32_gelu_wide",
                                       "from 32 rows on a panel of bf16 is widened once for all of them")


def test_types():
    """Products of bf16 have kernels of their own; weights of bf16 have those of float32, and more."""
    pairs = scheduled(GOLDEN / "base_tiny", "x86-64-v4-bf16", dtype="bfloat16")
    assert {row.schedule for row in pairs if row.operation == "convbert.dense"} == {"dense.bf16.avx512bf16"}
    assert scheduled(GOLDEN / "base_tiny", "x86-64-v3", weights="bf16") != []
    with pytest.raises(convbert.Error, match="^dtype 'bfloat16' requires a target with AVX512_BF16"):
        scheduled(GOLDEN / "base_tiny", "x86-64-v3", dtype="bfloat16")
    command = [sys.executable, "-m", "convbert", "info", GOLDEN / "base_tiny", "--target", "x86-64-v4-bf16", "--dtype",
               "bfloat16"]
    text = subprocess.run([*command, "--schedules"], capture_output=True, text=True, check=True).stdout
    assert "dense.bf16.avx512bf16" in text
    refused = subprocess.run(command, capture_output=True, text=True)
    assert (refused.returncode, refused.stderr) == (1, "convbert: "
        "--weights, --dtype: require --schedules, but found --weights None and --dtype bfloat16 without\n")


def test_a_refused_checkpoint(tmp_path):
    with pytest.raises(convbert.Error, match="config.json"):
        scheduled(tmp_path)
