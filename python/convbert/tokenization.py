"""The checkpoint's own tokenizer, by the `tokenizers` library."""

import json
import os

from .errors import Error


def load_tokenizer(path):
    """The tokenizer of the checkpoint directory `path`: tokenizer.json, else vocab.txt as BERT's WordPiece.

    Padding and truncation that the file asks for are turned off. Raises Error with one line if there is none or it
    cannot be read.
    """
    try:
        from tokenizers import BertWordPieceTokenizer, Tokenizer
    except ImportError:
        raise Error("requires the Python package tokenizers for text; install it: pip install tokenizers") from None
    file, vocab = os.path.join(path, "tokenizer.json"), os.path.join(path, "vocab.txt")
    try:
        if os.path.exists(file):
            tokenizer = Tokenizer.from_file(file)
        elif os.path.exists(vocab):
            options = tokenizer_config(path)
            lower = bool(options.get("do_lower_case", True))
            tokenizer = BertWordPieceTokenizer(
                vocab,
                lowercase=lower,
                strip_accents=options.get("strip_accents"),
                handle_chinese_chars=bool(options.get("tokenize_chinese_chars", True)),
                **{name: options[name] for name in ("unk_token", "sep_token", "cls_token", "pad_token", "mask_token")
                   if isinstance(options.get(name), str)})
        else:
            raise Error(f"requires tokenizer.json or vocab.txt in {path} for text, but found neither")
    except Error:
        raise
    except Exception as error:  # the library raises bare Exception
        raise Error(f"the tokenizer in {path} cannot be read: {str(error).splitlines()[0]}") from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def tokenizer_config(path):
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


def special_token(path, tokenizer, name, default):
    """Text and id of a special token such as "mask_token"; the id is None if the vocabulary lacks it."""
    text = tokenizer_config(path).get(name, default)
    if isinstance(text, dict):
        text = text.get("content", default)
    return text, tokenizer.token_to_id(text)
