"""What a model says about text, one function a class of model; each returns plain dictionaries for printing."""

import numpy as np

from .errors import Error
from .tokenization import special_token


def softmax(logits):
    """Probabilities over the last axis, in float64."""
    shifted = np.asarray(logits, np.float64)
    shifted = np.exp(shifted - shifted.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def _call(model, encoding):
    return model([encoding.ids], token_type_ids=[encoding.type_ids])


def _label(model, index):
    labels = model.labels
    return labels[index] if index < len(labels) else f"LABEL_{index}"


def classify(model, tokenizer, text):
    """All labels with their probabilities, the most probable first."""
    probabilities = softmax(_call(model, tokenizer.encode(text)).logits[0])
    order = np.argsort(-probabilities, kind="stable")
    return {"labels": [{"label": _label(model, int(i)), "probability": float(probabilities[i])} for i in order]}


def fill_mask(model, tokenizer, text, count=5):
    """For each blank, the `count` most probable tokens."""
    mask, mask_id = special_token(model.path, tokenizer, "mask_token", "[MASK]")
    encoding = tokenizer.encode(text)
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


def label_tokens(model, tokenizer, text):
    """Each token with its most probable label."""
    encoding = tokenizer.encode(text)
    probabilities = softmax(_call(model, encoding).logits[0])
    best = probabilities.argmax(axis=-1)
    return {"tokens": [{"token": token, "label": _label(model, int(i)), "probability": float(row[i])}
                       for token, i, row in zip(encoding.tokens, best, probabilities)]}


def answer_span(model, tokenizer, text):
    """The most probable first and last token of the answer."""
    encoding = tokenizer.encode(text)
    out = _call(model, encoding)
    result = {}
    for name in ("start", "end"):
        probabilities = softmax(out[name + "_logits"][0])
        index = int(probabilities.argmax())
        result[name] = {"position": index, "token": encoding.tokens[index], "probability": float(probabilities[index])}
    return result


def choose(model, tokenizer, texts):
    """The texts as choices of one question, with their probabilities; shorter ones are padded on the right."""
    encodings = [tokenizer.encode(text) for text in texts]
    pad = special_token(model.path, tokenizer, "pad_token", "[PAD]")[1] or 0
    length = max(len(encoding.ids) for encoding in encodings)

    def rows(field, fill):
        return [[list(getattr(e, field)) + [fill] * (length - len(e.ids)) for e in encodings]]

    out = model(rows("ids", pad), rows("attention_mask", 0), rows("type_ids", 0))
    return {"choices": [{"text": text, "probability": float(p)} for text, p in zip(texts, softmax(out.logits[0]))]}


def encode(model, tokenizer, text):
    """Shape of the last hidden state and the norm of its first row."""
    hidden = _call(model, tokenizer.encode(text)).last_hidden_state
    return {"shape": list(hidden.shape), "norm": float(np.linalg.norm(hidden[0, 0].astype(np.float64)))}


TASKS = {
    "ConvBertForSequenceClassification": classify,
    "ConvBertForMaskedLM": fill_mask,
    "ConvBertForTokenClassification": label_tokens,
    "ConvBertForQuestionAnswering": answer_span,
    "ConvBertModel": encode,
}


def run_texts(model, tokenizer, texts):
    """One dictionary for each text (for multiple choice: one for all), with the text itself under "text".

    Every text is run by itself, so its result does not depend on the others.
    """
    if model.model_class == "ConvBertForMultipleChoice":
        return [choose(model, tokenizer, texts)]
    task = TASKS.get(model.model_class)
    if task is None:
        raise Error(f"requires one of {', '.join(TASKS)} for text, but found {model.model_class}")
    return [{"text": text, **task(model, tokenizer, text)} for text in texts]
