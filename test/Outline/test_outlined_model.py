"""Modules of whole checkpoints after phase `outline`: how many kernels, where parameters lie, how much text."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

MAKE = Path(__file__).parents[1] / "Import" / "Inputs" / "make_checkpoint.py"
KERNEL = re.compile(r"func\.func private @([\w.$-]+)\(.*convbert\.kernel = \"(\w+)\"")


def outline(tools, directory, *changes, target="x86-64-v3", options=()):
    """The text of the module of a checkpoint whose weights are never read."""
    subprocess.run([sys.executable, MAKE, directory, *changes], check=True)
    done = subprocess.run([tools / "convbert-compile", directory, "--compile-to=outline", f"--target={target}", *options],
                          capture_output=True, text=True, check=True)
    return done.stdout


def functions(text):
    """Bodies of the functions of a module by name."""
    found = {}
    for part in re.split(r"(?m)^  (?=func\.func )", text)[1:]:
        found[re.match(r"func\.func (?:private )?@([\w.$-]+)", part)[1]] = part
    return found


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"])
def test_kernels_do_not_grow_with_depth(tools, tmp_path, target):
    kernels = {}
    for layers in (1, 2, 12):
        text = outline(tools, tmp_path / str(layers), "--size", "base", f"num_hidden_layers={layers}", target=target)
        kernels[layers] = KERNEL.findall(text)
        assert text.count("call @encoder_layer(") == layers
        assert len(text) < 300_000
    assert kernels[1] == kernels[2] == kernels[12]
    work = [name for name, kind in kernels[12] if kind != "pack"]
    packing = [name for name, kind in kernels[12] if kind == "pack"]
    assert sorted(kind for _, kind in kernels[12] if kind not in ("pack", "copy", "dense")) == [
        "attention", "dense_deep", "depthwise", "embed", "norm", "span"]
    # 72 logits of taps are a panel of 48 and one of 32, which is a kernel more.
    assert len(work) <= (12 if target == "x86-64-v4" else 11) and len(packing) <= 20


@pytest.mark.parametrize("changes", [
    ["--size", "tiny"],
    ["--size", "medium-small", "num_hidden_layers=2"],
    ["--size", "tiny", "num_hidden_layers=0"],
    ["--size", "tiny", "--class", "ConvBertForMaskedLM"],
    ["--size", "tiny", "--class", "ConvBertForSequenceClassification", "hidden_size=12", "num_attention_heads=6"],
    ["--size", "tiny", "--class", "ConvBertForQuestionAnswering"],
    ["--size", "tiny", "--class", "ConvBertForMultipleChoice"],
])
@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"])
def test_packed_parameters_lie_apart(tools, tmp_path, changes, target):
    text = outline(tools, tmp_path, *changes, target=target)
    assert not [line for line in text.splitlines() if "convbert." in re.sub(r'convbert\.(kernel|threads|scratch|manifest|name)', "", line)
                and "func.call" in line]
    parts = functions(text)
    packed = int(re.search(r"arith\.constant (\d+) : i64", parts["packed_bytes"])[1])
    steps = int(re.search(r"arith\.constant (\d+) : i64", parts["prepack_steps"])[1])
    constants = {name: int(value) for name, value in
                 re.findall(r"(%[\w-]+) = arith\.constant (\d+) : index", parts["prepack"])}
    destination = re.search(r"@prepack\(%\w+: memref<\?xmemref<\?xi8>>, (%\w+): memref<\?xi8>", parts["prepack"])[1]
    views = re.findall(r"memref\.view " + destination + r"\[(%[\w-]+)\]\[\] : memref<\?xi8> to memref<([\dx]+)xf32>",
                       parts["prepack"])
    assert len(views) == steps
    spans = []
    for offset, shape in views:
        size = 4
        for extent in shape.split("x"):
            size *= int(extent)
        assert constants[offset] % 64 == 0
        spans.append((constants[offset], constants[offset] + size))
    spans.sort()
    assert all(end <= begin for (_, end), (begin, _) in zip(spans, spans[1:]))
    assert spans[-1][1] <= packed < spans[-1][1] + 64 and packed % 64 == 0
    # Every view of packed parameters that @forward reads is one that @prepack writes.
    forward = {name: int(value) for name, value in
               re.findall(r"(%[\w-]+) = arith\.constant (\d+) : index", parts["forward"])}
    source = re.search(r"@forward\((%\w+): memref<\?xi8>", parts["forward"])[1]
    read = re.findall(r"memref\.view " + source + r"\[(%[\w-]+)\]\[\] : memref<\?xi8> to memref<([\dx]+)xf32>",
                      parts["forward"])
    assert {(forward[o], s) for o, s in read} == {(constants[o], s) for o, s in views}


def test_nothing_of_the_dialect_outside_kernels(tools, tmp_path):
    text = outline(tools, tmp_path, "--size", "tiny")
    for name, body in functions(text).items():
        if "convbert.kernel" not in body.splitlines()[0]:
            assert "convbert." not in body, name
            assert "tensor<" not in body, name
