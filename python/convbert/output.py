"""What a call returns."""


class ModelOutput:
    """Named arrays in a fixed order: `out.logits`, `out["logits"]`, `out[0]`, `out.to_tuple()`.

    Iterating gives the names, as for a dictionary. `hidden_states` is a tuple of arrays.
    """

    def __init__(self, values):
        self.__dict__.update(values)
        self._values = dict(values)

    def __getitem__(self, key):
        """The value of a name, or of a position or slice of to_tuple()."""
        if isinstance(key, str):
            return self._values[key]
        return self.to_tuple()[key]

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)

    def __contains__(self, key):
        return key in self._values

    def get(self, key, default=None):
        return self._values.get(key, default)

    def keys(self):
        return self._values.keys()

    def values(self):
        return self._values.values()

    def items(self):
        return self._values.items()

    def to_tuple(self):
        """The values in order."""
        return tuple(self._values.values())

    def __repr__(self):
        def show(value):
            if isinstance(value, tuple):
                return "(" + ", ".join(map(show, value)) + ")"
            return f"{value.dtype}[{', '.join(map(str, value.shape))}]"

        return f"ModelOutput({', '.join(f'{name}={show(value)}' for name, value in self.items())})"
