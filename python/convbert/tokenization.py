"""The checkpoint's own tokenizer, by the `tokenizers` library."""

from __future__ import annotations

import json
import os
from typing import Any

from .errors import Error

_TOKENS = ("unk_token", "sep_token", "cls_token", "pad_token", "mask_token", "bos_token", "eos_token")


def load_tokenizer(path: str | os.PathLike[str]) -> Any:
    """The tokenizer of the checkpoint directory `path`: tokenizer.json, else vocab.txt as BERT's WordPiece, else
    vocab.json and merges.txt as byte-level BPE; tokenizer_config.json says how to treat case and accents.

    Padding and truncation that the file asks for are turned off. Raises Error with one line if there is none or it
    cannot be read.
    """
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise Error("requires the Python package tokenizers for text; install it: pip install tokenizers") from None

    def place(name: str) -> str:
        return os.path.join(path, name)

    options = tokenizer_config(path)
    try:
        if os.path.exists(place("tokenizer.json")):
            tokenizer = Tokenizer.from_file(place("tokenizer.json"))
        elif os.path.exists(place("vocab.txt")):
            tokenizer = _wordpiece(place("vocab.txt"), options)
        elif os.path.exists(place("vocab.json")) and os.path.exists(place("merges.txt")):
            tokenizer = _byte_level(place("vocab.json"), place("merges.txt"), options)
        else:
            raise Error(f"requires tokenizer.json, vocab.txt, or vocab.json with merges.txt in {os.fspath(path)} for "
                        "text, but found none of them")
    except Error:
        raise
    except Exception as error:  # the library raises bare Exception
        raise Error(f"the tokenizer in {os.fspath(path)} cannot be read: {str(error).splitlines()[0]}") from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _wordpiece(vocab: str, options: dict[str, Any]) -> Any:
    from tokenizers import BertWordPieceTokenizer

    named = {name: _text(options.get(name)) for name in _TOKENS[:5]}
    return BertWordPieceTokenizer(
        vocab,
        lowercase=bool(options.get("do_lower_case", True)),
        strip_accents=options.get("strip_accents"),  # three states: None means as lowercase says
        handle_chinese_chars=bool(options.get("tokenize_chinese_chars", True)),
        **{name: text for name, text in named.items() if text})


def _byte_level(vocab: str, merges: str, options: dict[str, Any]) -> Any:
    from tokenizers import ByteLevelBPETokenizer
    from tokenizers.processors import BertProcessing, RobertaProcessing

    prefix = bool(options.get("add_prefix_space", False))
    tokenizer = ByteLevelBPETokenizer(vocab, merges, add_prefix_space=prefix,
                                      lowercase=bool(options.get("do_lower_case", False)))
    named = [_text(options.get(name)) for name in _TOKENS]
    known = [token for token in (*named, "<s>", "</s>", "<pad>", "<unk>", "<mask>", "[CLS]", "[SEP]", "[PAD]", "[UNK]",
                                 "[MASK]") if token and tokenizer.token_to_id(token) is not None]
    tokenizer.add_special_tokens(list(dict.fromkeys(known)))
    pairs = [(_text(options.get("cls_token")) or _text(options.get("bos_token")),
              _text(options.get("sep_token")) or _text(options.get("eos_token"))), ("<s>", "</s>"), ("[CLS]", "[SEP]")]
    for first, last in pairs:
        if first in known and last in known:
            ends = (last, tokenizer.token_to_id(last)), (first, tokenizer.token_to_id(first))
            # Two kinds of models: those that end the first text of a pair once, and those that do so twice.
            tokenizer._tokenizer.post_processor = (
                RobertaProcessing(*ends, trim_offsets=True, add_prefix_space=prefix) if first == "<s>"
                else BertProcessing(*ends))
            break
    return tokenizer


def _text(token: Any) -> str | None:
    """A special token of a configuration: a string, or a dictionary with its content."""
    if isinstance(token, dict):
        token = token.get("content")
    return token if isinstance(token, str) else None


def tokenizer_config(path: str | os.PathLike[str]) -> dict[str, Any]:
    """tokenizer_config.json as a dictionary; {} without the file."""
    file = os.path.join(path, "tokenizer_config.json")
    if not os.path.exists(file):
        return {}
    try:
        with open(file, encoding="utf-8") as stream:
            options = json.load(stream)
    except (OSError, ValueError) as error:
        raise Error(f"{file} cannot be read: {str(error).splitlines()[0]}") from None
    return options if isinstance(options, dict) else {}


def special_token(path: str | os.PathLike[str], tokenizer: Any, name: str, default: str) -> tuple[str, int | None]:
    """Text and id of a special token such as "mask_token"; the id is None if the vocabulary lacks it."""
    text = _text(tokenizer_config(path).get(name))
    if text is None:
        angled = f"<{default.strip('[]').lower()}>"
        known = [name for name in (default, angled) if tokenizer.token_to_id(name) is not None]
        text = known[0] if known else default
    return text, tokenizer.token_to_id(text)
