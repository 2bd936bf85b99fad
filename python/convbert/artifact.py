"""Artefacts: directories that hold a compiled model and run without the compiler.

    model.cbx/
      manifest.json   what is in it, for which CPU, made by which compiler
      model.so        machine code
      weights.bin     weights in the layout that the code reads; mapped, so that processes share them
      config.json, tokenizer.json, vocab.txt, ...   copied from the checkpoint
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .errors import Error
from .targets import cpu_flags, find_level

FORMAT = 1
_COPIED = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
           "vocab.txt", "vocab.json", "merges.txt")

#: Flags that change what the compiler emits for the CPU it runs on.
_CODE_FLAG = re.compile(r"abm|avx.*|bmi[12]|f16c|fma|gfni|movbe|popcnt|sse4_.|ssse3|vaes|vpclmulqdq")


def _required_flags(target: str) -> list[str]:
    """Features that code for `target`, compiled on this machine, may need."""
    level = find_level(target)
    return sorted(level.features if level else filter(_CODE_FLAG.fullmatch, cpu_flags()))


def is_artifact(path: str) -> bool:
    """Whether there is an artefact at `path`, whole or not."""
    return os.path.isfile(os.path.join(path, "manifest.json")) and not os.path.exists(
        os.path.join(path, "model.safetensors"))


class ArtifactSource:
    """An artefact, as Model wants it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.manifest = read_manifest(path)
        self._check_machine()

    def _check_machine(self) -> None:
        target = self.manifest["target"]
        if platform.machine() not in ("x86_64", "AMD64"):
            raise Error(f"{self.path}: requires an x86-64 CPU, but found {platform.machine()}")
        missing = sorted(set(target["features"]) - cpu_flags())
        if missing:
            raise Error(f"{self.path}: requires a CPU with {', '.join(missing)} (it was compiled for {target['name']}, "
                        f"{target['cpu']}), but this one lacks them; compile the checkpoint for it")

    @contextmanager
    def description(self, extras: tuple[str, ...]) -> Iterator[dict[str, Any]]:
        name = "+".join(extras)
        entry = self.manifest["entries"].get(name)
        if entry is None:
            others = ", ".join(other for other in self.manifest["entries"] if other)
            raise Error(f"{self.path}: requires code for {name}, but the artefact was compiled with "
                        f"{others or 'the plain outputs'} alone; compile the checkpoint again with outputs={[name]!r}")
        yield {"object": os.path.join(self.path, entry["object"]), "packed": os.path.join(self.path, entry["packed"]),
               "manifest": {**self.manifest["model"], "outputs": entry["outputs"],
                            "inputs": entry.get("inputs", self.manifest["model"]["inputs"])},
               "target": self.manifest["target"], "notes": self.manifest["notes"], "cached": True, "compile_ms": 0.0,
               "dtype": self.manifest.get("dtype", "float32"),
               "stored_weights": self.manifest.get("stored_weights", "f32")}

    def config(self) -> dict[str, Any]:
        with open(os.path.join(self.path, "config.json"), encoding="utf-8") as file:
            return json.load(file)

    def cost(self) -> dict[str, Any]:
        return self.manifest["cost"]


def read_manifest(path: str) -> dict[str, Any]:
    """manifest.json of an artefact, and a check that its files have the sizes in it. Raises Error otherwise."""
    file = os.path.join(path, "manifest.json")
    try:
        with open(file, encoding="utf-8") as stream:
            manifest = json.load(stream)
    except (OSError, ValueError) as error:
        raise Error(f"{file} cannot be read: {str(error).splitlines()[0]}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        found = manifest.get("format") if isinstance(manifest, dict) else None
        raise Error(f"{path}: requires an artefact of format {FORMAT}, but found {found!r}; compile the checkpoint "
                    "again")
    for key, kind in (("target", dict), ("model", dict), ("entries", dict), ("files", dict), ("cost", dict),
                      ("notes", list)):
        if not isinstance(manifest.get(key), kind):
            raise Error(f"{file}: requires the member {key!r}, but found none; compile the checkpoint again")
    for name, facts in manifest["files"].items():
        try:
            size = os.path.getsize(os.path.join(path, name))
        except OSError:
            raise Error(f"{path}: requires the file {name}, but found none; compile the checkpoint again") from None
        if size != facts["bytes"]:
            raise Error(f"{os.path.join(path, name)}: requires {facts['bytes']} bytes, but found {size}; compile the "
                        "checkpoint again")
    return manifest


def check_contents(path: str) -> None:
    """Reads all files of an artefact; Error naming the first that is not what the compiler wrote."""
    for name, facts in read_manifest(path)["files"].items():
        if _digest(os.path.join(path, name)) != facts["sha256"]:
            raise Error(f"{os.path.join(path, name)}: requires the bytes that the compiler wrote, but found others; "
                        "compile the checkpoint again")


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def compile(path: str | os.PathLike[str], *, output: str | os.PathLike[str], target: str | None = None,
            outputs: Sequence[str] = (), cache: bool | str | os.PathLike[str] = True, weights: str | None = None,
            dtype: str = "float32") -> str:
    """Compiles the checkpoint in the directory `path` to an artefact, the directory `output`, and returns its path.

    target: "native" (default), "x86-64-v2" for any CPU with SSE4.2, "x86-64-v3" with AVX2, "x86-64-v4" with AVX-512,
        "x86-64-v4-bf16" with AVX512_BF16 too; this machine must be able to run it.
    outputs: what the artefact can give beside the plain outputs, a set of names each, joined by +: "hidden_states",
        "attentions", "conv_kernels", and "head_mask" and "inputs_embeds" for calls with one; "hidden_states+attentions" gives both in one
        call.
    cache, weights, dtype: as for load().
    An artefact that is there already is replaced; anything else is not. Raises Error or CompileError with one line.
    """
    from .compiler import inspected, version
    from .entry import check_types, in_order

    source, place = os.fspath(path), os.fspath(output).rstrip("/")
    if isinstance(outputs, str):
        raise ValueError(f"outputs: requires a list of names, but found {outputs!r}")
    entries = dict.fromkeys(in_order("outputs", name.split("+")) for name in outputs)
    check_types(weights, dtype)
    if is_artifact(source):
        raise Error(f"{source}: requires a checkpoint directory, but found an artefact")
    if os.path.lexists(place) and not is_artifact(place):
        raise Error(f"{place}: requires a new name or an artefact to replace, but found something else there")
    parent = os.path.dirname(os.path.abspath(place))
    if not os.path.isdir(parent):
        raise Error(f"{place}: requires an existing folder to write to, but found none at {parent}")
    facts = inspected(source, cache=cache)
    temporary = tempfile.mkdtemp(prefix=".convbert-", dir=parent)
    try:
        manifest: dict[str, Any] = {"format": FORMAT, "compiler": version(), "source": os.path.abspath(source),
                                    "notes": facts["notes"], "parameters": facts["parameters"], "cost": facts["cost"],
                                    "entries": {}, "files": {}}
        _write_entries(manifest, source, temporary, [(), *entries],
                       {"target": target, "cache": cache, "weights": weights, "dtype": dtype})
        for name in _COPIED:
            if os.path.isfile(os.path.join(source, name)):
                shutil.copyfile(os.path.join(source, name), os.path.join(temporary, name))
        for name in sorted(os.listdir(temporary)):
            file = os.path.join(temporary, name)
            manifest["files"][name] = {"bytes": os.path.getsize(file), "sha256": _digest(file)}
        with open(os.path.join(temporary, "manifest.json"), "w", encoding="utf-8") as stream:
            json.dump(manifest, stream, indent=1)
        os.chmod(temporary, 0o755)
        if os.path.lexists(place):
            old = tempfile.mkdtemp(prefix=".convbert-", dir=parent)
            os.rename(place, os.path.join(old, "old"))
            os.rename(temporary, place)
            shutil.rmtree(old, ignore_errors=True)
        else:
            os.rename(temporary, place)
    except OSError as error:
        raise Error(f"{place}: cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return place


def _write_entries(manifest: dict[str, Any], source: str, folder: str, entries: list[tuple[str, ...]],
                   options: dict[str, Any]) -> None:
    """Writes the code and the packed weights of entries, the plain one first; options: of compiled()."""
    import numpy as np

    from . import _runtime
    from .compiler import compiled

    written: dict[str, Any] = {}
    for extras in entries:
        name = "+".join(extras)
        with compiled(source, extras=extras, **options) as description:
            try:
                runtime = _runtime.Model(json.dumps(description), 0)
            except RuntimeError as error:
                raise Error(str(error)) from None
            code, packed = f"{name or 'model'}.so", f"{name or 'weights'}.bin"
            shutil.copyfile(description["object"], os.path.join(folder, code))
        for other, array in written.items():
            if np.array_equal(array, runtime.packed):
                packed = other
        if packed not in written:
            written[packed] = runtime.packed
            runtime.packed.tofile(os.path.join(folder, packed))
        if not name:
            manifest["model"] = description["manifest"]
            manifest["dtype"], manifest["stored_weights"] = description["dtype"], description["stored_weights"]
            manifest["target"] = {**description["target"], "features": _required_flags(description["target"]["name"])}
        manifest["entries"][name] = {"object": code, "packed": packed,
                                     **{key: description["manifest"][key] for key in ("inputs", "outputs")}}
