"""State dicts of networks that other libraries trained: arrays by name, and what is said where a name or a shape is off."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from .arrays import as_array, describe_shape
from .errors import shown
from .function import AnyArray, read_file
from .graph import Graph

#: Names that a message lists before it counts.
_LISTED = 4


def listed(names: Iterable[str]) -> str:
    """Some names, and how many more there are."""
    found = list(names)
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    return ", ".join(found[:_LISTED]) + more


class StateDict:
    """The arrays whose names begin with `prefix`, by the rest of their names.

    weights: arrays by name (NumPy, DLPack in CPU memory, such as a PyTorch state_dict()), or the path of a safetensors
    file. ignored: a pattern of names that say nothing about the network.
    """

    def __init__(self, weights: Any, prefix: str = "", ignored: str = r"$^") -> None:
        if isinstance(weights, (str, os.PathLike)):
            weights = read_file(weights)
        if not isinstance(weights, Mapping):
            raise ValueError(f"weights: requires arrays by name or the path of a safetensors file, but found "
                             f"{shown(weights)}")
        self.prefix = prefix
        self.names = [str(name) for name in weights]
        self._values = {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}
        self._ignored = re.compile(ignored)

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def find(self, pattern: str) -> list[re.Match[str]]:
        """Names that begin with the pattern, in order."""
        return [match for name in self._values if (match := re.match(pattern, name))]

    def numbers(self, pattern: str, first: int = 0) -> int:
        """How many numbers, from `first` on, stand in the group of names that begin with the pattern."""
        matches = self.find(pattern)
        found = {int(match[1]) for match in matches}
        missing = sorted({*range(first, max(found, default=-1) + 1)} - found)
        if missing or min(found, default=first) < first:
            where = f"numbers from {first} on in names such as {self.prefix}{matches[0][0]}"
            raise ValueError(f"weights: requires {where}, but found {max(found)} without {missing[0]}" if missing else
                             f"weights: requires {where}, but found {min(found)}")
        return len(found)

    def array(self, name: str) -> AnyArray:
        """ValueError if there is none."""
        if name not in self._values:
            wanted = self.prefix + name
            alike = {found: len(os.path.commonprefix([found, wanted])) for found in self.names}
            most = [found for found in alike if alike[found] == max(alike.values())]
            raise ValueError(f"weights: requires {wanted}, but found none; there are {listed(most) or 'no names'}")
        return as_array(self.prefix + name, self._values[name])

    def shape(self, name: str, *rank: int) -> tuple[int, ...]:
        """The shape of an array of one of these ranks."""
        found = self.array(name).shape
        if len(found) not in rank:
            raise ValueError(f"{self.prefix}{name}: requires rank {' or '.join(map(str, rank))}, but found "
                             f"{describe_shape(found)}")
        return found

    def scope(self, graph: Graph) -> AbstractContextManager[None]:
        """Parameters made inside have the prefix in their names."""
        return graph.scope(self.prefix.removesuffix(".")) if self.prefix else nullcontext()

    def arrays(self, graph: Graph, what: str, changed: Mapping[str, AnyArray] | None = None,
               also: Collection[str] = ()) -> dict[str, AnyArray]:
        """The arrays for the graph's parameters, those of `changed` in place of what is there; ValueError that names all
        that are missing, or all that are there beside them, beside `also` and beside what is ignored."""
        changed = changed or {}
        names = {full: full.removeprefix(self.prefix) for full in graph.parameters}
        missing = [full for full, name in names.items() if name not in self._values and name not in changed]
        if missing:
            raise ValueError(f"weights: requires {listed(missing)} for {what}, but found no such names")
        known = {*names.values(), *also}
        others = [self.prefix + name for name in self._values if name not in known and not self._ignored.search(name)]
        if others:
            raise ValueError(f"weights: requires no names but those of {what}, but found {listed(others)}")
        return {full: changed[name] if name in changed else self.array(name) for full, name in names.items()}
