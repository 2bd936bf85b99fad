"""ConvBERT checkpoints, compiled for this machine.

    import convbert
    model = convbert.load("path/to/checkpoint")
    out = model([[101, 7592, 102]])
    out.logits

Importing this package loads neither NumPy nor the compiler; `load` does.
"""

from importlib import import_module

from .errors import Error

__version__ = "0.1.0"
__all__ = ["Error", "Model", "ModelOutput", "load"]

_LAZY = {"Model": "model", "ModelOutput": "output", "load": "model"}


def __getattr__(name):
    if name in _LAZY:
        value = globals()[name] = getattr(import_module("." + _LAZY[name], __name__), name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted(list(globals()) + list(_LAZY))
