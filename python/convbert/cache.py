"""The cache of compiled objects: what is in it, how much room it takes, and who used it last.

The compiler writes entries, KEY/model.so each, by a rename. A note beside each object says what it was compiled from;
the note's time of modification is the time of the last use. Weights that had to be unpacked lie in `weights`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from typing import Any

#: Bytes that a cache holds at most, unless CONVBERT_CACHE_LIMIT says otherwise.
DEFAULT_LIMIT = 8 << 30
_NOTE = "note.json"
_KEY = re.compile(r"[0-9a-f]{32}")
_UNPACKED = re.compile(r"unpacked-[0-9a-f]{32}\.bin")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def default_directory() -> str:
    """$CONVBERT_CACHE, else $XDG_CACHE_HOME/convbert, else ~/.cache/convbert; the compiler chooses the same."""
    chosen = os.environ.get("CONVBERT_CACHE")
    if chosen:
        return chosen
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "convbert")


def parse_size(text: str) -> int:
    """Bytes of "500M" or "2G"; ValueError for anything else."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if not match:
        raise ValueError(f"requires a size such as 500M or 2G, but found {text!r}")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def limit() -> int:
    """Bytes that the cache may take: $CONVBERT_CACHE_LIMIT, such as 500M; 8G without it or if it is no size."""
    try:
        return parse_size(os.environ["CONVBERT_CACHE_LIMIT"])
    except (KeyError, ValueError):
        return DEFAULT_LIMIT


@dataclass
class CacheEntry:
    """One compiled object, or one file of unpacked weights."""

    path: str
    bytes: int
    #: Seconds since 1970.
    last_used: float
    #: "checkpoint" and "outputs", or "function"; "target"; empty if no note was left.
    note: dict[str, Any] = field(default_factory=dict)


def _read_entry(path: str) -> CacheEntry | None:
    try:
        total, last_used, note = 0, 0.0, {}
        for item in os.scandir(path):
            status = item.stat()
            total += status.st_size
            last_used = max(last_used, status.st_mtime)
        try:
            with open(os.path.join(path, _NOTE), encoding="utf-8") as file:
                found = json.load(file)
            note = found if isinstance(found, dict) else {}
        except (OSError, ValueError):
            pass
        return CacheEntry(path, total, last_used, note)
    except OSError:  # another process has just removed it
        return None


def entries(directory: str | None = None) -> list[CacheEntry]:
    """What a cache holds, the last used first; of other files in the folder nothing is said."""
    directory = directory or default_directory()
    found = []
    try:
        names = os.listdir(directory)
    except OSError:
        return []
    for name in names:
        if _KEY.fullmatch(name):
            found.append(_read_entry(os.path.join(directory, name)))
    weights = os.path.join(directory, "weights")
    if os.path.isdir(weights):
        for item in os.scandir(weights):
            if _UNPACKED.fullmatch(item.name) and item.is_file(follow_symlinks=False):
                status = item.stat()
                found.append(CacheEntry(item.path, status.st_size, status.st_mtime, {"unpacked": item.name}))
    return sorted((entry for entry in found if entry), key=lambda entry: -entry.last_used)


def _remove(entry: CacheEntry) -> int:
    """Removes an entry and returns the bytes won. A process that has loaded it keeps what it has."""
    try:
        if os.path.isdir(entry.path):
            shutil.rmtree(entry.path)
        else:
            os.remove(entry.path)
    except OSError:
        return 0
    return entry.bytes


def clear(directory: str | None = None) -> tuple[int, int]:
    """Removes all entries; returns their number and their bytes."""
    found = entries(directory)
    return len(found), sum(_remove(entry) for entry in found)


def trim(directory: str, keep: str | None = None) -> int:
    """Removes the entries that were not used for longest until the rest fits limit(); never `keep`. Returns the bytes
    won."""
    found = entries(directory)
    excess = sum(entry.bytes for entry in found) - limit()
    won = 0
    for entry in reversed(found):
        if won >= excess:
            break
        if entry.path != keep:
            won += _remove(entry)
    return won


def note_use(description: dict[str, Any], what: dict[str, Any]) -> None:
    """Leaves a note on what was compiled beside its object, and makes room after a new one. Never fails: a cache is a
    convenience."""
    folder = os.path.dirname(description["object"])
    path = os.path.join(folder, _NOTE)
    try:
        now = time.time()
        if description.get("cached") and os.path.exists(path):
            os.utime(path, (now, now))
        else:
            note = {**what, "target": description.get("target", {})}
            handle, temporary = tempfile.mkstemp(prefix=".note-", dir=folder)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(note, file)
            os.replace(temporary, path)
        # Where the cache cannot be written to, the object lies in a temporary folder of another name.
        if not description.get("cached") and _KEY.fullmatch(os.path.basename(folder)):
            trim(os.path.dirname(folder), keep=folder)
    except OSError:
        pass
