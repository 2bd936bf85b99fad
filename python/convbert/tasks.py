"""What a model says about text, one function a class of model; each returns plain dictionaries for printing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import Error
from .model import Model
from .tokenization import special_token

Result = dict[str, Any]


def softmax(logits: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Probabilities over the last axis, in float64."""
    shifted = np.asarray(logits, np.float64)
    shifted = np.exp(shifted - shifted.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def _call(model: Model, encoding: Any) -> Any:
    return model([encoding.ids], token_type_ids=[_types(model, encoding)])


def _types(model: Model, encoding: Any) -> list[int]:
    """Token types, within what the model has: tokenizers of another family number pairs too."""
    last = model._manifest["type_vocab_size"] - 1
    return [min(kind, last) for kind in encoding.type_ids]


def _label(model: Model, index: int) -> str:
    labels = model.labels
    return labels[index] if index < len(labels) else f"LABEL_{index}"


def classify(model: Model, tokenizer: Any, text: str, pair: str | None) -> Result:
    """All labels with their probabilities, the most probable first."""
    probabilities = softmax(_call(model, tokenizer.encode(text, pair)).logits[0])
    order = np.argsort(-probabilities, kind="stable")
    return {"labels": [{"label": _label(model, int(i)), "probability": float(probabilities[i])} for i in order]}


def fill_mask(model: Model, tokenizer: Any, text: str, pair: str | None, count: int = 5) -> Result:
    """For each blank, the `count` most probable tokens."""
    mask, mask_id = special_token(model.path, tokenizer, "mask_token", "[MASK]")
    encoding = tokenizer.encode(text, pair)
    blanks = [i for i, token in enumerate(encoding.ids) if token == mask_id]
    if not blanks:
        raise Error(f"requires at least one {mask} in the text, but found none: {text!r}")
    logits = _call(model, encoding).logits[0]
    result = []
    for blank in blanks:
        probabilities = softmax(logits[blank])
        best = np.argsort(-probabilities, kind="stable")[:count]
        result.append({"position": blank, "guesses": [
            {"id": int(i), "token": tokenizer.id_to_token(int(i)), "logit": float(logits[blank, i]),
             "probability": float(probabilities[i])} for i in best]})
    return {"blanks": result}


def label_tokens(model: Model, tokenizer: Any, text: str, pair: str | None) -> Result:
    """Each token with its most probable label."""
    encoding = tokenizer.encode(text, pair)
    probabilities = softmax(_call(model, encoding).logits[0])
    best = probabilities.argmax(axis=-1)
    return {"tokens": [{"token": token, "label": _label(model, int(i)), "probability": float(row[i])}
                       for token, i, row in zip(encoding.tokens, best, probabilities)]}


def answer_span(model: Model, tokenizer: Any, text: str, pair: str | None) -> Result:
    """The most probable first and last token of the answer; with a pair (question, context), also the answer itself:
    the most probable span of the context, of at most 30 tokens."""
    encoding = tokenizer.encode(text, pair)
    out = _call(model, encoding)
    result: Result = {}
    both = {name: softmax(out[name + "_logits"][0]) for name in ("start", "end")}
    for name, probabilities in both.items():
        index = int(probabilities.argmax())
        result[name] = {"position": index, "token": encoding.tokens[index], "probability": float(probabilities[index])}
    context = [i for i, sequence in enumerate(encoding.sequence_ids) if sequence == 1]
    if pair is not None and context:
        spans = ((both["start"][i] * both["end"][j], i, j) for i in context for j in context if i <= j < i + 30)
        probability, first, last = max(spans, key=lambda span: span[0])
        begin, end = encoding.offsets[first][0], encoding.offsets[last][1]
        result["answer"] = {"text": pair[begin:end], "start": begin, "end": end, "probability": float(probability)}
    return result


def choose(model: Model, tokenizer: Any, choices: Sequence[str], question: str | None = None) -> Result:
    """The choices (of a question, if there is one) with their probabilities; shorter ones are padded on the right."""
    encodings = [tokenizer.encode(choice) if question is None else tokenizer.encode(question, choice)
                 for choice in choices]
    pad = special_token(model.path, tokenizer, "pad_token", "[PAD]")[1] or 0
    length = max(len(encoding.ids) for encoding in encodings)

    def rows(values: Iterable[Sequence[int]], fill: int) -> list[list[list[int]]]:
        return [[list(row) + [fill] * (length - len(row)) for row in values]]

    out = model(rows((e.ids for e in encodings), pad), rows((e.attention_mask for e in encodings), 0),
                rows((_types(model, e) for e in encodings), 0))
    return {"choices": [{"text": text, "probability": float(p)} for text, p in zip(choices, softmax(out.logits[0]))]}


def encode(model: Model, tokenizer: Any, text: str, pair: str | None) -> Result:
    """Shape of the last hidden state and the norm of its first row."""
    hidden = _call(model, tokenizer.encode(text, pair)).last_hidden_state
    return {"shape": list(hidden.shape), "norm": float(np.linalg.norm(hidden[0, 0].astype(np.float64)))}


#: By the end of the class's name, which is the same in all families.
TASKS: dict[str, Callable[[Model, Any, str, str | None], Result]] = {
    "ForSequenceClassification": classify,
    "ForMaskedLM": fill_mask,
    "ForTokenClassification": label_tokens,
    "ForQuestionAnswering": answer_span,
    "Model": encode,
}


def _task(model: Model) -> Callable[[Model, Any, str, str | None], Result]:
    """What to do with text; Error for a class that has no such task."""
    for suffix, task in TASKS.items():
        if model.model_class.endswith(suffix):
            return task
    raise Error(f"requires a class that ends in one of {', '.join(TASKS)} for text, but found {model.model_class}")


def run_record(model: Model, tokenizer: Any, record: Result, where: str) -> Result:
    """A record with "text" (and, for pairs, "pair") or, for multiple choice, "choices" (and "text", the question), with
    what the model says about it added. Raises Error naming `where` the record is from if it lacks a field."""
    def field(name: str, kind: type = str, required: bool = True) -> Any:
        value = record.get(name)
        if value is None and not required:
            return None
        if not isinstance(value, kind):
            found = "none" if value is None else f"a {type(value).__name__}"
            raise Error(f"{where}: requires {'a string' if kind is str else 'strings'} in the field {name!r}, but "
                        f"found {found}")
        return value

    try:
        if model.model_class.endswith("ForMultipleChoice"):
            choices = field("choices", list)
            if not choices or not all(isinstance(choice, str) for choice in choices):
                raise Error(f"{where}: requires strings in the field 'choices', but found {choices!r}")
            return {**record, **choose(model, tokenizer, choices, field("text", required=False))}
        return {**record, **_task(model)(model, tokenizer, field("text"), field("pair", required=False))}
    except ValueError as error:
        raise Error(f"{where}: {error}") from None


def run_records(model: Model, tokenizer: Any, records: Iterable[Result], name: str) -> Iterator[Result]:
    """run_record() for each; every record is run by itself, so its result does not depend on the others."""
    for number, record in enumerate(records, 1):
        yield run_record(model, tokenizer, record, f"{name}:{number}")


def run_texts(model: Model, tokenizer: Any, texts: Sequence[str], pair: str | None = None) -> list[Result]:
    """One dictionary for each text (for multiple choice: one for all, `pair` being the question), with the text itself
    under "text". Raises ValueError or Error with one line."""
    if model.model_class.endswith("ForMultipleChoice"):
        return [choose(model, tokenizer, texts, pair)]
    task = _task(model)
    extra = {} if pair is None else {"pair": pair}
    return [{"text": text, **extra, **task(model, tokenizer, text, pair)} for text in texts]
