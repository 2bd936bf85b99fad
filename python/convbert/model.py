"""Loading a checkpoint and calling it."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Mapping
from typing import Any

from .artifact import ArtifactSource, is_artifact
from .call import bind, choose_input, flag, head_masks
from .cost import Cost, evaluate, summarize
from .entry import EXTRA_OUTPUTS, CheckpointSource, Entry, Source, check_types
from .errors import shown
from .output import ModelOutput

_PADDINGS = ("parity", "exact")


def load(path: str | os.PathLike[str], *, threads: int | None = None, padding: str = "parity",
         weights: str | None = None, dtype: str = "float32", cache: bool | str | os.PathLike[str] = True,
         target: str | None = None) -> Model:
    """Loads a Hugging Face checkpoint directory, compiling it for this machine on first use, or an artefact that
    compile() wrote; for the latter, neither compiler nor LLVM is loaded.

    threads: threads of a call; None: the CPUs that this process may use; 1: never a second thread. The results do not
        depend on it.
    padding: "parity" computes what transformers does, where the convolutions of real tokens read padded neighbours;
        "exact" gives each sequence of a batch padded on the right what it would get alone and unpadded.
    weights: None keeps float32; "bf16" rounds the weights of matrix products to bfloat16, which makes short inputs
        faster, since their weights stream from memory. Arithmetic stays float32; verify() says what it costs.
    dtype: "float32", or "bfloat16": matrix products round both factors and add up in float32, at about twice the speed;
        everything else stays float32. Requires a CPU with AVX512_BF16.
    cache: True keeps compiled code in the user's cache, a path names another folder, False keeps none.
    target: "native" (default), "x86-64-v2", "x86-64-v3", "x86-64-v4" or "x86-64-v4-bf16"; an artefact has been compiled
        for one already.
    Returns a Model. Raises Error with one line if the checkpoint is refused, CompileError if the compiler fails,
    ValueError for a wrong option.
    """
    return Model(path, threads=threads, padding=padding, weights=weights, dtype=dtype, cache=cache, target=target)


class Model:
    """A loaded checkpoint; made by load(). May be called from several threads at once, and after a fork."""

    def __init__(self, path: str | os.PathLike[str], *, threads: int | None = None, padding: str = "parity",
                 weights: str | None = None, dtype: str = "float32", cache: bool | str | os.PathLike[str] = True,
                 target: str | None = None) -> None:
        if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
            raise ValueError(f"threads: requires an integer >= 1 or None, but found {shown(threads)}")
        if padding not in _PADDINGS:
            raise ValueError(f'padding: requires "parity" or "exact", but found {shown(padding)}')
        check_types(weights, dtype)
        if not isinstance(path, (str, os.PathLike)):
            raise ValueError(f"path: requires a directory, but found a {type(path).__name__}")
        if not isinstance(cache, (bool, str, os.PathLike)):
            raise ValueError(f"cache: requires True, False or a path, but found {shown(cache)}")
        self.path = os.fspath(path)
        self.padding = padding
        self._source: Source
        if is_artifact(self.path):
            if target is not None:
                raise ValueError(f"target: requires None for an artefact, but found {shown(target)}")
            if weights is not None:
                raise ValueError(f"weights: requires None for an artefact, but found {shown(weights)}")
            if dtype != "float32":
                raise ValueError(f'dtype: requires "float32", the default, for an artefact, but found {shown(dtype)}')
            self._source = ArtifactSource(self.path)
        else:
            self._source = CheckpointSource(self.path, target, cache, weights, dtype)
        self._threads = threads or 0
        self._entries: dict[tuple[str, ...], Entry] = {}
        self._lock = threading.Lock()
        self._manifest = self._entry(()).manifest
        self._config: dict[str, Any] | None = None
        self._cost: dict[str, Any] | None = None
        _models.add(self)

    def _entry(self, extras: tuple[str, ...]) -> Entry:
        entry = self._entries.get(extras)  # without the lock: calls go on while another entry is compiled
        if entry is None:
            with self._lock:
                if extras not in self._entries:
                    self._entries[extras] = Entry(self._source, extras, self._threads, like=self._entries.get(()))
                entry = self._entries[extras]
        return entry

    def __call__(self, input_ids: Any = None, attention_mask: Any = None, token_type_ids: Any = None,
                 position_ids: Any = None, head_mask: Any = None, inputs_embeds: Any = None, *,
                 encoder_input: Any = None, output_hidden_states: bool = False, output_attentions: bool = False,
                 output_conv_kernels: bool = False, out: Mapping[str, Any] | ModelOutput | None = None) -> ModelOutput:
        """Runs the model on token ids [B, T] (multiple choice: [B, choices, T]).

        Arguments are NumPy arrays, anything with DLPack, or nested lists.

        input_ids: integers in [0, vocab_size); 1 <= T <= max_positions.
        attention_mask: same shape; bool, integers or floats, nonzero where a token may be attended to; default all.
            As in transformers, padded tokens are still seen by the convolutions of their neighbours, unless the model
            was loaded with padding="exact"; then rows of padded tokens are zero in the results.
        token_type_ids: same shape (or one row of it); integers in [0, type_vocab_size); default 0.
        position_ids: same shape (or one row of it); integers in [0, max_positions); default 0 .. T-1.
        head_mask: [H] or [L, H] numbers, a factor for each attention head of all layers or of each: 1 keeps it, 0
            silences it. Convolution heads follow where H counts them too; else they are kept.
        inputs_embeds: instead of input_ids, vectors [B, T, E] as wide as a row of the word embeddings
            ([B, choices, T, E] for multiple choice); positions and types are still
            added. Compiles code of its own on first use.
        encoder_input: for a checkpoint that holds layers without embeddings, and then the only input: vectors [B, T, D]
            for the first layer; T may be any.
        output_hidden_states: also return hidden_states, a tuple of L+1 arrays [B, T, D]: the input of the first layer
            and the output of each.
        output_attentions: also return attentions, a tuple of L arrays [B, H, T, T]: the probabilities with which each
            attention head mixes the values of the last axis, the head's factor included.
        output_conv_kernels: also return conv_kernels, a tuple of L arrays [B, T, H, K]: the weights with which each
            convolution head mixes a token's neighbours; they sum to 1.
            Every combination of these outputs, with head_mask or inputs_embeds or without, is compiled on first use.
        out: results are written to these C-contiguous float32 arrays, by name (hidden_states and the like: a tuple of
            arrays), such as a ModelOutput of an earlier call with the same shapes; names may be missing.

        Returns a ModelOutput of float32 arrays, named as in transformers: last_hidden_state [B, T, D], logits [B, C],
        [B, T, C], [B, T, V] or [B, choices], or start_logits and end_logits [B, T]; of BERT also pooler_output [B, D],
            or prediction_logits [B, T, V] and seq_relationship_logits [B, 2].
        Raises ValueError, before anything is computed, naming the argument, what it needs and what was found; Error if
        the machine fails (no memory for the batch).
        """
        name, value = choose_input(self._manifest, input_ids, inputs_embeds, encoder_input)
        wanted = (output_hidden_states, output_attentions, output_conv_kernels)
        extras = [name for name, value in zip(EXTRA_OUTPUTS, wanted) if flag(f"output_{name}", value)]
        call = bind(self._manifest, name, value, attention_mask, token_type_ids, position_ids, self.padding == "exact")
        if head_mask is not None:
            call.arguments.update(head_masks(self._manifest, head_mask))
            extras.append("head_mask")
        if name == "inputs_embeds":
            extras.append(name)
        outputs: dict[str, Any] = dict(self._entry(tuple(extras)).run(call, None if out is None else _flatten(out)))
        for extra in extras:
            parts = [part for part in outputs if part.startswith(f"{extra}.")]
            if extra in EXTRA_OUTPUTS:
                outputs[extra] = tuple(outputs.pop(part) for part in parts)
        return ModelOutput(outputs)

    def summary(self) -> str:
        """A table of what the model is, for reading."""
        return summarize(self)

    def cost(self, batch: int, length: int) -> Cost:
        """What one call on `batch` sequences of `length` tokens takes: multiply-accumulates in all and by operation,
        and bytes of weights that are read."""
        if self._cost is None:
            self._cost = self._source.cost()
        return evaluate(self._cost, batch, length, self.max_positions, self._entries[()].runtime.packed_bytes)

    @property
    def config(self) -> dict[str, Any]:
        """The checkpoint's config.json."""
        if self._config is None:
            self._config = self._source.config()
        return self._config

    @property
    def model_class(self) -> str:
        """Name of the transformers class, such as "ConvBertForSequenceClassification" or "BertModel"."""
        return self._manifest["model_class"]

    @property
    def max_positions(self) -> int | None:
        """Tokens that a sequence may have; None without a limit (layers without embeddings)."""
        return self._manifest.get("max_positions")

    @property
    def labels(self) -> list[str]:
        """Names of the classes in the order of the logits; [] for models without."""
        return list(self._manifest.get("labels", []))

    @property
    def inputs(self) -> list[dict[str, Any]]:
        """[{"name", "dtype", "shape"}] of the arguments; "B" and "T" stand for the batch's sizes."""
        return self._manifest["inputs"]

    @property
    def outputs(self) -> list[dict[str, Any]]:
        """[{"name", "dtype", "shape"}] of what a plain call returns."""
        return self._manifest["outputs"]

    @property
    def parameters(self) -> list[dict[str, Any]]:
        """[{"name", "dtype", "shape"}] of the weights in use."""
        return self._manifest["parameters"]

    @property
    def notes(self) -> list[str]:
        """What the importer wants known, one line each: tensors it ignored, the rule of the head widths."""
        return list(self._entries[()].notes)

    @property
    def compile_count(self) -> int:
        """Sets of outputs compiled (or found in the cache) so far; shapes never add to it."""
        return len(self._entries)

    @property
    def threads(self) -> int:
        """Threads of a call."""
        return self._entries[()].runtime.threads

    @property
    def isa(self) -> str:
        """Instruction set of the compiled code: "generic", "avx2", "avx512" or "avx512bf16"."""
        return self._entries[()].isa

    @property
    def weights(self) -> str:
        """What the weights of matrix products are stored as, "f32" or "bf16"."""
        return self._entries[()].weights

    @property
    def dtype(self) -> str:
        """What matrix products multiply, "float32" or "bfloat16"."""
        return self._entries[()].dtype

    @property
    def timings(self) -> dict[str, Any]:
        """Milliseconds of loading the plain entry (import_ms, compile_ms, phases_ms, prepack_ms, load_ms), and `cached`."""
        return dict(self._entries[()].timings)

    @property
    def packed_bytes(self) -> int:
        """Bytes of packed weights in memory."""
        runtimes = [entry.runtime for entry in self._entries.values()]
        blocks = {runtime.packed.__array_interface__["data"][0]: runtime.packed_bytes for runtime in runtimes}
        return sum(blocks.values())

    @property
    def workspace_bytes(self) -> int:
        """Bytes that the workspaces of all calls hold."""
        return sum(entry.runtime.workspace_bytes for entry in self._entries.values())

    def __repr__(self) -> str:
        return f"<{self.model_class} from {self.path}>"


def _flatten(out: Any) -> dict[str, Any]:
    """out= with a name for each array: hidden_states.0, ..."""
    if not isinstance(out, (Mapping, ModelOutput)):
        raise ValueError(f"out: requires arrays by name, but found a {type(out).__name__}")
    flat: dict[str, Any] = {}
    for name, value in out.items():
        if isinstance(value, (tuple, list)):
            flat.update({f"{name}.{index}": array for index, array in enumerate(value)})
        else:
            flat[name] = value
    return flat


_models: weakref.WeakSet[Model] = weakref.WeakSet()


def _after_fork() -> None:
    # A thread that held a lock, to compile another set of outputs, does not exist in the child.
    for model in _models:
        model._lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
