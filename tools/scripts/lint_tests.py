#!/usr/bin/env python3
"""Checks that every RUN line of every lit test asserts something.

    lint_tests.py [ROOT]

A RUN line asserts if it runs FileCheck, `not`, `cmp` or `diff`, or passes -verify-diagnostics or --verify-roundtrip.
A line that only prepares files (rm, mkdir, cp, split-file) need not, as long as another line of the test does.
"""

import re

import tree

SUFFIXES = (".mlir", ".test")
OUTSIDE = {"lint", "python", "unittests"}  # folders of test/ that lit does not look at
RUN = re.compile(r"^\s*(?://|#|;)\s*RUN:(.*)$")
OPTION = re.compile(r"(?:^|\s)--?(verify-diagnostics|verify-roundtrip)\b")
PREPARES = {"rm", "mkdir", "cp", "split-file"}


def run_lines(text):
    """Yields (number of the first line, command) with continued lines joined."""
    start, command = None, ""
    for number, line in enumerate(text.splitlines(), 1):
        match = RUN.match(line)
        if not match:
            continue
        start = start or number
        part = match.group(1).strip()
        command += part.rstrip("\\") + " "
        if not part.endswith("\\"):
            yield start, command.strip()
            start, command = None, ""
    if command:
        yield start, command.strip()


def programs(command):
    """Returns the name of each program that a shell line runs."""
    names = []
    for part in re.split(r"\|\||&&|[|;]", command):
        words = part.split()
        while words and (words[0] == "env" or re.match(r"\w+=", words[0])):
            words.pop(0)
        if words:
            names.append(words[0])
    return names


def asserts(command):
    return bool({"FileCheck", "not", "cmp", "diff"} & set(programs(command))) or bool(OPTION.search(command))


def prepares(command):
    return set(programs(command)) <= PREPARES


def check(root):
    problems, checked = [], 0
    for path in tree.project_files(root / "test", SUFFIXES):
        name = tree.relative(path, root)
        if name.split("/")[1] in OUTSIDE:
            continue
        checked += 1
        lines = list(run_lines(path.read_text(encoding="utf-8")))
        if not any(asserts(command) for _, command in lines):
            problems.append(f"{name}: requires a RUN line that asserts something, but found none")
        for number, command in lines:
            if not asserts(command) and not prepares(command):
                problems.append(
                    f"{name}:{number}: requires FileCheck, not, cmp, diff, -verify-diagnostics or --verify-roundtrip, "
                    f"but found: {command}"
                )
    return problems, checked


if __name__ == "__main__":
    tree.main(check, "lit tests")
