"""The command line: convbert run | compile | info | verify | bench | compare-ops | cache | doctor.

Exit codes: 0 done, 1 refused (or, for verify and doctor, something found wrong) with one line why, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import __version__
from .errors import Error
from .targets import TARGETS

if TYPE_CHECKING:
    from .benchmark import Workload


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"requires a number >= 1, but found {text!r}")
    return int(text)


def _lengths(text: str) -> list[int]:
    return [_positive(item.strip()) for item in text.split(",")]


def _shapes(text: str) -> list[Workload]:
    from .benchmark import parse_shapes

    try:
        return parse_shapes(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def parser() -> argparse.ArgumentParser:
    """The parser of all commands; each sets `action`, "module:function"."""
    top = argparse.ArgumentParser(prog="convbert", description="Compiles and runs ConvBERT checkpoints.",
                                  epilog="exit codes: 0 done, 1 refused with one line why, 2 wrong usage")
    top.add_argument("--version", action="version", version=f"convbert {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    model = "Hugging Face checkpoint directory, or an artefact"

    def command(name: str, action: str, text: str, more: str = "") -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}. {more}".strip())
        made.set_defaults(action=action)
        made.add_argument("--json", action="store_true", help="print JSON")
        return made

    def directory(made: argparse.ArgumentParser, help: str = "Hugging Face checkpoint directory",
                  nargs: str | None = None) -> None:
        made.add_argument("directory", metavar="DIR", help=help, nargs=nargs)
        made.add_argument("--target", choices=TARGETS, help="CPU to compile for (default: native)")

    def types(made: argparse.ArgumentParser) -> None:
        made.add_argument("--weights", choices=["bf16"],
                          help="store the weights of matrix products rounded to bfloat16 (default: float32)")
        made.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32",
                          help="what matrix products multiply (default: float32)")

    def threads(made: argparse.ArgumentParser) -> None:
        made.add_argument("--threads", type=_positive, metavar="N",
                          help="threads of a call (default: the available CPUs)")

    run = command("run", "cli_run:run", "run a model on texts or token ids", "Every text is run by itself.")
    directory(run, model)
    types(run)
    threads(run)
    what = run.add_mutually_exclusive_group(required=True)
    what.add_argument("--text", action="append", metavar="TEXT",
                      help="a text (may be repeated); for a masked language model with its mask token in it")
    what.add_argument("--input", metavar="FILE",
                      help='records with "text" (and "pair" or "choices"): .jsonl, .parquet, .txt, - for JSON lines '
                           "from the standard input; or token ids: .npy")
    run.add_argument("--pair", metavar="TEXT",
                     help="second text of a pair: the context of a question, or, for multiple choice, the question")
    run.add_argument("--output", metavar="FILE", help="where results go: .jsonl, .parquet; .npz for token ids")

    compile_ = command("compile", "cli_model:compile_", "compile a checkpoint to an artefact that needs no compiler")
    directory(compile_)
    types(compile_)
    compile_.add_argument("-o", "--output", required=True, metavar="OUT", help="artefact to write, such as model.cbx")
    compile_.add_argument("--outputs", action="append", default=[], metavar="NAMES",
                          help="also with the code for hidden_states, attentions, conv_kernels, head_mask or "
                               "inputs_embeds; several sets with commas between, names that one call asks for with + "
                               "(hidden_states+attentions)")
    compile_.add_argument("--hidden-states", action="append_const", dest="outputs", const="hidden_states",
                          help="short for --outputs hidden_states")
    compile_.add_argument("--inputs-embeds", action="append_const", dest="outputs", const="inputs_embeds",
                          help="short for --outputs inputs_embeds")

    info = command("info", "cli_model:info", "say what a checkpoint or an artefact is, or what operators cost")
    directory(info, model, nargs="?")
    types(info)
    info.add_argument("--schedules", action="store_true",
                      help="say instead which kernel and schedule each operation gets, and what fell back to scalar loops")

    info.add_argument("--ops", action="store_true",
                      help="say instead what the operators of the family cost for one sequence, without DIR")
    sizes = (("channels", 768, "channels"), ("length", 128, "tokens"), ("kernel", 9, "taps"), ("heads", 12, "heads"))
    for name, default, text in sizes:
        info.add_argument(f"--{name}", type=_positive, metavar="N", help=f"{text} for --ops (default {default})")

    verify = command("verify", "cli_model:verify", "compare a compiled checkpoint with NumPy in float64, step by step")
    directory(verify)
    types(verify)
    threads(verify)
    verify.add_argument("--shape", type=_shapes, metavar="BxT", help="batch and length (default 3x24 or shorter)")
    verify.add_argument("--bisect", nargs=2, choices=[*TARGETS, "float64", "float32", "reference"], metavar="WAY",
                        help="compare two ways of computing instead, and name the first operation at which they part: "
                             "targets; float64 or float32 (NumPy, after phase simplify); reference (the model as "
                             "specified)")

    bench = command("bench", "cli_model:bench", "measure speed as a share of what the CPU can do")
    directory(bench, model)
    types(bench)
    threads(bench)
    bench.add_argument("--shapes", type=_shapes, default="1x16,1x128,8x128", metavar="BxT,...",
                       help="batch and length (default 1x16,1x128,8x128); 8x16-128: lengths from 16 to 128, padded")
    bench.add_argument("--seconds", type=float, default=1.0, metavar="S", help="time for each shape and engine (default 1)")
    bench.add_argument("--peers", default="installed", metavar="NAMES",
                       help="torch, torch-compile, onnxruntime, openvino (comma separated), none, or those "
                            "installed (default); all engines take turns")

    compare = command("compare-ops", "cli_ops:compare_ops", "time the operators of the family on one input",
                      "Prints a table, and writes a page with the table and a plot of time against length.")
    for name, default, text in sizes:
        compare.add_argument(f"--{name}", type=_positive, default=default, metavar="N", help=f"{text} (default {default})")
    compare.add_argument("--batch", type=_positive, default=1, metavar="N", help="sequences (default 1)")
    threads(compare)
    compare.add_argument("--lengths", type=_lengths, default="16,32,64,128,256,512,1024,2048", metavar="T,...",
                         help="tokens of the plot (default powers of two from 16 to 2048)")
    compare.add_argument("--seconds", type=float, default=0.5, metavar="S",
                         help="time for each operator at --length, and a fifth of it at other lengths (default 0.5)")
    compare.add_argument("--output", default="compare-ops.html", metavar="FILE",
                         help="page to write, .html, or its plot alone, .svg (default compare-ops.html)")

    store = command("cache", "cli_tools:cache", "list or clear compiled code")
    store.add_argument("what", choices=["list", "clear"])
    store.add_argument("--dir", metavar="DIR", help="a cache folder other than the user's")

    command("doctor", "cli_tools:doctor", "say what this machine has, and what is missing for what")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code."""
    options = parser().parse_args(arguments)
    try:
        from importlib import import_module

        module, _, function = options.action.partition(":")
        code = getattr(import_module("." + module, __package__), function)(options)
        sys.stdout.flush()
        return int(code or 0)
    except BrokenPipeError:
        # The reader has left; nothing is wrong with us, but the interpreter would complain when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _interrupted()
    except (Error, ValueError, OSError, MemoryError) as error:
        text = " ".join(str(error).split()) or type(error).__name__
        print(f"convbert: {text}", file=sys.stderr)
        return 1


def _interrupted() -> int:
    from .compiler import busy

    if busy():  # the interpreter would wait for the compiler
        sys.stdout.flush()
        os._exit(130)
    return 130
