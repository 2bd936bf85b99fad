"""Compiling a checkpoint: the one place that loads the compiler, and LLVM with it."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from . import cache as object_cache
from .entry import EXTRA_INPUTS, EXTRA_OUTPUTS, STEPS
from .errors import Error, from_compiler

Path = str | os.PathLike[str]


def _extension() -> ModuleType:
    try:
        from . import _compiler
    except ImportError as error:
        raise Error(f"requires the compiler (libconvbert), but it cannot be loaded: {error}") from None
    return _compiler


_running = 0


def busy() -> bool:
    """Whether a compilation that was interrupted still runs."""
    return _running > 0


def _interruptible(function: Callable[[], str]) -> str:
    """function() in a thread of its own: Ctrl-C ends the wait for it, where it could not end the compiler itself."""
    if threading.current_thread() is not threading.main_thread():
        return function()
    results: list[str] = []
    errors: list[BaseException] = []

    def work() -> None:
        global _running
        _running += 1
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)
        finally:
            _running -= 1

    thread = threading.Thread(target=work, name="convbert-compiler")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


def _encoded(directory: Path) -> bytes:
    encoded = os.fsencode(directory)
    if b"\0" in encoded:
        raise Error("checkpoint: requires a path without a NUL character")
    return encoded


def _ask(function: str, what: bytes, options: dict[str, Any]) -> dict[str, Any]:
    extension = _extension()
    try:
        return json.loads(_interruptible(lambda: getattr(extension, function)(what, json.dumps(options))))
    except RuntimeError as error:
        raise from_compiler(str(error)) from None


@contextmanager
def compiled(directory: Path, *, target: str | None = None, extras: Sequence[str] = (), cache: bool | Path = True,
             dump_dir: Path | None = None, weights: str | None = None,
             dtype: str = "float32") -> Iterator[dict[str, Any]]:
    """Compiles the checkpoint in `directory` and yields the compiler's description of it as a dictionary.

    Members: "object", "manifest", "weights" (what the runtime needs), "target", "notes", "cached", "compile_ms",
    "phases_ms", "dtype", "stored_weights".
    extras: outputs and inputs beyond the plain ones. weights, dtype: as for load().
    cache: True for the user's cache, a path for another one, False for none; then the object exists inside the `with`
    block only. Raises Error with one line why a checkpoint was refused, CompileError if the compiler failed.
    """
    encoded = _encoded(directory)
    options: dict[str, Any] = {}
    for option, names in (("outputs", (*EXTRA_OUTPUTS, STEPS)), ("inputs", EXTRA_INPUTS)):
        if chosen := [name for name in extras if name in names]:
            options[option] = chosen
    if dump_dir is not None:
        options["dump_dir"] = os.fspath(dump_dir)
    note = {"checkpoint": os.path.abspath(os.fsdecode(encoded)), "outputs": list(extras)}
    with _cached("compile_checkpoint", encoded, options, note, target, cache, weights, dtype) as description:
        yield description


@contextmanager
def compiled_module(ir: str | bytes, name: str, *, target: str | None = None, cache: bool | Path = True,
                    weights: str | None = None, dtype: str = "float32") -> Iterator[dict[str, Any]]:
    """Compiles a module of one public function (text or bytecode) and yields the compiler's description of it: as
    compiled(), without "weights", which are given to the runtime as arrays. name: how listings of the cache call it."""
    encoded = ir.encode() if isinstance(ir, str) else ir
    with _cached("compile_module", encoded, {}, {"function": name}, target, cache, weights, dtype) as description:
        yield description


@contextmanager
def _cached(function: str, what: bytes, options: dict[str, Any], note: dict[str, Any], target: str | None,
            cache: bool | Path, weights: str | None, dtype: str) -> Iterator[dict[str, Any]]:
    """The compiler's answer, whose object lies in the cache or, without one, exists inside the `with` block only."""
    temporary = None
    if target is not None:
        options["target"] = str(target)
    if weights is not None:
        options["weights"] = weights
    if dtype != "float32":
        options["dtype"] = dtype
    if cache is False:
        temporary = options["cache_dir"] = tempfile.mkdtemp(prefix="convbert-")
    elif cache is not True:
        options["cache_dir"] = os.fspath(cache)
    try:
        description = _ask(function, what, options)
        if not temporary:
            object_cache.note_use(description, note)
        yield description
    finally:
        if temporary:
            shutil.rmtree(temporary, ignore_errors=True)


def module_costs(ir: str, batch: int, length: int) -> list[dict[str, Any]]:
    """What each operation of a module's function costs: "operation", "parameters", "macs", and, in bytes, "reads" and
    "writes"."""
    return list(_ask("inspect_module", ir.encode(), {"batch": batch, "length": length})["operations"])


def inspected(directory: Path, *, cache: bool | Path = True) -> dict[str, Any]:
    """What the checkpoint in `directory` is, without compiling it: "manifest", "weights", "notes", "parameters" and
    "cost", {operation: {"count": n, "macs": [c0, c1, c2]}} for B * (c0 + c1 T + c2 T^2) multiply-accumulates.

    Raises Error with one line if the checkpoint is refused.
    """
    options = {} if isinstance(cache, bool) else {"cache_dir": os.fspath(cache)}
    return _ask("inspect_checkpoint", _encoded(directory), options)


def explain(directory: Path) -> str:
    """Lines of text on how the checkpoint in `directory` is read: its files, geometry, tensors, what is ignored.

    If it is refused, raises Error, whose `explanation` holds the lines up to there.
    """
    text, refusal = _extension().explain_checkpoint(_encoded(directory))
    if refusal:
        raise Error(refusal, explanation=text)
    return text


def version() -> str:
    """The version of the compiler."""
    return _extension().__version__
