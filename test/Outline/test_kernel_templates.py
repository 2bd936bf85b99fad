"""The pages of IR that kernels are made from: every placeholder is documented, and none is left in a kernel."""

import re
import subprocess
from pathlib import Path

import pytest

from module_harness import TARGETS
from test_outlined_model import functions, outline

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = sorted((ROOT / "lib" / "Outline" / "kernels").glob("*.mlir.in"))
PLACEHOLDER = re.compile(r"@[*]?([A-Z][A-Z_]*)@")
CONDITION = re.compile(r"^@[?!]([A-Z][A-Z_]*)@", re.MULTILINE)
BFLOAT16 = "x86-64-v4-bf16"
#: Templates for products of float32, and of pairs of bfloat16.
PLAIN, PAIRS = {"dense", "dense_times", "dense_deep"}, {"dense_pairs", "dense_times_pairs", "round"}
#: What no model of today uses.
OTHERS = """
ml_program.global private @s(#ml_program.extern : tensor<2xf32>) : tensor<2xf32>
func.func private @layer(%x: tensor<?x?x32xf32>, %mask: tensor<?x?xi1>, %s: tensor<2xf32>) -> tensor<?x32xf32> {
  %y = convbert.mask_tokens %x, %mask : (tensor<?x?x32xf32>, tensor<?x?xi1>) -> tensor<?x?x32xf32>
  %z = convbert.scale_heads %y, %s : (tensor<?x?x32xf32>, tensor<2xf32>) -> tensor<?x?x32xf32>
  %m = convbert.pool %z {kind = #convbert.pool<mean>} : (tensor<?x?x32xf32>) -> tensor<?x32xf32>
  %n = convbert.activation %m {kind = #convbert.activation<tanh>} : tensor<?x32xf32>
  return %n : tensor<?x32xf32>
}
func.func private @family(%x: tensor<?x?x32xf32>, %mask: tensor<?x?xi1>, %s: tensor<2x32xf32>, %w: tensor<32x32xf32>, %g: tensor<32xf32>)
    -> tensor<?x32xf32> {
  %h = convbert.dense %x, %w : (tensor<?x?x32xf32>, tensor<32x32xf32>) -> tensor<?x?x32xf32>
  %d = convbert.dynamic_conv %h, %s query(%x) channel_bias(%g)
      {heads = 1 : i64, pads = array<i64: 1, 0>, edge = #convbert.edge<renorm>}
    : (tensor<?x?x32xf32>, tensor<2x32xf32>, tensor<?x?x32xf32>, tensor<32xf32>) -> tensor<?x?x32xf32>
  %p = convbert.pool %d mask(%mask) {kind = #convbert.pool<mean>} : (tensor<?x?x32xf32>, tensor<?x?xi1>) -> tensor<?x32xf32>
  %y = convbert.scale_channels %d, %p : (tensor<?x?x32xf32>, tensor<?x32xf32>) -> tensor<?x?x32xf32>
  %z = convbert.select_branches %y, %d, %h by(%p, %p, %p)
    : (tensor<?x?x32xf32>, tensor<?x?x32xf32>, tensor<?x?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>)
    -> tensor<?x?x32xf32>
  %m = convbert.pool %z {kind = #convbert.pool<mean>} : (tensor<?x?x32xf32>) -> tensor<?x32xf32>
  return %m : tensor<?x32xf32>
}
ml_program.global private @a(#ml_program.extern : tensor<2x32xf32>) : tensor<2x32xf32>
ml_program.global private @b(#ml_program.extern : tensor<32x32xf32>) : tensor<32x32xf32>
ml_program.global private @t(#ml_program.extern : tensor<9x32xf32>) : tensor<9x32xf32>
ml_program.global private @g(#ml_program.extern : tensor<32xf32>) : tensor<32xf32>
ml_program.global private @w(#ml_program.extern : tensor<4096x32xf32>) : tensor<4096x32xf32>
ml_program.global private @v(#ml_program.extern : tensor<32x4096xf32>) : tensor<32x4096xf32>
func.func private @deep(%x: tensor<?x?x32xf32>, %w: tensor<4096x32xf32>, %v: tensor<32x4096xf32>) -> tensor<?x?x32xf32> {
  %h = convbert.dense %x, %w : (tensor<?x?x32xf32>, tensor<4096x32xf32>) -> tensor<?x?x4096xf32>
  %y = convbert.dense %h, %v : (tensor<?x?x4096xf32>, tensor<32x4096xf32>) -> tensor<?x?x32xf32>
  return %y : tensor<?x?x32xf32>
}
func.func @forward(%ids: tensor<?x?xi64>, %mask: tensor<?x?xi1>, %e: tensor<?x?x32xf32>, %row: tensor<?x32xf32>,
                   %taps: tensor<?x?x2x3xf32>)
    -> (tensor<?x32xf32>, tensor<?x?x32xf32>, tensor<?x32xf32>, tensor<?x?x2x3xf32>, tensor<?x?x32xf32>,
        tensor<?x32xf32>, tensor<?x?x32xf32>, tensor<?x?x1xf32>, tensor<?x?x4x8xf32>) {
  %wa = ml_program.global_load_const @a : tensor<2x32xf32>
  %wb = ml_program.global_load_const @b : tensor<32x32xf32>
  %s = ml_program.global_load_const @s : tensor<2xf32>
  %t = ml_program.global_load_const @t : tensor<9x32xf32>
  %g = ml_program.global_load_const @g : tensor<32xf32>
  %w = ml_program.global_load_const @w : tensor<4096x32xf32>
  %v = ml_program.global_load_const @v : tensor<32x4096xf32>
  %x = convbert.embeddings %ids, %ids, %ids tables(%t, %t, %t) norm(%g, %g) {eps = 0.5 : f64}
    : (tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<9x32xf32>, tensor<9x32xf32>, tensor<9x32xf32>,
       tensor<32xf32>, tensor<32xf32>) -> tensor<?x?x32xf32>
  %deep = call @deep(%x, %w, %v) : (tensor<?x?x32xf32>, tensor<4096x32xf32>, tensor<32x4096xf32>) -> tensor<?x?x32xf32>
  %y = call @layer(%deep, %mask, %s) : (tensor<?x?x32xf32>, tensor<?x?xi1>, tensor<2xf32>) -> tensor<?x32xf32>
  %z = convbert.embeddings %e, %ids, %ids tables(%t, %t) norm(%g, %g) {eps = 0.5 : f64}
    : (tensor<?x?x32xf32>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<9x32xf32>, tensor<9x32xf32>, tensor<32xf32>,
       tensor<32xf32>) -> tensor<?x?x32xf32>
  %r = arith.addf %row, %row : tensor<?x32xf32>
  %a = convbert.self_attention %e, %e, %e {heads = 2 : i64, scale = 0.5 : f64}
    : (tensor<?x?x32xf32>, tensor<?x?x32xf32>, tensor<?x?x32xf32>) -> tensor<?x?x32xf32>
  %apart = convbert.apply_kernel %e, %taps {pads = array<i64: 2, 2>, dilation = 2 : i64, normalize = #convbert.norm<none>}
    : (tensor<?x?x32xf32>, tensor<?x?x2x3xf32>) -> tensor<?x?x32xf32>
  %made = convbert.dynamic_kernel %e, %wb {heads = 4 : i64, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x32xf32>, tensor<32x32xf32>) -> tensor<?x?x4x8xf32>
  %light = convbert.light_conv %e, %wa {pads = array<i64: 15, 16>, edge = #convbert.edge<renorm>}
    : (tensor<?x?x32xf32>, tensor<2x32xf32>) -> tensor<?x?x32xf32>
  %probable = convbert.softmax %row : tensor<?x32xf32>
  %weighed = convbert.weighted_sum %light, %probable : (tensor<?x?x32xf32>, tensor<?x32xf32>) -> tensor<?x?x1xf32>
  %f = call @family(%x, %mask, %wa, %wb, %g)
    : (tensor<?x?x32xf32>, tensor<?x?xi1>, tensor<2x32xf32>, tensor<32x32xf32>, tensor<32xf32>) -> tensor<?x32xf32>
  return %y, %z, %r, %taps, %a, %f, %apart, %weighed, %made
    : tensor<?x32xf32>, tensor<?x?x32xf32>, tensor<?x32xf32>, tensor<?x?x2x3xf32>, tensor<?x?x32xf32>, tensor<?x32xf32>,
      tensor<?x?x32xf32>, tensor<?x?x1xf32>, tensor<?x?x4x8xf32>
}
"""
CONVOLUTION = """
ml_program.global private @t(#ml_program.extern : tensor<9x32xf32>) : tensor<9x32xf32>
ml_program.global private @w(#ml_program.extern : tensor<8x16x3xf32>) : tensor<8x16x3xf32>
func.func @forward(%e: tensor<?x?x32xf32>) -> tensor<?x?x8xf32> {
  %t = ml_program.global_load_const @t : tensor<9x32xf32>
  %w = ml_program.global_load_const @w : tensor<8x16x3xf32>
  %x = convbert.depthwise_conv1d %e, %t {pads = array<i64: 8, 8>, dilation = 2 : i64, layout = #convbert.layout<in_out>}
    : (tensor<?x?x32xf32>, tensor<9x32xf32>) -> tensor<?x?x32xf32>
  %y = convbert.conv1d %x, %w {groups = 2 : i64, pads = array<i64: 1, 1>}
    : (tensor<?x?x32xf32>, tensor<8x16x3xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
"""
MIXED = """
ml_program.global private @f(#ml_program.extern : tensor<4x32xf32>) : tensor<4x32xf32>
ml_program.global private @g(#ml_program.extern : tensor<2x4xf32>) : tensor<2x4xf32>
ml_program.global private @k(#ml_program.extern : tensor<2x8x32x3xf32>) : tensor<2x8x32x3xf32>
func.func @forward(%x: tensor<?x?x32xf32>) -> tensor<?x?x8xf32> {
  %f = ml_program.global_load_const @f : tensor<4x32xf32>
  %g = ml_program.global_load_const @g : tensor<2x4xf32>
  %k = ml_program.global_load_const @k : tensor<2x8x32x3xf32>
  %y = convbert.kernel_attention_conv %x squeeze(%f) excite(%g) kernels(%k) {pads = array<i64: 1, 1>}
    : (tensor<?x?x32xf32>, tensor<4x32xf32>, tensor<2x4xf32>, tensor<2x8x32x3xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
"""
SELECTED = """
ml_program.global private @t(#ml_program.extern : tensor<3x32xf32>) : tensor<3x32xf32>
ml_program.global private @z(#ml_program.extern : tensor<4x32xf32>) : tensor<4x32xf32>
ml_program.global private @s(#ml_program.extern : tensor<2x4x32xf32>) : tensor<2x4x32xf32>
func.func @forward(%x: tensor<?x?x32xf32>) -> tensor<?x?x32xf32> {
  %t = ml_program.global_load_const @t : tensor<3x32xf32>
  %z = ml_program.global_load_const @z : tensor<4x32xf32>
  %s = ml_program.global_load_const @s : tensor<2x4x32xf32>
  %u = convbert.depthwise_conv1d %x, %t {pads = array<i64: 1, 1>, layout = #convbert.layout<in_out>}
    : (tensor<?x?x32xf32>, tensor<3x32xf32>) -> tensor<?x?x32xf32>
  %v = convbert.depthwise_conv1d %x, %t {pads = array<i64: 2, 2>, dilation = 2 : i64, layout = #convbert.layout<in_out>}
    : (tensor<?x?x32xf32>, tensor<3x32xf32>) -> tensor<?x?x32xf32>
  %y = convbert.selective_kernel %u, %v squeeze(%z) select(%s)
    : (tensor<?x?x32xf32>, tensor<?x?x32xf32>, tensor<4x32xf32>, tensor<2x4x32xf32>) -> tensor<?x?x32xf32>
  return %y : tensor<?x?x32xf32>
}
"""
KINDS = {"dense", "dense_deep", "norm", "embed", "depthwise", "span", "attention", "copy", "select"}


def split(path):
    """The header comment of a template and the rest."""
    lines = path.read_text().splitlines()
    end = next(i for i, line in enumerate(lines) if not line.startswith("//"))
    return "\n".join(lines[:end]), "\n".join(lines[end:])


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_header(path):
    header, body = split(path)
    kind = re.search(r"convbert\.kernel = \"(\w+)\"", body)[1]
    assert kind in KINDS
    assert f"kind `{kind}`" in header
    documented, used = set(PLACEHOLDER.findall(header)), set(PLACEHOLDER.findall(body))
    assert used <= documented, "not documented: " + ", ".join(sorted(used - documented))
    assert documented <= used, "documented but not used: " + ", ".join(sorted(documented - used))
    for condition in set(CONDITION.findall(body)):
        assert f"With {condition}, " in header, condition


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_call_gives_every_parameter(path):
    """The text of the emitters of calls names each placeholder of the template that it instantiates."""
    sources = "".join((ROOT / "lib" / "Outline" / name).read_text()
                      for name in ("KernelCalls.cpp", "KernelCallsConv.cpp", "KernelCallsGroups.cpp",
                                       "KernelEmitter.cpp", "Transfers.cpp"))
    name = path.name.removesuffix(".mlir.in")
    assert f'"{name}"' in sources
    for placeholder in set(PLACEHOLDER.findall(split(path)[1]) + CONDITION.findall(split(path)[1])):
        assert f'{{"{placeholder}", ' in sources, placeholder


@pytest.mark.parametrize("target", [*TARGETS.values(), BFLOAT16])
def test_all_templates_are_substituted(tools, tmp_path, target):
    """Models and a module that use every template between them, but for those of the other type of products."""
    options = ["--dtype=bfloat16"] if target == BFLOAT16 else []
    used = set()
    for i, changes in enumerate([
        ["--size", "tiny", "--class", "ConvBertForSequenceClassification"],
        ["--size", "tiny", "--class", "ConvBertForMaskedLM"],
        ["--size", "tiny", "--class", "ConvBertForMultipleChoice"],
    ]):
        text = outline(tools, tmp_path / str(i), *changes, target=target, options=options)
        assert not PLACEHOLDER.search(text) and not CONDITION.search(text)
        used |= set(functions(text))
    for module in [OTHERS, CONVOLUTION, MIXED, SELECTED]:
        (tmp_path / "module.mlir").write_text(module)
        done = subprocess.run([tools / "convbert-compile", tmp_path / "module.mlir", "--compile-from=import",
                               "--compile-to=outline", f"--target={target}", *options], capture_output=True, text=True,
                              check=True)
        assert not PLACEHOLDER.search(done.stdout)
        used |= set(functions(done.stdout))
    for name in {path.name.removesuffix(".mlir.in") for path in TEMPLATES} - (PLAIN if target == BFLOAT16 else PAIRS):
        assert any(re.fullmatch(re.escape(name) + r"(_[\w.]+)?", kernel) for kernel in used), name
