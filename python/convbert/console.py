"""What the command line shows: progress on a terminal, plain lines elsewhere, tables that fit both."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")


def _rich_console() -> Any:
    """A console for the error stream if it is a terminal and rich is installed, else None."""
    if not sys.stderr.isatty():
        return None
    try:
        from rich.console import Console
    except ImportError:
        return None
    return Console(stderr=True)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Says on a terminal that something takes a while."""
    console = _rich_console()
    if console is None:
        yield
        return
    with console.status(what):
        yield


def progress(items: Iterable[T], what: str, total: int | None = None, prints: bool = False) -> Iterator[T]:
    """The items, with a progress bar on a terminal, unless results are printed there too."""
    console = _rich_console()
    if console is None or (prints and sys.stdout.isatty()):
        yield from items
        return
    from rich.progress import Progress

    with Progress(console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as bar:
        yield from bar.track(items, description=what, total=total)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """Columns under a head: the first `words` to the left, the others, which are numbers, to the right."""
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) if column < words else cell.rjust(width)
                               for column, (cell, width) in enumerate(zip(line, widths))).rstrip() for line in lines)


def print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=1))


def human_bytes(count: float) -> str:
    """"1.5 MiB"."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"
