"""Finds scalar floating-point work in the loops of kernels.

    scalar_loops.py FILE [--kinds dense,norm,...]

FILE is a module after phase `bufferize` (kernels still say of which kind they are).  In kernels of the kinds named
there must be no load or store of a single float of an array, and in their innermost loops no arithmetic on single
floats: both mean that a schedule left a loop over channels scalar.  A kernel of every kind must be there.  What a row
needs once (mean and variance of a norm, and the zero that sums start from) stands outside the innermost loops; masks
and packing have kinds of their own.

Prints a line for each finding; exit code 1 if there is any.
"""

import argparse
import re
import sys

KINDS = "dense,norm,embed,depthwise,span,attention"
FUNCTION = re.compile(r"func\.func (?:private )?@([\w.$-]+)\(.*convbert\.kernel = \"(\w+)\"")
LOOP = re.compile(r"\bscf\.(?:for|forall|parallel|while)\b")
FLOAT = r"(?:bf16|f16|f32|f64)"
ACCESS = re.compile(r"\bmemref\.(?:load|store)\b.*: memref<(?:[\d?]+x)+" + FLOAT + r"\b")
CELL = re.compile(r"\bmemref\.(?:load|store)\b.*: memref<" + FLOAT + r">$")
ARITHMETIC = re.compile(r"= (arith|math)\.(?!constant\b)\w+ .*: (?:vector<1x)?" + FLOAT + r">?$")


def findings(lines):
    """Yields (kernel, kind, line number, text) and, for each kernel, (kernel, kind, None, None)."""
    kernel = kind = None
    blocks = []  # for each open brace: [is a loop, has a loop inside, arithmetic seen directly inside]
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not blocks or kernel is None:
            match = FUNCTION.search(text)
            if match:
                kernel, kind = match.groups()
                blocks = []
                yield kernel, kind, None, None
            elif kernel is None:
                continue
        if ACCESS.search(text):
            yield kernel, kind, number, text
        if (ARITHMETIC.search(text) or CELL.search(text)) and blocks:
            blocks[-1][2].append((number, text))
        # Braces at the ends of lines open and close regions; those of attributes are balanced within a line.
        if text.startswith("}"):
            is_loop, has_loop, seen = blocks.pop()
            if is_loop and not has_loop:
                for where in seen:
                    yield kernel, kind, *where
            elif blocks and not is_loop:
                blocks[-1][2].extend(seen)  # a branch belongs to the loop around it
            if blocks:
                blocks[-1][1] |= is_loop or has_loop
            else:
                kernel = None
        if text.endswith("{"):
            blocks.append([bool(LOOP.search(text)), False, []])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--kinds", default=KINDS)
    arguments = parser.parse_args()
    missing, bad = set(arguments.kinds.split(",")), False
    wanted = set(missing)
    with open(arguments.file, encoding="utf-8") as file:
        for kernel, kind, number, text in findings(file):
            if kind not in wanted:
                continue
            missing.discard(kind)
            if number is not None:
                print(f"line {number}: @{kernel} ({kind}) works on single floats: {text}")
                bad = True
    for kind in sorted(missing):
        print(f"requires a kernel of kind {kind}, but found none")
    if not bad and not missing:
        print("no scalar loop over channels")
    return int(bad or bool(missing))


if __name__ == "__main__":
    sys.exit(main())
