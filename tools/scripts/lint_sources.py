#!/usr/bin/env python3
"""Checks what no compiler checks about the sources.

    lint_sources.py [ROOT]

* A file has fewer than 500 lines; from 300 on there is a warning.
* Options are pass or pipeline options: no cl::opt outside a tool's main or a header that mains share (tools/*.h).
* One CMakeLists.txt a folder: a folder of sources has its own, and none names the sources of another folder.
"""

import re
import sys

import tree

LIMIT, WARN = 500, 300
SOURCES = (".cpp", ".h", ".c", ".td", ".mlir", ".py", ".sh", ".cmake", "CMakeLists.txt")
OPTION = re.compile(r"\bcl::(opt|list|bits|alias)\s*<")
SHARED = re.compile(r"tools/\w+\.h")
MAIN = re.compile(r"^int main\(", re.MULTILINE)
LISTED = re.compile(r"[\w./${}-]+\.(?:cpp|c|td)\b")


def check_length(name, text, problems, warn):
    lines = text.count("\n") + (not text.endswith("\n"))
    if lines >= LIMIT:
        problems.append(f"{name}: requires fewer than {LIMIT} lines, but found {lines}; split it")
    elif lines >= WARN:
        warn(f"{name}: warning: {lines} lines; aim below {WARN}")


def check_options(name, text, problems):
    if not name.endswith((".cpp", ".h", ".c")) or (name.startswith("tools/") and MAIN.search(text)):
        return
    if SHARED.fullmatch(name):
        return
    for number, line in enumerate(text.splitlines(), 1):
        if OPTION.search(line.split("//")[0]):
            problems.append(f"{name}:{number}: requires a pass or pipeline option, but found cl::opt outside a main")


def check_cmake(root, path, name, text, problems):
    if name.endswith("CMakeLists.txt"):
        for number, line in enumerate(text.splitlines(), 1):
            for listed in LISTED.findall(line.split("#")[0]):
                if "/" in listed and "BINARY_DIR" not in listed:
                    problems.append(f"{name}:{number}: requires sources of its own folder, but found {listed}")
    elif name.endswith((".cpp", ".td")) and name.startswith(("dialect/", "lib/", "tools/", "python/", "test/unittests/")):
        if not (path.parent / "CMakeLists.txt").exists():
            problems.append(f"{name}: requires a CMakeLists.txt in its folder, but found none")


def check(root, warn=lambda line: print(line, file=sys.stderr)):
    problems, checked = [], 0
    for path in tree.project_files(root, SOURCES):
        name = tree.relative(path, root)
        text = path.read_text(encoding="utf-8")
        checked += 1
        check_length(name, text, problems, warn)
        check_options(name, text, problems)
        check_cmake(root, path, name, text, problems)
    return problems, checked


if __name__ == "__main__":
    tree.main(check, "sources")
