"""Annotated and plain texts: what is read, what is refused (with line and column), and words over pieces."""

import tracemalloc

import pytest

from jumok import Token
from jumok.errors import ExampleError, InputError
from jumok.measurement.corpus import conllu, plain
from jumok.measurement.corpus.aligned import aligned
from jumok.measurement.corpus.lines import MOST_BYTES, lines
from jumok.measurement.corpus.sentence import Sentence, Word


def row(at, form, upos="X", head="0", how="root", misc="_", columns=10):
    return "\t".join([str(at), form, form, upos, "_", "_", str(head), how, "_", misc][:columns])


def written(tmp_path, *rows, encoding="utf-8"):
    path = tmp_path / "some.conllu"
    path.write_bytes("\n".join(rows).encode(encoding) + b"\n")
    return path


def read(path):
    return list(conllu.sentences(path))


def test_words_heads_and_places_are_read(tmp_path):
    (found,) = read(written(
        tmp_path, "# sent_id = s1", "# text = 고양이가  don't 잔다.",
        row(1, "고양이가", "NOUN", 4, "nsubj"), row("2-3", "don't", misc="_"), row(2, "do", "AUX", 4, "aux"),
        row(3, "n't", "PART", 4, "advmod"), row(4, "잔다", "VERB", 0, "root", "SpaceAfter=No"), row("4.1", "ghost"),
        row(5, ".", "PUNCT", 4, "punct"),
    ))  # fmt: skip
    assert (found.name, found.line) == ("s1", 3)
    assert [found.text[slice(*word.span)] for word in found.words] == ["고양이가", "don't", "don't", "잔다", "."]
    assert [word.head for word in found.words] == [3, 3, 3, -1, 3]
    assert (found.words[0].upos, found.words[0].relation) == ("NOUN", "nsubj")


def test_without_a_text_the_words_make_it(tmp_path):
    (found,) = read(written(tmp_path, row(1, "sat", misc="SpaceAfter=No"), row(2, ".", head=1)))
    assert (found.text, found.words[1].span, found.name) == ("sat.", (3, 4), "line 1")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_marks_do_not_matter(tmp_path, end, mark):
    path = tmp_path / "a.conllu"
    path.write_bytes((mark + end.join([row(1, "a"), "", "# only a comment", "", row(1, "b")]) + end).encode())
    assert [one.text for one in read(path)] == ["a", "b"]


def test_a_sentence_may_be_annotated_in_part(tmp_path):
    (found,) = read(written(tmp_path, row(1, "a", head="_"), row(2, "b", head=1), row(3, "c", head=2)))
    assert [word.head for word in found.words] == [None, 0, 1]


def test_a_long_chain_of_heads_is_no_circle(tmp_path):
    n = 5000
    rows = [row(at, "a", head=at + 1 if at < n else 0) for at in range(1, n + 1)]
    (found,) = read(written(tmp_path, *rows))
    assert found.words[-1].head == -1


def test_an_annotation_that_is_not_there_is_no_error(tmp_path):
    (found,) = read(written(tmp_path, row(1, "a", "_", "_", "_")))
    assert found.words[0] == Word("a", span=(0, 1))


@pytest.mark.parametrize(("rows", "line", "column", "text"), [
    ([row(1, "a", columns=9)], 1, 21, "this line has 9: it ends before MISC"),
    ([row(1, "a"), row(2, "b", head=1, columns=6)], 2, 12, "this line has 6: it ends before HEAD"),
    (["a b"], 1, 4, "this line has 1: it ends before FORM"),
    ([row(1, "a") + "\tmore"], 1, 24, "this line has 11: MISC is the last one"),
    ([row(1, "a"), row(3, "b")], 2, 1, "2 comes next, got 3"),
    ([row(1, "a"), row("1-2", "b")], 2, 1, "2 comes next, got 1-2"),
    ([row("0", "a")], 1, 1, "a number from 1"),
    ([row("x", "a")], 1, 1, "got 'x'"),
    ([row(1, "a", head=2)], 1, 13, "another word of the sentence, 1 to 1"),
    ([row(1, "a", head=1)], 1, 13, "got '1'"),
    ([row(1, "고양이", head="둘")], 1, 17, "got '둘'"),
    (["# text = a c", row(1, "a"), row(2, "b", head=1)], 3, 3, "'b' does not come next in the text: 'c'"),
    (["# text = a", row(1, "")], 2, 3, "the form '' does not come next in the text: 'a'"),
    ([row(1, "a", head="0" * 9 + "9" * 20)], 1, 13, "1 to 1"),
    ([row(1, "a", head="0" * 9 + "9" * 5000)], 1, 13, "1 to 1"),
    ([row(1, "a", head="01")], 1, 13, "got '01'"),
    ([row("9" * 5000, "a")], 1, 1, "1 comes next, got 999"),
    ([row("1-" + "9" * 5000, "a"), row(1, "a")], 1, 1, "the sentence has 1 word"),
    ([row("1-3", "ab"), row(1, "a"), row(2, "b", head=1)], 1, 1, "the range 1-3 fits no words: the sentence has 2 words"),
    ([row("1-3", "ab"), row(1, "a"), row("2-3", "b"), row(2, "b", head=1), row(3, "c", head=1)], 3, 1, "inside another"),
    ([row(1, "a"), row(2, "b")], 2, 13, "word 1 is it already"),
    ([row(1, "a", head=4), row(2, "b", head=3), row(3, "c", head=2), row(4, "d")], 2, 13, "2 → 3 → 2"),
    ([row(1, "a", head=2), row(2, "b", head=3), row(3, "c", head=1)], 1, 13, "1 → 2 → 3 → 1"),
])  # fmt: skip
def test_what_is_broken_is_refused_with_line_and_column(tmp_path, rows, line, column, text):
    with pytest.raises(ExampleError) as refused:
        read(written(tmp_path, *rows))
    assert (refused.value.line, refused.value.column) == (line, column)
    assert text in refused.value.text("en")
    assert f"{line}행 {column}열" in refused.value.text("ko")


def test_a_line_that_does_not_end_is_refused_in_bounded_memory(tmp_path):
    path = tmp_path / "long.conllu"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    tracemalloc.start()
    with pytest.raises(ExampleError, match="line 1: a line of more than 1,048,576 bytes"):
        read(path)
    size = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size < 4 * MOST_BYTES


@pytest.mark.parametrize(("data", "line", "column", "text"), [
    ("고양이\n".encode() + "강아지\n".encode("cp949"), 2, 1, "reads as cp949. The lines before it are UTF-8"),
    (b"plain\n" + "caf\xe9 b\n".encode("latin-1"), 2, 4, "0xE9 is no UTF-8. It reads as cp1252. Convert"),
    ("고양이".encode("utf-16"), 1, 1, "UTF-16"),
    ("the cat".encode("utf-16-le"), 1, 2, "a NUL, which no text holds. Text in UTF-16 is full of them: save it as UTF-8"),
    ("the cat".encode("utf-16-be"), 1, 1, "a NUL"),
    ("은행에 갔다\n".encode("utf-16-le"), 1, 7, "a NUL"),
    (b"plain\nwith\0out", 2, 5, "a NUL"),
])  # fmt: skip
def test_other_encodings_are_told(tmp_path, data, line, column, text):
    path = tmp_path / "some.txt"
    path.write_bytes(data)
    with pytest.raises(ExampleError, match=text) as refused:
        list(plain.sentences(path))
    assert (refused.value.line, refused.value.column) == (line, column)
    assert "UTF-8" in refused.value.text("ko")


def test_a_plain_text_is_read_line_by_line(tmp_path):
    path = tmp_path / "some.txt"
    path.write_text("  one two \n\n셋\n", encoding="utf-8")
    assert [(one.text, one.name) for one in plain.sentences(path)] == [("one two", "line 1"), ("셋", "line 3")]


def test_line_ends_of_old_macintosh_texts(tmp_path):
    path = tmp_path / "some.txt"
    path.write_bytes("one\r두 번째\r\rthree\r\nfour".encode())
    assert [(one.text, one.line) for one in plain.sentences(path)] == [
        ("one", 1),
        ("두 번째", 2),
        ("three", 4),
        ("four", 5),
    ]


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InputError, match="cannot be read: there is no such file"):
        list(lines(tmp_path / "none.txt"))


# coreference --------------------------------------------------------------------------------------


def test_a_pronoun_has_the_heads_of_earlier_mentions(tmp_path):
    (found,) = read(written(
        tmp_path, "# global.Entity = eid-etype-head-other",
        row(1, "the", "DET", 2, "det", "Entity=(e1-animal-2"), row(2, "cat", "NOUN", 3, "nsubj", "Entity=e1)"),
        row(3, "saw", "VERB", 0, "root"), row(4, "dogs", "NOUN", 3, "obj", "Entity=(e2-animal-1)"),
        row(5, "and", "CCONJ", 6, "cc"), row(6, "it", "PRON", 3, "conj", "Entity=(e1-animal-1)"),
        row(7, "them", "PRON", 6, "obj", "Entity=(e3-animal-1)"),
        row(8, "cats", "NOUN", 3, "obj", "Entity=(e1-animal-1)"),
    ))  # fmt: skip
    assert found.antecedents == ((5, (1,)),)


def test_brackets_are_not_guessed_at_where_nobody_says_how_they_are_written(tmp_path):
    (found,) = read(
        written(tmp_path, row(1, "a", "PRON", misc="Entity=(1)"), row(2, "it", "PRON", 1, misc="Entity=(1)"))
    )
    assert found.antecedents == ()


# words over pieces --------------------------------------------------------------------------------

DONT = Sentence("I don't sleep", (
    Word("I", span=(0, 1)), Word("do", span=(2, 4)), Word("n't", span=(4, 7)), Word("sleep", span=(8, 13)),
), "s7")  # fmt: skip


def test_pieces_belong_to_words():
    pieces = [
        Token("<s>"),
        Token("I", (0, 1)),
        Token("Ġdo", (1, 4)),
        Token("n't", (4, 7)),
        Token("Ġsle", (7, 11)),
        Token("ep", (11, 13)),
    ]
    assert aligned(DONT, pieces).pieces.tolist() == [-1, 0, 1, 2, 3, 3]


def test_words_that_share_a_piece_are_one():
    pieces = [Token("i", (0, 1)), Token("don", (2, 5)), Token("'", (5, 6)), Token("t", (6, 7)), Token("sleep", (8, 13))]
    found = aligned(DONT, pieces)
    assert found.pieces.tolist() == [0, 1, 1, 1, 2]
    assert found.units.tolist() == [0, 1, 1, 2]


def test_words_of_one_surface_form_are_one():
    du = Sentence("du lait", (Word("de", span=(0, 2)), Word("le", span=(0, 2)), Word("lait", span=(3, 7))))
    assert aligned(du, [Token("du", (0, 2)), Token("lait", (3, 7))]).units.tolist() == [0, 0, 1]


@pytest.mark.parametrize(("pieces", "en", "ko"), [
    ([Token("I", (0, 1)), Token("don't", (2, 7))], "the word 'sleep' has no piece", "단어 'sleep'에 해당하는"),
    ([Token("I don't", (0, 7)), Token("sleep", (8, 13))], "'I don't' spans two words that stand apart", "떨어져 있는 두 단어"),
    ([Token("I"), Token("don't"), Token("sleep")], "the word 'I' has no piece", "단어 'I'"),
])  # fmt: skip
def test_what_cannot_be_aligned_is_refused_with_the_sentence(pieces, en, ko):
    with pytest.raises(InputError) as refused:
        aligned(DONT, pieces)
    assert en in refused.value.text("en")
    assert ko in refused.value.text("ko")
    for lang in ("en", "ko"):
        assert "s7" in refused.value.text(lang)
        assert "I don't sleep" in refused.value.text(lang)
