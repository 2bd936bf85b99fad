"""ConvBERT checkpoints, compiled for this machine.

    import convbert
    model = convbert.load("path/to/checkpoint")
    out = model([[101, 7592, 102]])
    out.logits
    convbert.compile("path/to/checkpoint", output="model.cbx")    # to deploy: convbert.load("model.cbx")

Importing this package loads neither NumPy nor the compiler; `load` does.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import CompileError, Error

if TYPE_CHECKING:
    from .artifact import compile
    from .cost import Cost
    from .model import Model, load
    from .output import ModelOutput
    from .verification import verify

__version__ = "0.1.0"
__all__ = ["CompileError", "Cost", "Error", "Model", "ModelOutput", "compile", "load", "verify"]

_LAZY = {"Cost": "cost", "Model": "model", "ModelOutput": "output", "compile": "artifact", "load": "model",
         "verify": "verification"}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        value = globals()[name] = getattr(import_module("." + _LAZY[name], __name__), name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(list(globals()) + list(_LAZY))
