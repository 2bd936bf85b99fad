#!/usr/bin/env python3
"""Checks that include arrows between the rooms point one way.

    check_includes.py [ROOT]

A room may include itself, what `MAY_INCLUDE` lists, and whatever those may include.  Includes of the project are
relative to the repository root.  The runtime stands alone: nothing of the compiler, of LLVM or of MLIR.
"""

import re

import tree

# room: the rooms that it may include, besides what those include in turn.  The longest matching folder is the room.
MAY_INCLUDE = {
    "dialect/IR": [],
    "dialect/TransformOps": ["dialect/IR"],
    "lib/Analysis": ["dialect/IR"],
    "lib/Transforms": ["dialect/IR"],
    "lib/Conversion": ["dialect/IR"],
    "lib/Import": ["lib/Analysis"],
    "lib/Outline": ["lib/Transforms", "lib/Analysis"],
    "lib/Schedules": ["lib/Transforms", "dialect/TransformOps"],
    "lib/Pipelines": ["lib/Outline", "lib/Conversion", "lib/Schedules"],
    "lib/Target": ["lib/Pipelines"],
    "lib/Runtime": [],
    "lib/CAPI": ["lib/Target", "lib/Import", "lib/Runtime"],
    "python": ["lib/CAPI"],
    "tools": ["lib/CAPI"],
    "test": ["lib/CAPI", "tools"],
    "cmake": [],
}

# Rooms without any include of LLVM or MLIR.
NO_LLVM = ["lib/Runtime", "python"]

# One header may cross where the room may not, with the reason.
# The Python extension that runs models links the runtime alone, so it sees the public C header only.
ALSO = {"python": ["lib/Runtime/convbert-rt.h", "lib/CAPI/convbert-c.h"]}

SUFFIXES = (".cpp", ".h", ".c", ".td", ".inc")
INCLUDE = re.compile(r'^\s*#?\s*include\s+(["<])([^">]+)[">]')
LLVM = re.compile(r"^(llvm|mlir|llvm-c|mlir-c|clang|lld)/")


def room_of(path):
    """Returns the room of a path relative to the root, or None."""
    rooms = [room for room in MAY_INCLUDE if path == room or path.startswith(room + "/")]
    return max(rooms, key=len, default=None)


def reachable(room):
    """Returns the rooms that `room` may include."""
    seen, todo = set(), [room]
    while todo:
        current = todo.pop()
        if current not in seen:
            seen.add(current)
            todo += MAY_INCLUDE[current]
    return seen


def check(root):
    problems, checked = [], 0
    for path in tree.project_files(root, SUFFIXES):
        name = tree.relative(path, root)
        room = room_of(name)
        if room is None:
            if name.split("/")[0] in {"dialect", "lib"}:
                problems.append(f"{name}: requires a room that check_includes.py knows, but found a folder outside all")
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            checked += 1
            problem = judge(root, room, *match.groups())
            if problem:
                problems.append(f"{name}:{number}: {problem}")
    return problems, checked


def judge(root, room, bracket, target):
    """Returns what is wrong with an include of `target` in `room`, or None."""
    if LLVM.match(target):
        return f"requires no include of LLVM or MLIR in {room}, but found {target}" if room in NO_LLVM else None
    if bracket == "<":
        return None
    other = room_of(target)
    if other is None:
        # Third-party headers are quoted now and then; ours are always given from the root.
        if not list(root.glob(f"*/**/{target}")):
            return None
        return f"requires paths relative to the repository root, but found {target}"
    if other not in reachable(room) and target not in ALSO.get(room, []):
        allowed = ", ".join(sorted(reachable(room)))
        return f"requires {room} to include only {allowed}, but found {target}"
    return None


if __name__ == "__main__":
    tree.main(check, "includes")
