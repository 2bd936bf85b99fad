"""Loading a checkpoint and calling it."""

import json
import os
import threading
import time

import numpy as np

from . import _runtime
from .arrays import broadcast, describe_shape, integers, mask
from .compiler import compiled
from .errors import Error
from .output import ModelOutput

_DTYPES = {"float32": np.float32, "float64": np.float64, "int64": np.int64, "bool": np.bool_}


def load(path, *, threads=None, target=None, cache=True):
    """Loads the Hugging Face checkpoint in the directory `path`, compiling it for this machine on first use.

    threads: threads of a call; None: the CPUs that this process may use; 1: never a second thread. The results do not
        depend on it.
    target: "native" (default), "x86-64-v3" or "x86-64-v4".
    cache: True keeps compiled code in the user's cache, a path names another folder, False keeps none.
    Returns a Model. Raises Error with one line if the checkpoint is refused, ValueError for a wrong option.
    """
    return Model(path, threads=threads, target=target, cache=cache)


class _Entry:
    """Compiled code for one set of outputs, loaded."""

    def __init__(self, path, outputs, threads, target, cache):
        start = time.perf_counter()
        with compiled(path, target=target, outputs=outputs, cache=cache) as description:
            try:
                self.runtime = _runtime.Model(json.dumps(description), threads)
            except RuntimeError as error:
                raise Error(str(error)) from None
        self.manifest = description["manifest"]
        self.timings = {
            "import_ms": description.get("import_ms"),
            "compile_ms": description.get("compile_ms"),
            "phases_ms": description.get("phases_ms", {}),
            "cached": bool(description.get("cached")),
            "prepack_ms": self.runtime.prepack_ms,
            "load_ms": (time.perf_counter() - start) * 1e3,
        }

    def run(self, arguments, batch, length):
        """The outputs, by name, for dense arguments [batch, length] by name (None: absent)."""
        sizes = {"B": batch, "T": length}
        outputs = {item["name"]: np.empty([sizes.get(size, size) for size in item["shape"]], _DTYPES[item["dtype"]])
                   for item in self.manifest["outputs"]}
        inputs = [arguments.get(item["name"]) for item in self.manifest["inputs"]]
        try:
            self.runtime.forward(batch, length, inputs, list(outputs.values()))
        except RuntimeError as error:
            raise Error(str(error)) from None
        return outputs


class Model:
    """A loaded checkpoint; made by load(). May be called from several threads at once."""

    def __init__(self, path, *, threads=None, target=None, cache=True):
        if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
            raise ValueError(f"threads: requires an integer >= 1 or None, but found {threads!r}")
        self.path = os.fspath(path)
        self._options = (threads or 0, target, cache)
        self._entries = {}
        self._lock = threading.Lock()
        main = self._entry(())
        self._manifest = main.manifest
        self._config = None

    def _entry(self, outputs):
        entry = self._entries.get(outputs)  # without the lock: calls go on while another entry is compiled
        if entry is None:
            with self._lock:
                if outputs not in self._entries:
                    self._entries[outputs] = _Entry(self.path, outputs, *self._options)
                entry = self._entries[outputs]
        return entry

    def __call__(self, input_ids, attention_mask=None, token_type_ids=None, position_ids=None,
                 output_hidden_states=False):
        """Runs the model on token ids [B, T] (multiple choice: [B, choices, T]).

        Arguments are NumPy arrays, anything with DLPack, or nested lists.

        input_ids: integers in [0, vocab_size); 1 <= T <= max_positions.
        attention_mask: same shape; bool, integers or floats, nonzero where a token may be attended to; default all.
            As in transformers, padded tokens are still seen by the convolutions of their neighbours.
        token_type_ids: same shape (or one row of it); integers in [0, type_vocab_size); default 0.
        position_ids: same shape (or one row of it); integers in [0, max_positions); default 0 .. T-1.
        output_hidden_states: also return hidden_states, a tuple of L+1 arrays [B, T, D]: the input of the first layer
            and the output of each. Compiles code of its own on first use, which keeps a second copy of the weights.

        Returns a ModelOutput of float32 arrays, named as in transformers: last_hidden_state [B, T, D], logits [B, C],
        [B, T, C], [B, T, V] or [B, choices], or start_logits and end_logits [B, T].
        Raises ValueError, before anything is computed, naming the argument, what it needs and what was found.
        """
        ids = integers("input_ids", input_ids)
        is_choice = self.model_class == "ConvBertForMultipleChoice"
        rank, axes = (3, "[batch, choices, length]") if is_choice else (2, "[batch, length]")
        if ids.ndim != rank:
            raise ValueError(f"input_ids: requires rank {rank} {axes}, but found rank {ids.ndim} with shape "
                             f"{describe_shape(ids.shape)}")
        arguments = {"input_ids": ids}
        if attention_mask is not None:
            found = mask("attention_mask", attention_mask)
            if found.shape != ids.shape:
                raise ValueError(f"attention_mask: requires the shape {describe_shape(ids.shape)} of input_ids, but "
                                 f"found {describe_shape(found.shape)}")
            arguments["attention_mask"] = found
        for name, value in (("token_type_ids", token_type_ids), ("position_ids", position_ids)):
            if value is not None:
                arguments[name] = broadcast(name, integers(name, value), ids.shape)
        if is_choice:
            arguments = {name: array.reshape(-1, ids.shape[-1]) for name, array in arguments.items()}
        batch, length = arguments["input_ids"].shape

        entry = self._entry(("hidden_states",) if output_hidden_states else ())
        outputs = entry.run(arguments, batch, length)
        hidden = [outputs.pop(name) for name in list(outputs) if name.startswith("hidden_states.")]
        if is_choice:
            outputs["logits"] = outputs["logits"].reshape(ids.shape[:2])
        if output_hidden_states:
            outputs["hidden_states"] = tuple(hidden)
        return ModelOutput(outputs)

    @property
    def config(self):
        """The checkpoint's config.json as a dictionary."""
        if self._config is None:
            with open(os.path.join(self.path, "config.json"), encoding="utf-8") as file:
                self._config = json.load(file)
        return self._config

    @property
    def model_class(self):
        """Name of the transformers class, such as "ConvBertForSequenceClassification"."""
        return self._manifest["model_class"]

    @property
    def labels(self):
        """Names of the classes in the order of the logits; [] for models without."""
        return list(self._manifest.get("labels", []))

    @property
    def inputs(self):
        """[{"name", "dtype", "shape"}] of the arguments; "B" and "T" stand for the batch's sizes."""
        return self._manifest["inputs"]

    @property
    def outputs(self):
        """[{"name", "dtype", "shape"}] of what a plain call returns."""
        return self._manifest["outputs"]

    @property
    def parameters(self):
        """[{"name", "dtype", "shape"}] of the weights in use."""
        return self._manifest["parameters"]

    @property
    def compile_count(self):
        """Sets of outputs compiled (or found in the cache) so far; shapes never add to it."""
        return len(self._entries)

    @property
    def threads(self):
        """Threads of a call."""
        return self._entries[()].runtime.threads

    @property
    def timings(self):
        """Milliseconds of loading the plain entry: import_ms, compile_ms, phases_ms, prepack_ms, load_ms; and `cached`."""
        return dict(self._entries[()].timings)

    @property
    def packed_bytes(self):
        """Bytes of packed weights in memory."""
        return sum(entry.runtime.packed_bytes for entry in self._entries.values())

    @property
    def workspace_bytes(self):
        """Bytes that the workspaces of all calls hold."""
        return sum(entry.runtime.workspace_bytes for entry in self._entries.values())

    def __repr__(self):
        return f"<{self.model_class} from {self.path}>"
