"""Walks the project's own files; shared by the lint scripts."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Folders that hold no source of the project, wherever they are.
SKIPPED = {".git", ".venv", ".venv-bench", ".cache", "__pycache__", "Inputs", "_deps"}


def project_files(root, suffixes=None):
    """Yields the project's files under `root` in sorted order, optionally only those that end in one of `suffixes`."""
    root = Path(root)
    for folder, names, files in os.walk(root):
        top = Path(folder) == root
        names[:] = sorted(n for n in names if n not in SKIPPED and not (top and n.startswith("build")))
        for name in sorted(files):
            if suffixes is None or name.endswith(tuple(suffixes)):
                yield Path(folder) / name


def relative(path, root):
    """Returns `path` relative to `root` with forward slashes."""
    return Path(path).relative_to(root).as_posix()


def report(problems, what, checked):
    """Prints `problems` (a list of lines); returns the exit code.  Nothing checked is a failure too."""
    for problem in problems:
        print(problem)
    if checked == 0:
        print(f"{what}: found nothing to check")
        return 1
    print(f"{what}: {checked} checked, {len(problems)} problem{'' if len(problems) == 1 else 's'}")
    return 1 if problems else 0


def root_from_arguments(arguments):
    """The lint scripts take one optional argument: the tree to check."""
    return Path(arguments[1]).resolve() if len(arguments) > 1 else ROOT


def main(check, what):
    """Runs `check(root)`, which returns (problems, number of things checked), as a command line."""
    problems, checked = check(root_from_arguments(sys.argv))
    sys.exit(report(problems, what, checked))
