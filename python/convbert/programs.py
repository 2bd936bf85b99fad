"""The C++ tools, as console scripts of an installed package: convbert-opt, convbert-import, convbert-compile, ..."""

from __future__ import annotations

import os
import sys


def run() -> None:
    """Becomes the tool that this script is named after; it lies in the package."""
    name = os.path.basename(sys.argv[0])
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", name)
    if not os.path.exists(program):
        print(f"{name}: requires the compiler's tools, but found none in this installation", file=sys.stderr)
        sys.exit(1)
    os.execv(program, [program, *sys.argv[1:]])
