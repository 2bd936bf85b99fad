"""The command line: convbert run DIR --text "...", convbert info DIR.

Exit codes: 0 done, 1 refused with one line why, 2 wrong usage.
"""

import argparse
import json
import os
import sys

from . import __version__
from .errors import Error


def _parser():
    parser = argparse.ArgumentParser(prog="convbert", description="Runs ConvBERT checkpoints as compiled code.")
    parser.add_argument("--version", action="version", version=f"convbert {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("directory", metavar="DIR", help="Hugging Face checkpoint directory")
    common.add_argument("--json", action="store_true", help="print JSON")
    common.add_argument("--target", choices=["native", "x86-64-v3", "x86-64-v4"], help="CPU to compile for")

    run = commands.add_parser("run", parents=[common], help="run a checkpoint on text",
                              description="Runs a checkpoint on text, each text by itself.")
    run.add_argument("--text", action="append", required=True, metavar="TEXT",
                     help="a text (may be repeated); for a masked language model with [MASK] in it")
    run.add_argument("--threads", type=int, metavar="N", help="threads of a call (default: the available CPUs)")
    run.set_defaults(action=_run)

    info = commands.add_parser("info", parents=[common], help="say what a checkpoint is",
                               description="Prints class, parameters, inputs and outputs of a checkpoint.")
    info.set_defaults(action=_info)
    return parser


def _print_result(result):
    if "text" in result:
        print(result["text"])
    for item in result.get("labels", []):
        if item["probability"] >= 0.001 or item is result["labels"][0]:
            print(f"  {item['label']:<12} {item['probability']:.4f}")
    for blank in result.get("blanks", []):
        print(f"  token {blank['position']}:")
        for guess in blank["guesses"]:
            print(f"    {guess['token']:<16} {guess['probability']:.4f}")
    for token in result.get("tokens", []):
        print(f"  {token['token']:<16} {token['label']:<12} {token['probability']:.4f}")
    for name in ("start", "end"):
        if name in result:
            item = result[name]
            print(f"  {name:<6} token {item['position']} {item['token']!r} {item['probability']:.4f}")
    for choice in result.get("choices", []):
        print(f"  {choice['probability']:.4f}  {choice['text']}")
    if "norm" in result:
        print(f"  last_hidden_state {result['shape']}, norm of the first token {result['norm']:.6g}")


def _run(options):
    from .model import load
    from .tasks import run_texts
    from .tokenization import load_tokenizer

    if options.threads is not None and options.threads < 1:
        raise ValueError(f"--threads: requires a number >= 1, but found {options.threads}")
    if not os.path.isdir(options.directory):
        raise Error(f"requires a checkpoint directory, but found none at {options.directory}")
    tokenizer = load_tokenizer(options.directory)
    model = load(options.directory, threads=options.threads, target=options.target)
    results = run_texts(model, tokenizer, options.text)
    if options.json:
        print(json.dumps(results, ensure_ascii=False, indent=1))
    else:
        for result in results:
            _print_result(result)


def _info(options):
    from .compiler import compiled

    with compiled(options.directory, target=options.target) as description:
        manifest = description["manifest"]
    parameters = 0
    for item in manifest["parameters"]:
        size = 1
        for extent in item["shape"]:
            size *= extent
        parameters += size
    facts = {"class": manifest["model_class"], "parameters": parameters, "tensors": len(manifest["parameters"]),
             **{key: manifest[key] for key in ("vocab_size", "max_positions", "type_vocab_size", "hidden_size",
                                               "labels", "inputs", "outputs") if key in manifest}}
    if options.json:
        print(json.dumps(facts, ensure_ascii=False, indent=1))
        return
    print(f"class        {facts['class']}")
    print(f"parameters   {parameters:,} in {facts['tensors']} tensors")
    for key in ("hidden_size", "vocab_size", "max_positions", "type_vocab_size"):
        if key in facts:
            print(f"{key:<16} {facts[key]}")
    if facts.get("labels"):
        print(f"labels       {', '.join(facts['labels'])}")
    for key in ("inputs", "outputs"):
        for item in facts[key]:
            print(f"{key[:-1]:<12} {item['name']} {item['dtype']}[{', '.join(map(str, item['shape']))}]")


def main(arguments=None):
    """Runs the command line and returns its exit code."""
    options = _parser().parse_args(arguments)
    try:
        options.action(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has left; nothing is wrong with us, but the interpreter would complain when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    except (Error, ValueError, OSError) as error:
        print(f"convbert: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    return 0
