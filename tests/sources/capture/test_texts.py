"""Tokenizers of every family: pieces, their place in the text, padding, and what a vocabulary does not know."""

from __future__ import annotations

import pytest

from jumok.errors import InputError
from jumok.picture.labels import labels_of
from jumok.sources.capture.texts import encoded, tokens_of, word_of
from small_tokenizers import Plain, byte_level, letters, of_transformers, unigram, word_pieces

MARKS = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
CAT = "The cat sat because it was tired."


def shown(tokens, sentence):
    return [label.text for label in labels_of(tokens, sentence)]


def at_their_place(tokens, sentence):
    return [None if token.span is None else sentence[slice(*token.span)].strip() for token in tokens]


def test_word_pieces():
    given = encoded(of_transformers(word_pieces(), **MARKS), [CAT])
    assert [token.text for token in given.tokens[0]][:6] == ["[CLS]", "the", "cat", "sat", "be", "##cause"]
    assert at_their_place(given.tokens[0], CAT) == [
        None, "The", "cat", "sat", "be", "cause", "it", "was", "tired", ".", None,
    ]  # fmt: skip
    assert given.special
    assert given.unknown == [0.0]


def test_what_the_vocabulary_does_not_know_is_counted():
    tokenizer = of_transformers(word_pieces(), **MARKS)
    assert encoded(tokenizer, ["the 은행 cat"]).unknown[0] == pytest.approx(1 / 3)
    assert encoded(word_pieces(), ["the 은행 cat"]).unknown[0] == pytest.approx(1 / 3)
    assert encoded(tokenizer, ["the cat", "은행"]).unknown == [0.0, 1.0], "padding is no text"


def test_bytes_of_hangul_and_emoji_are_shown_as_characters_with_their_place():
    text = "the 은행 👍"
    given = encoded(of_transformers(byte_level()), [text])
    some = labels_of(given.tokens[0], text)
    assert "".join(label.text for label in some if label.part == 1) == "the␣은행␣👍"
    assert {label.parts for label in some if "행" in label.text} == {3}
    assert not any(mark in label.text for label in some for mark in "Ġ▁�")
    places = {
        text[slice(*token.span)].strip()
        for token, label in zip(given.tokens[0], some, strict=True)
        if "행" in label.text
    }
    assert places == {"행"}


def test_unigram_pieces():
    text = "the cat sat"
    given = encoded(of_transformers(unigram(), unk_token="<unk>"), [text])
    assert "▁" in "".join(token.text for token in given.tokens[0])
    assert "".join(shown(given.tokens[0], text)).replace("␣", " ").strip() == text
    assert all(token.span is not None for token in given.tokens[0])


@pytest.mark.parametrize("wrapped", [True, False])
def test_letters(wrapped):
    text = "은행에 갔다"
    tokenizer = of_transformers(letters(), unk_token="[UNK]") if wrapped else letters()
    given = encoded(tokenizer, [text])
    assert [token.text for token in given.tokens[0]] == list(text)
    assert [token.span for token in given.tokens[0]] == [(at, at + 1) for at in range(len(text))]


def test_a_tokenizer_of_tokenizers():
    given = encoded(word_pieces(), [CAT])
    assert given.tokens[0][0].span is None
    assert at_their_place(given.tokens[0], CAT)[1:3] == ["The", "cat"]
    assert set(given.inputs) == {"input_ids"}


def test_anything_with_encode_and_decode():
    given = encoded(Plain("abc "), ["ab ca"])
    assert [token.text for token in given.tokens[0]] == list("ab ca")
    assert [token.span for token in given.tokens[0]] == [(at, at + 1) for at in range(5)]
    assert given.inputs["input_ids"].tolist() == [[0, 1, 3, 2, 0]]
    assert not given.special


@pytest.mark.parametrize("wrapped", [True, False])
def test_a_batch_is_padded_and_says_what_is_padding(wrapped):
    tokenizer = of_transformers(word_pieces(), **MARKS) if wrapped else word_pieces()
    given = encoded(tokenizer, ["the cat", CAT])
    assert [sum(row) for row in given.real] == [4, 11]
    assert given.inputs["attention_mask"].sum().item() == 15


def test_a_tokenizer_is_left_as_it_was():
    lent = of_transformers(byte_level(), eos_token="<|end|>")
    encoded(lent, ["a", "the cat"])
    assert lent.pad_token is None
    plain = word_pieces()
    encoded(plain, ["the", "the cat"])
    assert plain.padding is None


def test_a_word_reads_as_text_or_as_bytes():
    tokenizer = of_transformers(byte_level())
    word = word_of(tokenizer)
    said = [word(one) for one in tokenizer("a cat은")["input_ids"]]
    assert "".join(said[:-3]) == "a cat"
    assert said[-3:] == ["EC", "9D", "80"]
    assert word_of(Plain("abc "))(1) == "b"


@pytest.mark.parametrize("tokenizer", [of_transformers(word_pieces(), **MARKS), word_pieces()])
def test_pieces_by_number(tokenizer):
    assert [token.text for token in tokens_of(tokenizer, [4, 5])] == ["the", "cat"]
    assert [token.text for token in tokens_of(Plain("ab"), [1, 0])] == ["b", "a"]


# refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", None, 3])
def test_what_is_no_text_is_refused(text):
    with pytest.raises(InputError, match="a text that is not empty") as told:
        encoded(word_pieces(), [text])
    assert "비어 있지 않은 글" in told.value.ko


def test_what_is_no_tokenizer_is_refused():
    with pytest.raises(InputError, match="an object with encode and decode, got int"):
        encoded(3, ["a"])


def test_texts_of_other_lengths_need_padding():
    with pytest.raises(InputError, match="a tokenizer that pads"):
        encoded(Plain("ab"), ["a", "ab"])


@pytest.mark.parametrize("text", ["x\ud800y", "\udfff"])
@pytest.mark.parametrize("tokenizer", [word_pieces(), of_transformers(byte_level()), Plain("xy")])
def test_half_a_character_is_refused(tokenizer, text):
    with pytest.raises(InputError, match="half of one") as told:
        encoded(tokenizer, ["x", text])
    assert "글자의 반쪽" in told.value.ko
    told.value.text("en").encode("utf-8")
