#!/usr/bin/env python3
"""The demo: two trained checkpoints, compiled and run on text, compared with the answers that transformers gave.

    make demo                       builds what is needed and runs this
    python demo/run_demo.py --fresh     compiles again instead of looking into the cache

Ends with a non-zero exit code if any answer is not the stored one.
"""

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "build" / "python"))

try:
    import numpy as np

    import convbert
    from convbert.tasks import softmax
    from convbert.tokenization import load_tokenizer
except ImportError as error:
    sys.exit(f"demo: requires the built package, but it cannot be imported ({error}); run: make demo")

# Four times the worse float32 error against float64 that was measured on these sentences (transformers: 3.0e-6, NumPy in
# float32: 3.5e-6 on the logits, 3.0e-7 on the probabilities), rounded up.
LOGIT_TOLERANCE = 2e-5
PROBABILITY_TOLERANCE = 2e-6
SHOWN = 8


class Checks:
    """Counts what deviates, and prints one line a check."""

    def __init__(self):
        self.failed = 0

    def require(self, holds, text):
        print(f"  {'ok    ' if holds else 'FAILED'}  {text}")
        self.failed += not holds


def load_json(name):
    return json.loads((HERE / name).read_text(encoding="utf-8"))


def load(name, options):
    model = convbert.load(HERE / name, threads=options.threads, cache=not options.fresh)
    times = model.timings
    made = "found in the cache" if times["cached"] else f"compiled in {times['compile_ms']:.0f} ms"
    print(f"  {model.model_class}: {made}, weights packed in {times['prepack_ms']:.1f} ms, threads {model.threads}")
    return model, load_tokenizer(HERE / name)


def percent(value):
    return f"{100 * value:5.1f} %"


def identify_languages(options, checks):
    print("Language of a sentence (demo/langid)")
    model, tokenizer = load("langid", options)
    rows = load_json("expected.json")

    print()
    for row in rows[:SHOWN]:
        probabilities = softmax(model([tokenizer.encode(row["text"]).ids]).logits[0])
        best = np.argsort(-probabilities)[:2]
        guesses = "  ".join(f"{model.labels[i]} {percent(probabilities[i])}" for i in best)
        print(f"  {guesses}  {row['text']}")
    print()

    ids = [tokenizer.encode(row["text"]).ids for row in rows]
    checks.require(ids == [row["input_ids"] for row in rows], f"token ids of {len(rows)} sentences equal the stored ones")
    worst = max(float(np.abs(model([row["input_ids"]]).logits[0] - row["logits"]).max()) for row in rows)
    checks.require(worst <= LOGIT_TOLERANCE, f"logits of {len(rows)} sentences equal those of transformers: "
                   f"largest difference {worst:.1e}, allowed {LOGIT_TOLERANCE:.0e}")

    texts = [json.loads(line) for line in (HERE / "eval.jsonl").read_text(encoding="utf-8").splitlines()]
    right, times = 0, []
    for row in texts:
        tokens = tokenizer.encode(row["text"]).ids
        start = time.perf_counter()
        logits = model([tokens]).logits[0]
        times.append(time.perf_counter() - start)
        right += model.labels[int(logits.argmax())] == row["label"]
    checks.require(right == len(texts), f"{right} of {len(texts)} held-out sentences named right, all as with "
                   "transformers")
    checks.require(model.compile_count == 1, "one compiled module served every length")
    print(f"  time per sentence: median {1e3 * statistics.median(times):.2f} ms, one sentence a call")


def fill_blanks(options, checks):
    print("\nFilling a blank (demo/mlm, a small and weak language model)")
    model, tokenizer = load("mlm", options)
    rows = load_json("expected_mlm.json")
    print()
    logit_error = probability_error = 0.0
    same_ids = same_order = True
    for row in rows:
        ids = tokenizer.encode(row["text"]).ids
        same_ids &= ids == row["input_ids"]
        logits = model([row["input_ids"]]).logits[0, row["mask_position"]]
        probabilities = softmax(logits)
        best = np.argsort(-probabilities)[:5]
        same_order &= [int(i) for i in best] == [guess["id"] for guess in row["top5"]]
        for guess in row["top5"]:
            logit_error = max(logit_error, abs(float(logits[guess["id"]]) - guess["logit"]))
            probability_error = max(probability_error, abs(float(probabilities[guess["id"]]) - guess["probability"]))
        print(f"  {row['text']}")
        print("    " + ", ".join(f"{tokenizer.id_to_token(int(i))} {percent(probabilities[i]).strip()}" for i in best))
    print()
    checks.require(same_ids, f"token ids of {len(rows)} sentences equal the stored ones")
    checks.require(same_order, "the five best guesses are those of transformers, in its order")
    checks.require(probability_error <= PROBABILITY_TOLERANCE, "their probabilities equal those of transformers: "
                   f"largest difference {probability_error:.1e}, allowed {PROBABILITY_TOLERANCE:.0e}")
    checks.require(logit_error <= LOGIT_TOLERANCE,
                   f"and so do their logits: largest difference {logit_error:.1e}, allowed {LOGIT_TOLERANCE:.0e}")


def main():
    parser = argparse.ArgumentParser(description="Runs the demo checkpoints and compares with the stored answers.")
    parser.add_argument("--threads", type=int, help="threads of a call (default: the available CPUs)")
    parser.add_argument("--fresh", action="store_true", help="compile again instead of looking into the cache")
    options = parser.parse_args()
    checks = Checks()
    try:
        identify_languages(options, checks)
        fill_blanks(options, checks)
    except (convbert.Error, ValueError, OSError) as error:
        sys.exit(f"demo: {error}")
    print(f"\n{checks.failed} checks failed" if checks.failed else "\nall answers equal the stored ones")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
