"""The package's own exceptions, and how values are shown in messages."""

from __future__ import annotations

import re
from reprlib import Repr
from typing import Any

_REPR = Repr()
_REPR.maxstring = _REPR.maxother = 80


def shown(value: Any) -> str:
    """A value as messages say it: one line, and not a long one."""
    return " ".join(_REPR.repr(value).split())


class Error(RuntimeError):
    """A checkpoint was refused, or compiling, loading or running it failed; one line says why.

    What is wrong with the arguments of a call is a ValueError instead.

    explanation: lines on the checkpoint up to what is wrong with it, from compiler.explain(); else empty.
    """

    def __init__(self, message: str, explanation: str = "") -> None:
        super().__init__(message)
        self.explanation = explanation


class CompileError(Error):
    """The compiler failed on a checkpoint that it had accepted: a bug of the compiler, or of the set-up.

    phase: name of the phase that failed, such as "schedule" or "link".
    diagnostics: what the compiler said, one line each.
    reproducer: path of a file that holds the module as the phase met it; None if none could be saved.
    command: the convbert-opt command that replays the failure on that file; None without a file.
    """

    def __init__(self, message: str, phase: str, diagnostics: list[str], command: str | None) -> None:
        super().__init__(message)
        self.phase = phase
        self.diagnostics = diagnostics
        self.command = command
        self.reproducer = command.split()[-1] if command else None


_PHASE = re.compile(r"phase '([^']+)' failed(.*)", re.DOTALL)
_REPLAY = "; replay it with: "


def from_compiler(message: str) -> Error:
    """The exception for a line of the compiler's: "DIRECTORY: first diagnostic; WHERE: phase 'NAME' failed; ..."."""
    match = _PHASE.search(message)
    if match is None:
        return Error(message)
    first = message[:match.start()].rpartition("; ")[0]
    _, found, command = match[2].partition(_REPLAY)
    diagnostics = [first] if first else []
    if not found:
        diagnostics.append(match[0])
    return CompileError(message, match[1], diagnostics, command.strip() if found else None)
