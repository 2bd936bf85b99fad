"""Tokenizers from the files of old and new checkpoints: WordPiece from vocab.txt alone, byte-level BPE."""

import json

import pytest

from checkpoints import DEMO
from convbert import Error
from convbert.tokenization import load_tokenizer, special_token
from stored_cases import folder, rows


@pytest.mark.parametrize("pair", rows("tokens"),
                         ids=lambda pair: f"{pair[0]}-{pair[1]['dir']}-{pair[1]['text'][:20]!r}")
def test_wordpiece_from_vocabulary_alone(pair):
    case_id, row = pair
    encoding = load_tokenizer(folder() / case_id / row["dir"]).encode(row["text"], row.get("pair"))
    assert encoding.tokens == row["tokens"]
    assert encoding.ids == row["input_ids"]
    assert encoding.type_ids == row["token_type_ids"]


def write_byte_level(directory, specials, config=None):
    """A vocabulary of all bytes with three merges, as RoBERTa's files."""
    from tokenizers.pre_tokenizers import ByteLevel

    vocabulary = [*specials, *sorted(ByteLevel.alphabet()), "he", "ll", "hell", "\u0120w"]
    numbers = {token: i for i, token in enumerate(vocabulary)}
    (directory / "vocab.json").write_text(json.dumps(numbers), encoding="utf-8")
    (directory / "merges.txt").write_text("#version: 0.2\nh e\nl l\nhe ll\n\u0120 w\n", encoding="utf-8")
    if config:
        (directory / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")


def test_byte_level(tmp_path):
    write_byte_level(tmp_path, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    tokenizer = load_tokenizer(tmp_path)
    assert tokenizer.encode("hello wo").tokens == ["<s>", "hell", "o", "\u0120w", "o", "</s>"]
    assert tokenizer.encode("h", "e").tokens == ["<s>", "h", "</s>", "</s>", "e", "</s>"]
    text = "naïve \u4e2d\u6587 \U0001f600\t\n end"
    assert tokenizer.decode(tokenizer.encode(text).ids) == text  # bytes lose nothing
    assert tokenizer.encode("a<mask>b").tokens[2] == "<mask>"
    assert special_token(tmp_path, tokenizer, "mask_token", "[MASK]") == ("<mask>", 4)


def test_byte_level_with_other_names_and_a_prefix_space(tmp_path):
    config = {"cls_token": "[CLS]", "sep_token": {"content": "[SEP]"}, "add_prefix_space": True}
    write_byte_level(tmp_path, ["[PAD]", "[CLS]", "[SEP]", "[MASK]"], config)
    tokenizer = load_tokenizer(tmp_path)
    assert tokenizer.encode("wo").tokens == ["[CLS]", "\u0120w", "o", "[SEP]"]
    assert tokenizer.encode("h", "h").type_ids == [0, 0, 0, 0, 1, 1, 1]
    assert special_token(tmp_path, tokenizer, "mask_token", "[MASK]") == ("[MASK]", 3)


def test_vocabulary_alone_equals_the_full_file(tmp_path):
    """The demo's own texts with tokenizer.json and with vocab.txt."""
    for name in ("vocab.txt", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((DEMO / "langid" / name).read_bytes())
    one, two = load_tokenizer(DEMO / "langid"), load_tokenizer(tmp_path)
    with open(DEMO / "eval.jsonl", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in list(file)[:200]]
    for text in texts:
        assert one.encode(text).ids == two.encode(text).ids


def test_refusals(tmp_path):
    with pytest.raises(Error, match="requires tokenizer.json, vocab.txt, or vocab.json with merges.txt in"):
        load_tokenizer(tmp_path)
    (tmp_path / "vocab.json").write_text("[]")
    (tmp_path / "merges.txt").write_text("")
    with pytest.raises(Error, match="the tokenizer in .* cannot be read: "):
        load_tokenizer(tmp_path)
