"""Labels: a reader sees characters, never the way a tokenizer writes them."""

import json
import re
import unicodedata

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import jumok
from jumok import words
from jumok.picture.labels import Label, labels, labels_of, names, readable
from jumok.trace import Token

NEVER = ("�", "Ġ", "▁", "Ċ", "##")


def byte_letters():
    """The alphabet of GPT-2: bytes that print stand for themselves, the others for letters from U+0100 on."""
    own = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 400))
    return [chr(byte) if byte in own else chr(next(others)) for byte in range(256)]


LETTERS = byte_letters()


def written(*pieces):
    """Pieces of bytes as a byte-level tokenizer writes them."""
    return ["".join(LETTERS[byte] for byte in piece) for piece in pieces]


def cut(text, *places):
    data = text.encode()
    return [data[a:b] for a, b in zip((0, *places), (*places, len(data)), strict=True)]


def texts(*given, **options):
    return [label.text for label in labels_of(*given, **options)]


def seen(text):
    return text.replace(" ", "␣") if text.isspace() else words.shown(text)


def parts(*given, **options):
    return [(label.text, label.part, label.parts, label.raw) for label in labels_of(*given, **options)]


# bytes --------------------------------------------------------------------------------------------


def test_the_helper_writes_as_gpt2_does():
    assert written(b" world\n", "책".encode()) == ["ĠworldĊ", "ì±ħ"]


def test_a_syllable_over_three_tokens_with_the_space_before_it():
    row = written(*cut("나는 책을", 1, 3, 6, 8, 9, 10))
    assert row[3] == "Ġì"
    assert parts(row) == [
        ("나", 1, 2, "EB"),
        ("나", 2, 2, "82 98"),
        ("는", 1, 1, None),
        ("␣책", 1, 3, "20 EC"),
        ("␣책", 2, 3, "B1"),
        ("␣책", 3, 3, "85"),
        ("을", 1, 1, None),
    ]


def test_an_emoji_over_several_tokens():
    assert parts(written(*cut("Hi 😀!", 2, 5, 6, 7))) == [
        ("Hi", 1, 1, None),
        ("␣😀", 1, 3, "20 F0 9F"),
        ("␣😀", 2, 3, "98"),
        ("␣😀", 3, 3, "80"),
        ("!", 1, 1, None),
    ]


def test_a_token_that_ends_one_character_and_begins_the_next_joins_both():
    assert parts(written(*cut("책을", 2, 4))) == [
        ("책을", 1, 3, "EC B1"),
        ("책을", 2, 3, "85 EC"),
        ("책을", 3, 3, "9D 84"),
    ]


@pytest.mark.parametrize(
    ("row", "seen"),
    [
        (["Hello", "Ġworld"], ["Hello", "␣world"]),
        (["def", "Ċ", "ĠĠĠ", "ĉ", "x", ";Ċ"], ["def", "⏎", "␣␣␣", "⇥", "x", ";⏎"]),
        (written(b"caf", "é".encode(), b" ok"), ["caf", "é", "␣ok"]),
        (["<|endoftext|>", "The", "Ġcat", "<|im_end|>"], ["<|endoftext|>", "The", "␣cat", "<|im_end|>"]),
    ],
)
def test_rows_of_bytes(row, seen):
    assert texts(row) == seen


def test_a_cut_text_shows_the_hex_of_what_never_became_a_character():
    begun, ended = cut("책", 1)
    assert parts(written(ended, b" cat", b" " + begun)) == [
        ("B185", 1, 1, "B1 85"),
        ("␣cat", 1, 1, None),
        ("␣EC", 1, 1, "20 EC"),
    ]


def test_characters_do_not_reach_over_a_special_token():
    first, second = cut("책", 1)
    row = [*written(b" a", first), "<|endoftext|>", *written(second)]
    assert [(label.text, label.parts, label.special) for label in labels_of(row)] == [
        ("␣a", 1, False),
        ("EC", 1, False),
        ("<|endoftext|>", 1, True),
        ("B1 85".replace(" ", ""), 1, False),
    ]


@pytest.mark.parametrize(
    "row",
    [
        ["café", "ñandú", "Übung"],
        ["é"],
        ["Łódź", "jest"],
        ["ĉu", "vi", "parolas"],
        ["Ġgantija", "hija", "antika"],
        ["Il-Ġgantija", "hija"],
        ["Ġgantija", "u", "Għawdex"],
        ["Ġgantija", "ġewwa"],
        ["Ġgantija", "한글"],
    ],
)
def test_letters_of_prose_stay(row):
    assert texts(row) == row


def test_a_sentence_that_says_the_tokens_letter_by_letter_is_prose():
    assert texts(["Il", "Ġgantija"], sentence="Il Ġgantija hija antika") == ["Il", "Ġgantija"]
    assert texts(["Il", "Ġgantija"], sentence="Il gantija hija antika") == ["Il", "␣gantija"]
    assert texts(["a", "▁"], sentence="a ▁ b") == ["a", "▁"]
    assert texts(["##", "##Title"], sentence="## ##Title") == ["##", "##Title"]


@given(st.text(min_size=1, max_size=30), st.sets(st.integers(2, 60), max_size=12))
def test_any_text_in_any_pieces_shows_its_own_characters(text, places):
    """Never a sign of the tokenizer; parts count from 1 to parts; a space begins a piece, as tokenizers have it."""
    text = "a b" + "".join(letter for letter in text if letter.isprintable() and letter not in "ĠĊ▁#")
    data = text.encode()
    places = {at for at in places if at < len(data)} | {at for at, byte in enumerate(data) if byte == ord(" ")}
    labels = labels_of(written(*cut(text, *sorted(places))))
    assert not [label for label in labels if any(sign in label.text for sign in NEVER)]
    shown = ""
    at = 0
    while at < len(labels):
        group = labels[at : at + labels[at].parts]
        assert [label.part for label in group] == list(range(1, len(group) + 1))
        assert len({label.text for label in group}) == 1
        shown += group[0].text
        at += len(group)
    whole = "".join(map(seen, re.findall(r" +|[^ ]+", text)))
    assert unicodedata.normalize("NFC", shown) == unicodedata.normalize("NFC", whole)


# SentencePiece and WordPiece ----------------------------------------------------------------------


def test_sentencepiece_spaces_and_bytes():
    row = ["<s>", "▁나는", "▁", "<0xEC>", "<0xB1>", "<0x85>", "을", "<0x0A>", "</s>"]
    assert parts(row) == [
        ("<s>", 1, 1, None),
        ("␣나는", 1, 1, None),
        ("␣", 1, 1, None),
        ("책", 1, 3, "EC"),
        ("책", 2, 3, "B1"),
        ("책", 3, 3, "85"),
        ("을", 1, 1, None),
        ("⏎", 1, 1, None),
        ("</s>", 1, 1, None),
    ]
    assert parts(["▁a", "<0xEC>"])[1] == ("EC", 1, 1, "EC")


def test_jamo_are_composed_and_word_pieces_told():
    row = ["[CLS]", "ᄂ", "##ᅡ", "##ᄂ", "##ᅳ", "##ᆫ", "go", "##ing", "[UNK]", "[SEP]"]
    assert parts(row)[1:8] == [
        ("나", 1, 2, "ᄂ"),
        ("나", 2, 2, "##ᅡ"),
        ("는", 1, 3, "##ᄂ"),
        ("는", 2, 3, "##ᅳ"),
        ("는", 3, 3, "##ᆫ"),
        ("go", 1, 1, None),
        ("ing", 1, 1, "##ing"),
    ]


@given(st.text(st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3), min_size=1, max_size=8))
def test_every_hangul_word_comes_back_from_its_jamo(word):
    jamo = unicodedata.normalize("NFD", word)
    labels = labels_of([jamo[0], *("##" + letter for letter in jamo[1:]), "the"])
    assert "".join(label.text for label in labels[:-1] if label.part == 1) == word
    assert labels[-1] == Label("the")


def test_jamo_of_two_words_do_not_join():
    assert texts(["ᄂ", "ᅡ", "##ᄂ"]) == ["ᄂ", "ᅡ", "ᄂ"]


@pytest.mark.parametrize(
    "text", ["[CLS]", "[SEP]", "[MASK]", "<s>", "</s>", "<pad>", "<unk>", "<|endoftext|>", "<|im_start|>", "<eos>"]
)
def test_special_tokens_are_told(text):
    assert labels_of([text, "a"]) == (Label(text, special=True), Label("a"))


def test_special_tokens_show_no_underline_of_the_tokenizer():
    assert labels_of(["<｜begin▁of▁sentence｜>"]) == (Label("<｜begin of sentence｜>", special=True),)


# plain --------------------------------------------------------------------------------------------


def test_plain_texts_are_shown_as_explanations_show_them():
    row = ["The", "deep learning", " cat", "", " ", "\n", "\t", "a\nb", "</script>", "\u202eabc"]
    assert texts(row) == ["The", "deep learning", " cat", "''", "␣", "⏎", "⇥", "a\\nb", "</script>", "\\u202eabc"]
    assert all(label.raw is None and label.parts == 1 and not label.special for label in labels_of(row))


def test_what_has_no_ink_is_spelled_out_however_it_is_written() -> None:
    bare = ["\u200b", "\u200d", "\ufeff", "\xad", "\u0301", "\xa0"]
    seen = ["\\u200b", "\\u200d", "\\ufeff", "\\u00ad", "\\u0301", "\\u00a0"]
    assert texts(bare) == seen
    assert texts(["the", "▁cat", *bare]) == ["the", "␣cat", *seen]
    assert texts(["the", *written(*(f" {one}".encode() for one in bare))]) == ["the", *(f"␣{one}" for one in seen)]


def test_what_was_decoded_alone_is_found_again_by_its_span():
    row = [Token("�", (0, 1)), Token("�", (0, 1)), Token("x", (1, 2))]
    assert parts(row, sentence="책x") == [("책", 1, 2, None), ("책", 2, 2, None), ("x", 1, 1, None)]
    assert texts(["�"]) == ["\\ufffd"]


def test_overlapping_tokens_that_say_their_own_text_are_no_pieces():
    row = [Token("new york", (0, 8)), Token("york times", (4, 14))]
    assert texts(row, sentence="new york times") == ["new york", "york times"]


def test_spans_beyond_the_sentence_are_not_followed():
    assert texts([Token("a", (5, 9)), Token("b", (5, 9))], sentence="ab") == ["a", "b"]


def test_no_tokens_no_labels():
    assert labels_of([]) == ()


def test_a_label_is_plain_json():
    label = labels_of(written(*cut("책", 1)))[0]
    assert json.loads(json.dumps(label.to_json())) == {
        "text": "책", "part": 1, "parts": 2, "raw": "EC", "special": False,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["student", "cat-fish", "pear", "bank-river"])
def test_the_examples_are_shown_as_they_are_written(name):
    trace = jumok.attend(jumok.load(name))
    first = trace if isinstance(trace, jumok.Trace) else trace[0]
    assert texts(first.tokens, sentence=first.source.details.get("sentence")) == [token.text for token in first.tokens]


def captured(tokens, sentence, kind="model"):
    one = np.ones((1, len(tokens), 2))
    source = jumok.Source(kind=kind, details={"sentence": sentence})
    return jumok.Trace(tokens=tokens, q=one, k=one, v=one, source=source)


def test_what_was_captured_is_called_by_name():
    spelled = captured(["The", "Ġcat", "Ġìĺ", "¤", "Ċ"], "The cat 오\n")
    assert [token.text for token in readable(spelled).tokens] == ["The", "cat", "오", "오", "⏎"]
    assert readable(spelled).q is spelled.q
    reading = jumok.Reading((spelled, spelled), jumok.Source(kind="model"))
    assert [token.text for token in readable(reading).tokens] == names(spelled)
    assert "what cat is" in str(jumok.explain(spelled, "Ġcat"))
    other = captured(["The", "Ġcat", "Ġsoft"], "The cat soft")
    assert "Only in the first: 오" in str(jumok.compare(spelled, other))


def test_what_a_person_wrote_stays_as_it_is():
    written = captured(["a", "␣b", "c\nd"], "a ␣b c\nd", kind="example")
    assert readable(written) is written


def test_pieces_of_one_character_stay_pieces_when_they_are_called_by_its_name():
    spelled = captured([jumok.Token("Ġìĺ", (0, 1)), jumok.Token("¤", (0, 1)), jumok.Token("Ġa", (1, 3))], "오 a")
    assert [(label.text, label.part, label.parts) for label in labels(readable(spelled))] == [
        ("오", 1, 2),
        ("오", 2, 2),
        ("a", 1, 1),
    ]
    twice = captured([jumok.Token("오", (0, 1)), jumok.Token("오", (1, 2))], "오오")
    assert [label.parts for label in labels(readable(twice))] == [1, 1]
