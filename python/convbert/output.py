"""What a call returns."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Any


class ModelOutput:
    """Named arrays in a fixed order: `out.logits`, `out["logits"]`, `out[0]`, `out.to_tuple()`.

    Iterating gives the names, as for a dictionary. `hidden_states` is a tuple of arrays.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.__dict__.update(values)
        self._values = dict(values)

    def __getitem__(self, key: str | int | slice) -> Any:
        """The value of a name, or of a position or slice of to_tuple()."""
        if isinstance(key, str):
            return self._values[key]
        return self.to_tuple()[key]

    def __getattr__(self, name: str) -> Any:
        # The values themselves are attributes; who comes here asks for something else.
        raise AttributeError(f"requires one of {', '.join(self.__dict__.get('_values', ()))}, but found {name!r}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def get(self, key: str, default: Any = None) -> Any:
        return self._values.get(key, default)

    def keys(self) -> KeysView[str]:
        return self._values.keys()

    def values(self) -> ValuesView[Any]:
        return self._values.values()

    def items(self) -> ItemsView[str, Any]:
        return self._values.items()

    def to_tuple(self) -> tuple[Any, ...]:
        """The values in order."""
        return tuple(self._values.values())

    def __repr__(self) -> str:
        def show(value: Any) -> str:
            if isinstance(value, tuple):
                return "(" + ", ".join(map(show, value)) + ")"
            return f"{value.dtype}[{', '.join(map(str, value.shape))}]"

        return f"ModelOutput({', '.join(f'{name}={show(value)}' for name, value in self.items())})"
