"""Files of records for `convbert run`: JSON lines, Parquet, plain text; and arrays of token ids."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

from .errors import Error

Record = dict[str, Any]


def _parquet() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise Error("requires the Python package pyarrow for Parquet; install it: pip install pyarrow") from None
    return pyarrow.parquet


def _json_lines(stream: IO[str], name: str) -> Iterator[Record]:
    for number, line in enumerate(stream, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise Error(f"{name}:{number}: requires a JSON object, but found no JSON ({error})") from None
        yield {"text": record} if isinstance(record, str) else _checked(record, f"{name}:{number}")


def _checked(record: Any, where: str) -> Record:
    if not isinstance(record, dict):
        raise Error(f"{where}: requires a JSON object or a string, but found a {type(record).__name__}")
    return record


def read(path: str) -> list[Record]:
    """The records of a .jsonl, .parquet or .txt file (a text a line); "-" for JSON lines from the standard input.

    Raises Error with one line, which names the line of the file."""
    if path == "-":
        return list(_json_lines(sys.stdin, "standard input"))
    kind = os.path.splitext(path)[1].lower()
    try:
        if kind == ".parquet":
            return _parquet().read_table(path).to_pylist()
        with open(path, encoding="utf-8") as stream:
            if kind == ".txt":
                return [{"text": line.rstrip("\n")} for line in stream]
            if kind in (".jsonl", ".ndjson", ".json"):
                return list(_json_lines(stream, path))
    except UnicodeDecodeError as error:
        raise Error(f"{path}: requires text in UTF-8, but found other bytes ({error.reason})") from None
    except OSError as error:
        raise Error(f"{path}: cannot be read: {error.strerror or error}") from None
    except Exception as error:
        if isinstance(error, Error):
            raise
        raise Error(f"{path}: cannot be read: {str(error).splitlines()[0]}") from None
    raise Error(f"{path}: requires a file that ends in .jsonl, .parquet, .txt or .npy, but found {kind or 'no ending'}")


def write(path: str, records: Iterable[Record]) -> int:
    """Writes records to a .jsonl or .parquet file, whole or not at all; returns their number."""
    kind = os.path.splitext(path)[1].lower()
    if kind == ".parquet":
        parquet = _parquet()
        import pyarrow

        rows = list(records)
        whole(path, lambda temporary: parquet.write_table(pyarrow.Table.from_pylist(rows), temporary))
        return len(rows)
    if kind not in (".jsonl", ".ndjson"):
        raise Error(f"{path}: requires a file that ends in .jsonl or .parquet, but found {kind or 'no ending'}")
    count = 0

    def fill(temporary: str) -> None:
        nonlocal count
        with open(temporary, "w", encoding="utf-8") as stream:
            for record in records:
                stream.write(json.dumps(record, ensure_ascii=False) + "\n")
                count += 1

    whole(path, fill)
    return count


def whole(path: str, fill: Callable[[str], None]) -> None:
    """Has `fill` write a temporary file beside `path`, and renames it to `path`."""
    folder, name = os.path.split(os.path.abspath(path))
    try:
        handle, temporary = tempfile.mkstemp(prefix="." + name[:40], suffix=os.path.splitext(name)[1], dir=folder)
    except OSError as error:
        raise Error(f"{path}: cannot be written: {error.strerror or error}") from None
    os.close(handle)
    try:
        fill(temporary)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException as error:
        os.unlink(temporary)
        if isinstance(error, OSError):
            raise Error(f"{path}: cannot be written: {error.strerror or error}") from None
        raise
