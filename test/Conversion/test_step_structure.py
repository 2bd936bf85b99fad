"""What the lowering of steps must not do: write windows down, grow with sizes, transpose activations, call out."""

import re

import pytest

import step_harness
from step_cases import ACTIVATIONS, Case, mixed

#: The base model's layer at B = 1: model, inner and attention width, heads of a kind, taps.
D, I, A, N, K = 768, 3072, 384, 6, 9
ROUTES = pytest.mark.parametrize("route", step_harness.ROUTES)


def layer(length):
    """The two blocks of a layer for one sequence of `length` tokens."""
    weights = {"w1": f"{I} {D}", "b1": f"{I}", "w2": f"{D} {I}", "b2": f"{D}"}
    ffn = Case("ffn", "feed_forward", {"x": f"B T {D}", **weights}, [f"B T {D}"], {"activation": "gelu"})
    text = mixed("mixed", D, N, N, A // N, K).text("f32") + ffn.text("f32")
    return text.replace("tensor<?x?x", f"tensor<1x{length}x")


def operations(text):
    return re.findall(r"(?:= |^ +)((?:linalg|tensor|arith|math|memref|scf)\.\w+)", text, re.MULTILINE)


def lowered(text, route="steps"):
    return step_harness.opt(text, step_harness.ROUTES[route], "canonicalize", "cse")


@ROUTES
@pytest.mark.parametrize("length, most", [(512, 1572864), (128, 393216)])
def test_no_allocation_of_all_windows(length, most, route):
    """No buffer of activations beyond B T I or B n T^2 elements; the windows would be B T A K."""
    assert most == max(length * I, N * length * length) < length * A * K
    buffers = step_harness.opt(layer(length), step_harness.ROUTES[route], step_harness.BUFFERIZE)
    sizes = []
    # Activations begin with the batch, 1; fused weights, which belong to prepack, do not.
    for shape in re.findall(r"memref\.alloc\(.*: memref<(1x[\dx]+)xf32>", buffers):
        elements = 1
        for extent in shape.split("x"):
            elements *= int(extent)
        sizes.append(elements)
    assert len(sizes) > 10 and "memref.alloca" not in buffers
    assert max(sizes) <= most


@ROUTES
def test_the_module_does_not_grow_with_the_length(route):
    short, long = lowered(layer(8), route), lowered(layer(512), route)
    assert operations(short) == operations(long)
    constants = re.findall(r"arith\.constant .*", long)
    assert constants == re.findall(r"arith\.constant .*", short)
    # Nothing but scalars, and the splats that fold the scale into the key's weights.
    assert all(re.search(r"constant (dense<[\d.e+-]+> : tensor|[^:<]+ : \w+$)", constant) for constant in constants)


def sized(channels, heads, taps, groups):
    """Operations with all the sizes that a lowering might unroll."""
    tokens = f"B T {channels}"
    return [
        Case("dense", "dense", {"x": tokens, "weight": f"{channels} {channels}", "bias": f"{channels}"}, [tokens],
             {"activation": "gelu"}),
        Case("grouped", "grouped_dense",
             {"x": tokens, "weight": f"{groups} {channels // groups} {channels // groups}", "bias": f"{channels}"},
             [tokens]),
        Case("depthwise", "depthwise_conv1d", {"x": tokens, "weight": f"{channels} {taps}"}, [tokens],
             {"pads": (taps - 1, 0)}),
        Case("dilated", "depthwise_conv1d",
             {"x": tokens, "weight": f"{groups * channels} {taps}", "bias": f"{groups * channels}"},
             [f"B W {groups * channels}"], {"pads": (taps, taps), "stride": 2, "dilation": taps - 1}),
        Case("conv", "conv1d",
             {"x": tokens, "weight": f"{channels} {channels // groups} {taps}", "bias": f"{channels}"},
             [f"B W {channels}"], {"pads": (taps, taps), "stride": groups, "dilation": taps - 1, "groups": groups}),
        Case("conv_in_out", "conv1d", {"x": tokens, "weight": f"B {taps} {channels // groups} {channels}"}, [tokens],
             {"pads": (taps - 1, 0), "groups": groups, "layout": "in_out"}),
        Case("batch_norm", "batch_norm",
             {"x": tokens, **{name: f"{channels}" for name in ("mean", "variance", "gamma", "beta")}}, [tokens],
             {"eps": 0.1}),
        *(Case(f"kernel_attention_{form}", "kernel_attention_conv",
               {"x": tokens, "f1": f"{heads + 1} {channels}", "f2": f"{groups} {heads + 1}",
                "kernels": f"{groups} {channels} {channels} {taps}", "biases": f"{groups} {channels}"}, [tokens],
               {"pads": (taps - 1, 0), "temperature": 2.0, "aggregate": form},
               "x squeeze(f1) excite(f2) kernels(kernels, biases)") for form in ("kernels", "outputs")),
        Case("kernel", "dynamic_kernel", {"q": tokens, "weight": f"{heads * taps} {channels}"}, [f"B T {heads} {taps}"],
             {"heads": heads, "normalize": "softmax"}),
        Case("apply", "apply_kernel", {"v": tokens, "taps": f"B T {heads} {taps}"}, [tokens],
             {"pads": (taps - 1, 0), "normalize": "softmax"}),
        Case("attention", "self_attention", {"q": tokens, "k": tokens, "v": tokens}, [tokens],
             {"heads": heads, "scale": 0.5}),
        mixed("mixed", channels, heads, heads, channels // heads // 2, taps),
        Case("light", "light_conv", {"x": tokens, "weight": f"{heads} {taps}", "bias": f"{channels}"}, [tokens],
             {"pads": (taps - 1, 0)}),
        Case("light_renorm", "light_conv", {"x": tokens, "weight": f"{heads} {taps}"}, [tokens],
             {"pads": (0, taps - 1), "edge": "renorm", "head_map": "interleaved"}),
        Case("dynamic", "dynamic_conv",
             {"x": tokens, "weight": f"{heads * taps} {channels}", "channel_bias": f"{channels}"}, [tokens],
             {"heads": heads, "pads": (taps - 1, 0), "edge": "renorm", "head_map": "interleaved"},
             "x, weight channel_bias(channel_bias)"),
        Case("gated", "squeeze_excite",
             {"x": tokens, "w1": f"{groups} {channels}", "w2": f"{channels} {groups}", "mask": "B T"}, [tokens],
             {"gate": "sigmoid"}, "x squeeze(w1) excite(w2) mask(mask)"),
        Case("selective", "selective_kernel",
             {"u0": tokens, "u1": tokens, "wz": f"{groups} {channels}", "a": f"2 {groups} {channels}"}, [tokens], {},
             "u0, u1 squeeze(wz) select(a)"),
    ]


@pytest.mark.parametrize("small, large", list(zip(sized(8, 2, 3, 2), sized(960, 12, 31, 8))), ids=lambda c: c.name)
def test_the_module_does_not_grow_with_channels_heads_taps_or_groups(small, large):
    assert operations(lowered(small.text("f32"))) == operations(lowered(large.text("f32")))


@ROUTES
def test_no_window_is_written_down(route):
    """Buffers of a convolution are the padded input and the result; one of all windows would be B T' K C."""
    (case,) = [case for case in sized(768, 12, 9, 4) if case.name == "conv"]
    text = case.text("f32", lambda name, symbol: {"B": "1", "T": "128"}[symbol])
    buffers = step_harness.opt(text, step_harness.ROUTES[route], step_harness.BUFFERIZE)
    sizes = []
    for shape in re.findall(r"memref\.alloc\(.*: memref<([\dx]+)xf32>", buffers):
        elements = 1
        for extent in shape.split("x"):
            elements *= int(extent)
        sizes.append(elements)
    assert sizes and max(sizes) == (128 + 2 * 9) * 768


def test_the_convolution_runs_along_tokens_as_they_lie():
    """The only transposed tensor is the depthwise weight; the product with the span-aware key reads the query."""
    text = lowered(layer(128), "fused")
    assert re.findall(r"linalg\.transpose ins\(%\w+ : (\S+)\)", text) == [f"tensor<{D}x{K}xf32>"]
    assert text.count("linalg.depthwise_conv_1d_nwc_wc") == 1
    # Query, key, value and convolution value are one product; the query has two users.
    fused = step_harness.opt(layer(128), step_harness.SIMPLIFY)
    slices = re.findall(rf"(%\w+) = tensor\.extract_slice %\w+\[0, 0, (\d+)\] \[1, 128, {A}\]", fused)
    assert [int(offset) for _, offset in slices] == [0, A, 2 * A, 3 * A]
    users = re.findall(rf"convbert\.(\w+) .*{slices[0][0]}\b", fused)
    assert sorted(users) == ["dense", "self_attention"]
    assert re.search(rf"convbert\.dense .* times {slices[0][0]}\b", fused)


@ROUTES
def test_no_library_is_called(route):
    """Machine code of f32 functions needs memory from the C library and nothing else."""
    cases = sized(8, 2, 3, 2) + [
        Case(f"act_{kind}", "activation", {"x": "B T 7"}, ["B T 7"], {"kind": kind})
        for kind in ACTIVATIONS]
    module = step_harness.Module("".join(case.text("f32") for case in cases), route)
    symbols = step_harness.run(step_harness.LLVM_BIN / "llvm-nm", "-D", "--undefined-only", module.object)
    assert set(re.findall(r"U (\w+)", symbols)) <= {"malloc", "free", "memcpy", "memset", "memmove"}
