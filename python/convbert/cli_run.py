"""convbert run"""

from __future__ import annotations

import argparse
import os
from typing import Any

from . import console, records
from .errors import Error
from .model import Model, load

_FIRST = 0.001  # probabilities below are not printed, but for the best


def run(options: argparse.Namespace) -> None:
    if not os.path.isdir(options.directory):
        raise Error(f"requires a checkpoint directory, but found none at {options.directory}")
    if options.input and os.path.splitext(options.input)[1] == ".npy":
        _run_ids(options)
    else:
        _run_texts(options)


def _load(options: argparse.Namespace) -> Model:
    with console.working("loading (a new checkpoint is compiled first)"):
        return load(options.directory, threads=options.threads, target=options.target, weights=options.weights,
                    dtype=options.dtype)


def _run_texts(options: argparse.Namespace) -> None:
    from .tasks import run_records, run_texts
    from .tokenization import load_tokenizer

    tokenizer = load_tokenizer(options.directory)
    if options.input:
        rows = records.read(options.input)
        model = _load(options)
        name = "standard input" if options.input == "-" else options.input
        shown = console.progress(rows, "running", len(rows), prints=not options.output)
        results = run_records(model, tokenizer, shown, name)
        if not options.output:
            for result in results:
                _show(result, options.json)
            return
    else:
        model = _load(options)
        found = run_texts(model, tokenizer, options.text, options.pair)
        if not options.output:
            if options.json:
                console.print_json(found)
            else:
                for result in found:
                    _show(result, False)
            return
        results = iter(found)
    count = records.write(options.output, results)
    if options.json:
        console.print_json({"records": count, "output": options.output})
    else:
        print(f"{count} records in {options.output}")


def _run_ids(options: argparse.Namespace) -> None:
    import numpy as np

    try:
        ids = np.load(options.input, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise Error(f"{options.input}: cannot be read as an array: {str(error).splitlines()[0]}") from None
    model = _load(options)
    if not isinstance(ids, np.ndarray):
        raise Error(f"{options.input}: requires one array, but found several")
    if ids.dtype.kind == "f":  # vectors: of layers alone, or in place of ids
        name = model.inputs[0]["name"]
        vectors: dict[str, Any] = {"inputs_embeds" if name == "input_ids" else name: ids[None] if ids.ndim == 2 else ids}
        out = model(**vectors)
    else:
        out = model(ids[None] if ids.ndim == 1 else ids)
    if options.output:
        if not options.output.endswith(".npz"):
            raise Error(f"{options.output}: requires a file that ends in .npz, but found another ending")

        def fill(temporary: str) -> None:
            with open(temporary, "wb") as stream:
                np.savez(stream, **{name: value for name, value in out.items()})

        records.whole(options.output, fill)
    facts = {name: {"shape": list(value.shape), "min": float(value.min()), "max": float(value.max())}
             for name, value in out.items()}
    if options.json:
        console.print_json(facts)
        return
    for name, item in facts.items():
        print(f"{name} {item['shape']}, from {item['min']:.6g} to {item['max']:.6g}")


def _show(result: dict[str, Any], as_json: bool) -> None:
    if as_json:
        import json

        print(json.dumps(result, ensure_ascii=False))
        return
    if "text" in result:
        print(result["text"])
    for item in result.get("labels", []):
        if item["probability"] >= _FIRST or item is result["labels"][0]:
            print(f"  {item['label']:<12} {item['probability']:.4f}")
    for blank in result.get("blanks", []):
        print(f"  token {blank['position']}:")
        for guess in blank["guesses"]:
            print(f"    {guess['token']:<16} {guess['probability']:.4f}")
    for token in result.get("tokens", []):
        print(f"  {token['token']:<16} {token['label']:<12} {token['probability']:.4f}")
    for name in ("start", "end"):
        if isinstance(result.get(name), dict):
            item = result[name]
            print(f"  {name:<6} token {item['position']} {item['token']!r} {item['probability']:.4f}")
    if "answer" in result:
        print(f"  answer {result['answer']['text']!r} {result['answer']['probability']:.4f}")
    for choice in result.get("choices", []):
        print(f"  {choice['probability']:.4f}  {choice['text']}")
    if "norm" in result:
        print(f"  last_hidden_state {result['shape']}, norm of the first token {result['norm']:.6g}")
