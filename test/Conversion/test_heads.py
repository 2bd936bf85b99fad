"""An operation without heads computes what it computes with their outputs zero, or left out of its result.

Heads are removed by the pass test-remove-heads, which calls HeadedInterface, and what it leaves is evaluated in NumPy:
removed and silenced heads agree to the last digits.
"""

import os
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import step_harness
from convbert import interpreter
from step_cases import Case, mixed

PLUGIN = Path(os.environ.get("CONVBERT_BUILD_DIR", step_harness.ROOT / "build")) / "test" / "lib" / "ConvBERTTestPasses.so"
X12 = "B T 12"

MIXED = [
    mixed("whole", 12, 3, 3, 2, 5, head_mask=True, conv_mask=True),
    mixed("in_out", 12, 2, 3, 2, 3, head_mask=True, layout="in_out", out=7),
    mixed("shared", 12, 3, 3, 2, 3, head_mask=True, shared=True),
    mixed("plain", 12, 3, 0, 4, 0, head_mask=True),
    mixed("plain_wide", 12, 3, 0, 2, 0, head_mask=True, query=5, query_heads=(4, 1, 1)),
    mixed("pruned_before", 12, 2, 2, 2, 3, head_mask=True, query=4, span=2, query_heads=(3, 1),
          span_query_heads=(1, 2)),
]
#: Operations whose result has a head's features only where the head is: attention heads, and convolution heads.
STEPS = [
    (Case("attention", "self_attention", {"q": X12, "k": X12, "v": "B T 6", "bias": "B T", "head_mask": "3"}, ["B T 6"],
          {"heads": 3, "scale": 0.5}, "q, k, v bias(bias) head_mask(head_mask)"), "attention"),
    (Case("attention_wide", "self_attention", {"q": "B T 20", "k": X12, "v": X12}, [X12, "B 3 T T"],
          {"heads": 3, "scale": 0.5, "query_heads": (4, 0, 4), "with_probabilities": True}), "attention"),
    (Case("kernel", "dynamic_kernel", {"q": X12, "weight": "15 12", "bias": "15"}, ["B T 3 5"],
          {"heads": 3, "normalize": "softmax"}), "convolution"),
    (Case("kernel_in_out", "dynamic_kernel", {"q": X12, "weight": "12 6", "span_key": X12}, ["B T 3 2"],
          {"heads": 3, "normalize": "none", "layout": "in_out"}, "q, weight span(span_key)"), "convolution"),
    (Case("apply", "apply_kernel", {"v": X12, "taps": "B T 3 5", "mask": "B T"}, [X12],
          {"pads": (2, 2), "normalize": "softmax"}, "v, taps mask(mask)"), "convolution"),
    (Case("span", "span_dynamic_conv", {"q": X12, "span_key": X12, "v": "B T 6", "weight": "9 12", "bias": "9"},
          ["B T 6"], {"heads": 3, "pads": (1, 1)}), "convolution"),
    (Case("apply_renorm", "apply_kernel", {"v": X12, "taps": "B T 3 3"}, [X12, "B T 3 3"],
          {"pads": (2, 2), "dilation": 2, "normalize": "softmax", "edge": "renorm", "with_taps": True}), "convolution"),
    (Case("kernel_renorm", "dynamic_kernel", {"q": X12, "weight": "9 12"}, ["B T 3 3"],
          {"heads": 3, "normalize": "softmax", "edge": "renorm", "pads": (0, 2)}), "convolution"),
    (Case("light", "light_conv", {"x": X12, "weight": "3 5", "bias": "12"}, [X12], {"pads": (2, 2)}), "convolution"),
    (Case("dynamic", "dynamic_conv", {"x": X12, "weight": "9 12", "bias": "9", "channel_bias": "12"}, [X12],
          {"heads": 3, "pads": (2, 0)}, "x, weight, bias channel_bias(channel_bias)"), "convolution"),
    (Case("dynamic_of_query", "dynamic_conv", {"x": "B T 6", "weight": "12 9", "query": X12}, ["B T 6"],
          {"heads": 3, "pads": (1, 1), "edge": "renorm", "layout": "in_out"}, "x, weight query(query)"), "convolution"),
]


#: The same of interleaved heads, whose features are those of one head every three.
INTERLEAVED = {"head_map": "interleaved"}
STEPS += [
    (Case("light_columns", "light_conv", {"x": X12, "weight": "3 5", "bias": "12"}, [X12],
          {"pads": (2, 2), "edge": "renorm", **INTERLEAVED}), "convolution"),
    (Case("apply_columns", "apply_kernel", {"v": X12, "taps": "B T 3 5", "mask": "B T"}, [X12],
          {"pads": (2, 2), "normalize": "softmax", **INTERLEAVED}, "v, taps mask(mask)"), "convolution"),
    (Case("dynamic_columns", "dynamic_conv", {"x": X12, "weight": "9 12", "channel_bias": "12"}, [X12],
          {"heads": 3, "pads": (2, 0), **INTERLEAVED}, "x, weight channel_bias(channel_bias)"), "convolution"),
    (Case("span_columns", "span_dynamic_conv", {"q": X12, "span_key": X12, "v": "B T 6", "weight": "9 12"}, ["B T 6"],
          {"heads": 3, "pads": (1, 1), **INTERLEAVED}), "convolution"),
]


def removed(case, attention=(), convolution=()):
    """The module of `case` in generic form without these heads."""
    options = [f"{name}={','.join(map(str, heads))}" for name, heads in
               (("attention", attention), ("convolution", convolution)) if heads]
    pipeline = f"builtin.module(func.func(test-remove-heads{{{' '.join(options)}}}))"
    return step_harness.run(step_harness.OPT, "-", f"--load-pass-plugin={PLUGIN}", f"--pass-pipeline={pipeline}",
                            "--mlir-print-op-generic", input=case.text("f64"))


def choices(count):
    """Each head, all but the last, and all."""
    return [(), *combinations(range(count), 1), tuple(range(count - 1)), tuple(range(count))]


@pytest.mark.parametrize("case", MIXED, ids=lambda case: case.name)
def test_removed_heads_are_silent_heads(case):
    attention, convolution = case.attributes["attn_heads"], case.attributes["conv_heads"]
    arrays = case.inputs(2, 7, np.float64)
    for gone in choices(attention):
        for lost in choices(convolution):
            text = removed(case, gone, lost)
            silent = np.ones(attention + convolution)
            silent[[*gone, *(attention + head for head in lost)]] = 0
            expected = case.oracle({**arrays, "head_mask": arrays["head_mask"] * silent})
            (found,) = interpreter.evaluate(text, case.name, *arrays.values())
            np.testing.assert_allclose(found, expected[0], rtol=0, atol=1e-14 * max(1, np.abs(expected[0]).max()))
            left = f"attn_heads = {attention - len(gone)} : i64, conv_heads = {convolution - len(lost)} : i64"
            assert left in text or (len(gone), len(lost)) == (attention, convolution)


@pytest.mark.parametrize("case, branch", STEPS, ids=lambda value: getattr(value, "name", ""))
def test_removed_heads_are_missing_features(case, branch):
    arrays = case.inputs(2, 7, np.float64)
    for gone in [(), (0,), (1,), (2,), (0, 2)]:
        found = interpreter.evaluate(removed(case, **{branch: gone}), case.name, *arrays.values())
        kept = [head for head in range(3) if head not in gone]
        for f, e in zip(found, case.oracle(arrays), strict=True):
            axis = {4: 1 if branch == "attention" else 2}.get(e.ndim, 2)
            if e.ndim == 3 and "head_map" in case.attributes:
                columns = e.reshape(*e.shape[:2], -1, 3)[..., kept]
                np.testing.assert_allclose(f, columns.reshape(*e.shape[:2], -1), rtol=0, atol=1e-14)
                continue
            blocks = np.split(e, 3, axis)
            np.testing.assert_allclose(f, np.concatenate([blocks[head] for head in kept], axis), rtol=0, atol=1e-14)


def test_what_is_left_runs():
    case = MIXED[0]
    module = step_harness.Module(step_harness.opt(removed(case, (1,), (0, 2))))
    arrays = case.inputs(2, 7, np.float64)
    expected = case.oracle({**arrays, "head_mask": arrays["head_mask"] * [1, 0, 1, 0, 1, 0]})[0]
    np.testing.assert_allclose(module(case.name, *arrays.values()), expected, rtol=0, atol=1e-13)
