#!/usr/bin/env python3
"""Writes the skeleton of a new operation or pass, complete with tests that pass, into the places where it belongs.

    new.py op NAME --theme nn|conv|attention     NAME in snake_case: gated_mix
    new.py pass NAME                             NAME in kebab-case: merge-heads (the pass is convbert-merge-heads)

What is left to write is marked TODO.
"""

import argparse
import re
import sys
from pathlib import Path

import templates
import tree

THEMES = {"nn": "NN", "conv": "Conv", "attention": "Attention"}
OP_TESTS = "test/Dialect/ConvBERT"
SPEC_BLOCKS = "\n# Block operations\n"


class Refused(Exception):
    """The skeleton cannot be written; nothing was changed."""


def camel(name):
    """gated_mix and gated-mix to GatedMix."""
    return "".join(word.capitalize() for word in re.split("[_-]", name))


def read(root, name):
    path = root / name
    if not path.is_file():
        raise Refused(f"requires {name}, but found no such file in {root}")
    return path.read_text(encoding="utf-8")


def before_endif(text, name, snippet):
    """Puts `snippet` before the include guard's #endif, the last one of the file."""
    head, endif, tail = text.rpartition("#endif")
    if not endif:
        raise Refused(f"requires an include guard in {name}, but found no #endif")
    return f"{head}{snippet}\n{endif}{tail}"


def add_source(text, name, source):
    """Adds `source` to the sorted sources of the first convbert_add_library of a CMake file."""
    match = re.search(r"(convbert_add_library\(\w+\n)((?:  \S+\.cpp\n)+)", text)
    if not match:
        raise Refused(f"requires convbert_add_library with one source a line in {name}, but found none")
    sources = sorted([*match.group(2).splitlines(), f"  {source}"], key=str.lower)
    return text[: match.start(2)] + "\n".join(sources) + "\n" + text[match.end(2) :]


def new_op(root, name, theme):
    """Returns {file: text} for the operation convbert.NAME."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        raise Refused(f"requires a name in snake_case, such as gated_mix, but found '{name}'")
    words = {"name": name, "Name": camel(name), "NAME": name.upper()}
    for path in tree.project_files(root / "dialect" / "IR", [".td"]):
        if re.search(rf'<"{name}"', path.read_text(encoding="utf-8")):
            raise Refused(f"requires a new name, but found convbert.{name} in {tree.relative(path, root)}")
    ods = f"dialect/IR/ConvBERT{THEMES[theme]}Ops.td"
    spec = "dialect/Spec.md"
    steps, heading, blocks = read(root, spec).partition(SPEC_BLOCKS)
    if not heading:
        raise Refused(f"requires a part '# Block operations' in {spec}, but found none")
    return {
        ods: before_endif(read(root, ods), ods, templates.OP.substitute(words)),
        spec: f"{steps}\n{templates.OP_SPEC.substitute(words)}{heading}{blocks}",
        f"{OP_TESTS}/{name}.mlir": templates.OP_ROUND_TRIP.substitute(words),
        f"{OP_TESTS}/{name}-invalid.mlir": templates.OP_INVALID.substitute(words),
        f"{OP_TESTS}/{name}-canonicalize.mlir": templates.OP_CANONICALIZE.substitute(words),
    }


def new_pass(root, name):
    """Returns {file: text} for the pass convbert-NAME."""
    name = name.removeprefix("convbert-")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise Refused(f"requires a name in kebab-case, such as merge-heads, but found '{name}'")
    words = {"name": name, "Name": camel(name), "NAME": camel(name).upper()}
    words["file_line"] = f"//===- {words['Name']}.cpp - TODO: what it does in a few words ".ljust(76, "-") + "===//"
    for path in tree.project_files(root / "lib", [".td"]):
        if f'"convbert-{name}"' in path.read_text(encoding="utf-8"):
            raise Refused(f"requires a new name, but found convbert-{name} in {tree.relative(path, root)}")
    room = "lib/Transforms"
    passes, cmake = f"{room}/Passes.td", f"{room}/CMakeLists.txt"
    return {
        passes: before_endif(read(root, passes), passes, templates.PASS.substitute(words)),
        cmake: add_source(read(root, cmake), cmake, f"{words['Name']}.cpp"),
        f"{room}/{words['Name']}.cpp": templates.PASS_SOURCE.substitute(words),
        f"test/Transforms/{name}.mlir": templates.PASS_TEST.substitute(words),
    }


CHANGED = ("Passes.td", "Ops.td", "Spec.md", "CMakeLists.txt")


def write(root, files):
    """Writes {file: text} after checking that no new file is in the way."""
    for name in files:
        if (root / name).exists() and not name.endswith(CHANGED):
            raise Refused(f"requires a new name, but found {name}")
    for name, text in files.items():
        path = root / name
        print(f"{'changed' if path.exists() else 'wrote'} {name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--root", default=tree.ROOT, type=Path, help="the tree to write into (default: this one)")
    kinds = parser.add_subparsers(dest="kind", required=True)
    op = kinds.add_parser("op", help="an operation of the dialect")
    op.add_argument("name", help="mnemonic in snake_case")
    op.add_argument("--theme", choices=THEMES, required=True, help="the ODS file it goes into")
    kinds.add_parser("pass", help="a pass of lib/Transforms").add_argument("name", help="name in kebab-case")
    options = parser.parse_args(arguments)
    try:
        if options.kind == "op":
            files = new_op(options.root, options.name, options.theme)
        else:
            files = new_pass(options.root, options.name)
        write(options.root, files)
    except Refused as refusal:
        print(f"new.py: {refusal}", file=sys.stderr)
        return 1
    print("Next: replace each TODO, then `make test`.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
