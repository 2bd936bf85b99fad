"""Compiling a checkpoint: the one place that loads the compiler, and LLVM with it."""

import json
import os
import shutil
import tempfile
from contextlib import contextmanager

from .errors import Error


def _extension():
    try:
        from . import _compiler
    except ImportError as error:
        raise Error(f"requires the compiler (libconvbert), but it cannot be loaded: {error}") from None
    return _compiler


@contextmanager
def compiled(directory, *, target=None, outputs=(), cache=True, dump_dir=None):
    """Compiles the checkpoint in `directory` and yields the compiler's description of it as a dictionary.

    Members: "object", "manifest", "weights" (what the runtime needs), "cached", "compile_ms", "phases_ms".
    cache: True for the user's cache, a path for another one, False for none; then the object exists inside the `with`
    block only. Raises Error with one line why a checkpoint was refused.
    """
    directory = os.fsencode(directory)
    if b"\0" in directory:
        raise Error("checkpoint: requires a path without a NUL character")
    temporary = None
    options = {"outputs": list(outputs)} if outputs else {}
    if target is not None:
        options["target"] = str(target)
    if dump_dir is not None:
        options["dump_dir"] = os.fspath(dump_dir)
    if cache is False:
        temporary = options["cache_dir"] = tempfile.mkdtemp(prefix="convbert-")
    elif cache is not True:
        options["cache_dir"] = os.fspath(cache)
    try:
        try:
            text = _extension().compile_checkpoint(directory, json.dumps(options))
        except RuntimeError as error:
            raise Error(str(error)) from None
        yield json.loads(text)
    finally:
        if temporary:
            shutil.rmtree(temporary, ignore_errors=True)
