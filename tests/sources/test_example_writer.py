"""Example files, written back: what did not change stays letter by letter, and what is written reads as what it was."""

import dataclasses
import difflib
import os
import signal
import subprocess
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import jumok
from jumok.errors import InputError, OutputError
from jumok.path.allowed import causal, document, everything, padding, table, window
from jumok.path.positions import alibi, relative
from jumok.sources import example as examples
from jumok.sources.example import Block, Example, parse

NAMES = examples.names()
ODD_LAYOUT = """\
# before everything
"dimensions": [ A,   B ]   # two
tokens:    # three
- a:   {A: 1,B: 2}   # one
# between
- b: {A: 3,
      B: 4}  # four

-   c: [5,  6]
weights:
    w_q: [[1, 2],
          [3, 4]]   # a matrix
    w_v:   # rows by name
       rows:
         A: [1,   0]  # as a list
         B: {B:   7}

# about the mask
mask:   'none'
focus: "a"
title: >
  folded
  text
meaning: {A: ay,   B: {en: bee, ko: 비}}   # last, without a line end"""


def changed_lines(before, after):
    """The lines that went and the lines that came."""
    lines = list(difflib.ndiff(before.splitlines(), after.splitlines()))
    return [a[2:] for a in lines if a[0] == "-"], [a[2:] for a in lines if a[0] == "+"]


def layer(example, at=0, **changes):
    """The example with something changed in one of its layers."""
    layers = list(example.layers)
    layers[at] = dataclasses.replace(layers[at], **changes)
    return example.replace(layers=tuple(layers))


def put(array, at, value):
    array = array.copy()
    array[at] = value
    return array


def assert_same(one, other):
    """Two examples say the same, to the last digit; what they were written as does not count."""
    for name in ("tokens", "sentence", "dimensions", "wanted", "focus", "pair", "random"):
        assert getattr(one, name) == getattr(other, name), name
    assert dict(one.title) == dict(other.title)
    assert {name: dict(words) for name, words in one.meaning.items()} == {
        name: dict(words) for name, words in other.meaning.items()
    }
    assert np.array_equal(one.x, other.x)
    at = np.arange(len(one.tokens))
    for a, b in zip(one.layers, other.layers, strict=True):
        for name in ("w_q", "w_k", "w_v", "w_o", "b_q", "b_k", "b_v", "b_o"):
            left, right = getattr(a, name), getattr(b, name)
            assert (left is None) == (right is None), name
            assert left is None or np.array_equal(left, right), name
        for name in ("n_heads", "n_kv_heads", "scale", "temperature", "positions", "residual"):
            assert getattr(a, name) == getattr(b, name), name
        assert np.array_equal(a.allowed.block(at, at), b.allowed.block(at, at))


def assert_written(example):
    """What is written reads as the example, and is written again letter by letter."""
    text = example.to_yaml()
    read = parse(text, example.name)
    assert_same(example, read)
    assert read.to_yaml() == text
    return text


# nothing changed --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("mark", "newline"), [("", "\n"), ("\ufeff", "\r\n")])
def test_what_did_not_change_is_written_byte_by_byte(tmp_path, name, newline, mark):
    path = tmp_path / "a.yaml"
    data = (mark + examples.load(name).text).replace("\n", newline).encode()
    path.write_bytes(data)
    read = examples.load(path)
    assert read.save(tmp_path / "b.yaml") == tmp_path / "b.yaml"
    assert (tmp_path / "b.yaml").read_bytes() == data


@pytest.mark.parametrize("text", [examples.starter("en"), examples.starter("ko"), ODD_LAYOUT])
def test_any_layout_stays(text):
    assert parse(text).to_yaml() == text
    assert parse(text).replace(x=parse(text).x.copy(), focus=parse(text).focus).to_yaml() == text


@pytest.mark.parametrize("name", NAMES)
def test_without_its_text_an_example_is_written_anew_and_reads_the_same(name):
    assert_written(examples.load(name).replace(text=""))


# one thing changed ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in NAMES if name != "cat-fish"])
@pytest.mark.parametrize(("mark", "newline"), [("", "\n"), ("\ufeff", "\r\n")])
def test_one_number_changes_one_line(name, mark, newline):
    example = parse((mark + examples.load(name).text).replace("\n", newline))
    for row in (0, example.focus):
        column = int(np.argmax(example.x[row]))
        changed = example.replace(x=put(example.x, (row, column), 0.125))
        text = assert_written(changed)
        gone, new = changed_lines(example.text, text)
        assert len(gone) == len(new) == 1
        assert example.tokens[row] in new[0]
        assert "0.125" in new[0]
        assert text.startswith(mark)
        assert text.count("\r") == example.text.count("\r")


ODD = parse(ODD_LAYOUT)
CHANGES = {
    "a named number": (ODD.replace(x=put(ODD.x, (0, 1), 9)), ["- a:   {A: 1,B: 2}   # one"], ["- a:   {A: 1,B: 9}   # one"]),
    "a number on a second line": (ODD.replace(x=put(ODD.x, (1, 1), -0.5)), ["      B: 4}  # four"], ["      B: -0.5}  # four"]),
    "a number in a list": (ODD.replace(x=put(ODD.x, (2, 0), 1e-7)), ["-   c: [5,  6]"], ["-   c: [1e-07,  6]"]),
    "a number to 0": (ODD.replace(x=put(ODD.x, (0, 0), 0)), ["- a:   {A: 1,B: 2}   # one"], ["- a:   {A: 0,B: 2}   # one"]),
    "a matrix": (layer(ODD, w_q=[[1, 2], [9, 4]]), ["          [3, 4]]   # a matrix"], ["          [9, 4]]   # a matrix"]),
    "a row as a list": (layer(ODD, w_v=[[1, 5], [0, 7]]), ["         A: [1,   0]  # as a list"], ["         A: [1,   5]  # as a list"]),
    "a row by names": (layer(ODD, w_v=[[1, 0], [0, 8]]), ["         B: {B:   7}"], ["         B: {B:   8}"]),
    "a new weight": (layer(ODD, w_k=[[2, 0], [0, 1]]), [], ["    w_k: {diagonal: {A: 2}, otherwise: 1}"]),
    "a bias": (layer(ODD, b_q=[1, 2]), [], ["    b_q: [1, 2]"]),
    "the mask": (layer(ODD, allowed=causal()), ["mask:   'none'"], ['mask:   "causal"']),
    "the mask to a window": (layer(ODD, allowed=window(2, 1)), ["mask:   'none'"], ["mask:   {window: [2, 1]}"]),
    "the scale": (layer(ODD, scale=0.25), [], ["scale: 0.25"]),
    "the temperature": (layer(ODD, temperature=3.0), [], ["temperature: 3"]),
    "the heads": (layer(ODD, n_heads=2, n_kv_heads=1, w_k=[[1], [2]], w_v=[[1], [2]]), None, None),
    "the positions": (layer(ODD, positions="rotary"), [], ["positions: rotary"]),
    "a residual": (layer(ODD, residual=True), [], ["residual: true"]),
    "the focus": (ODD.replace(focus=1), ['focus: "a"'], ['focus: "b"']),
    "no focus": (ODD.replace(focus=None), ['focus: "a"'], []),
    "a sentence": (ODD.replace(sentence="a # b"), [], ['sentence: "a # b"']),
    "the title": (ODD.replace(title={"en": "t", "ko": "제목"}), ["title: >", "  folded", "  text"], ["title: {en: t, ko: 제목}"]),
    "a pair": (ODD.replace(pair="student"), [], ["pair: student"]),
    "a wish": (ODD.replace(wanted=({0: {1: 0.5}},)), [], ["wanted: {a: {b: 0.5}}"]),
    "a meaning": (ODD.replace(meaning={"A": {"en": "ay", "ko": "ay"}, "B": {"en": "bee", "ko": "벌"}}),
                  ["meaning: {A: ay,   B: {en: bee, ko: 비}}   # last, without a line end"],
                  ["meaning: {A: ay,   B: {en: bee, ko: 벌}}   # last, without a line end"]),
    "one meaning less": (ODD.replace(meaning={"A": {"en": "ay", "ko": "ay"}}),
                         ["meaning: {A: ay,   B: {en: bee, ko: 비}}   # last, without a line end"],
                         ["meaning: {A: ay}   # last, without a line end"]),
    "no meaning": (ODD.replace(meaning={}), ["meaning: {A: ay,   B: {en: bee, ko: 비}}   # last, without a line end"], []),
    "a token's name": (ODD.replace(tokens=("a", "bee", "c"), sentence="a bee c"), ["- b: {A: 3,"], ["- bee: {A: 3,"]),
    "a token more": (ODD.replace(tokens=("a", "b", "c", "# d"), x=[*ODD.x.tolist(), [0, 8]], sentence="a b c # d"), [], ['- "# d": [0, 8]']),
    "a token in front": (ODD.replace(tokens=("d", "a", "b", "c"), x=[[0, 0], *ODD.x.tolist()], sentence="d a b c", focus=1), [], ["- d: [0, 0]"]),
    "a token less": (ODD.replace(tokens=("a", "c"), x=ODD.x[[0, 2]], sentence="a c"), ["- b: {A: 3,", "      B: 4}  # four"], []),
    "the first token less": (ODD.replace(tokens=("b", "c"), x=ODD.x[1:], sentence="b c", focus=0),
                             ["- a:   {A: 1,B: 2}   # one", 'focus: "a"'], ['focus: "b"']),
    "the last token less": (ODD.replace(tokens=("a", "b"), x=ODD.x[:2], sentence="a b"), ["-   c: [5,  6]"], []),
    "a dimension's name": (ODD.replace(dimensions=("A", "C"), meaning={}), None, None),
}  # fmt: skip


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("what", CHANGES)
def test_only_what_changed_is_written_anew(what, newline):
    example, gone, new = CHANGES[what]
    example = example.replace(text=ODD_LAYOUT.replace("\n", newline))
    text = assert_written(example)
    if gone is not None:
        assert changed_lines(ODD_LAYOUT, text) == (gone, new)
    assert "# before everything" in text
    assert "\n" not in text.replace("\r\n", "") if newline == "\r\n" else "\r" not in text


@pytest.mark.parametrize("what", CHANGES)
def test_whatever_changed_can_also_be_written_alone(what):
    assert_written(CHANGES[what][0].replace(text=""))


def test_new_names_stand_where_they_usually_do():
    example = examples.load("bank-money")
    text = assert_written(layer(example, allowed=causal()))
    assert text.index("w_v:") < text.index("\nmask: causal\n") < text.index("\nfocus:")
    text = assert_written(example.replace(wanted=({2: {4: 0.5, 6: 0.5}},)))
    assert (
        text.index("otherwise: 1}") < text.index("\nwanted: {은행: {돈: 0.5, 맡겼다: 0.5}}\n") < text.index("\nfocus:")
    )
    assert parse("tokens: [a: [1]]").replace(title={"en": "t"}).to_yaml() == "title: {en: t}\ntokens: [a: [1]]"


def test_layers_come_and_go():
    student = examples.load("student")
    two = student.replace(
        layers=(student.layers[0], dataclasses.replace(student.layers[0], allowed=window(1), residual=True))
    )
    text = assert_written(two)
    assert "\nmask:" not in text
    assert "\nweights:" not in text
    assert "# What the query of 'studies' was made for." in text
    again = assert_written(parse(text, "student").replace(layers=student.layers))
    assert_same(parse(again), student)
    tired = examples.load("it-tired")
    three = tired.replace(layers=(*tired.layers, Block(np.eye(8), np.eye(8), np.eye(8), scale=2.0)))
    gone, new = changed_lines(tired.text, assert_written(three))
    assert gone == []
    assert new == ["  - weights: {w_q: identity, w_k: identity, w_v: identity}", "    scale: 2"]
    gone, new = changed_lines(tired.text, assert_written(tired.replace(layers=tired.layers[1:])))
    assert new == []
    assert all(
        "Pronoun: {Quality: 12}" not in line
        for line in assert_written(tired.replace(layers=tired.layers[1:])).splitlines()
    )
    gone, new = changed_lines(tired.text, assert_written(layer(tired, at=1, temperature=2.0)))
    assert (gone, new) == ([], ["    temperature: 2"])
    gone, new = changed_lines(tired.text, assert_written(layer(tired, at=0, residual=False)))
    assert (gone, new) == (["    residual: true"], [])


def test_a_file_without_weights_gets_layers():
    example = parse("dimensions: [A]\ntokens: [a: {A: 1}]\nheads: 1  # one\n")
    text = assert_written(example.replace(layers=(*example.layers, *example.layers)))
    assert text.startswith("dimensions: [A]\ntokens: [a: {A: 1}]\nlayers:\n")


def test_random_numbers_stay_random_until_one_changes():
    example = examples.load("cat-fish")
    gone, new = changed_lines(example.text, assert_written(layer(example, allowed=causal())))
    assert (gone, new) == ([], ["mask: causal"])
    text = assert_written(example.replace(x=put(example.x, (0, 0), 1.0)).replace(random=None))
    assert "random:" not in text
    assert "# NumPy" not in text
    assert "  - 고양이가: [1, -0.13826430117118466, " in text.replace("tokens: [{", "  - ").replace("{", "")
    text = assert_written(layer(example, b_q=[0.5, 0.5, 0.5]).replace(random=None))
    assert "b_q: [0.5, 0.5, 0.5]" in text


def test_numbers_that_are_no_longer_random_are_all_written():
    example = examples.load("cat-fish")
    text = layer(example, b_q=[0.5, 0.5, 0.5]).to_yaml()
    read = parse(text)
    assert read.random is None
    assert np.array_equal(read.x, example.x)
    assert read.layers[0].b_q.tolist() == [0.5, 0.5, 0.5]


def test_an_alias_is_written_out_where_only_one_of_its_places_changed():
    example = parse(
        "dimensions: [A]\ntokens: [a: &one {A: 1}, b: *one]  # kept\nweights: &w {w_q: {diagonal: {A: 2}}}\nmeaning: {A: a}\n"
    )
    assert assert_written(example.replace(x=[[1], [5]])).startswith(
        "dimensions: [A]\ntokens: [a: &one {A: 1}, b: {A: 5}]  # kept\n"
    )
    text = assert_written(example.replace(x=[[5], [1]]))
    assert "# kept" in text
    assert "weights: &w {w_q: {diagonal: {A: 2}}}" in text
    assert_written(layer(example, w_q=[[3]]))


def test_a_json_file_stays_json():
    text = '{"dimensions":["A","B"],"tokens":[{"a":{"A":1}},{"b":{"B":2}}],"weights":{"w_q":[[1,2],[3,4]]},"focus":"a"}'
    example = parse(text)
    changed = layer(example.replace(x=[[7, 0], [0, 2]], tokens=("c", "b"), sentence="c b"), w_q=[[1, 2], [3, 9]])
    assert assert_written(changed) == text.replace('{"a":{"A":1}}', '{"c":{"A":7}}').replace("3,4", "3,9").replace(
        '"focus":"a"', '"focus":"c"'
    )


@pytest.mark.parametrize(
    "text",
    [
        "dimensions: [A, B]\ntokens:\n- ? a\n  : {A: 1}\n- b: {B: 1}\n",
        "dimensions: [A, B]\ntokens:\n  - a: {A: 1}\n  -\n    b:\n      B: 1\n",
        "--- # here\ndimensions: [A, B]\ntokens: [a: {A: 1}, b: {B: 1},]\n...\n",
        "%YAML 1.2\n---\n{dimensions: [A, B], tokens: [a: {A: 1}, b: {B: 1}]}\n",
        "dimensions: &d [A, B]\ntokens:\n- &t\n  a: {A: 1}\n- b:\n   {B: 1}\n",
        "tokens:\n- a: [1, 0]\n- b: [0, 1]\ndimensions:\n- A\n- B",
        "dimensions: [A, B]\ntokens: [\n  a: {A: 1}, # one\n  b: {B: 1} # two\n  ]\n",
        "dimensions: !!seq [A, B]\ntokens: [!!str a: {A: !!int 1}, b: {B: !!float 1}]\n",
        "? dimensions\n: [A, B]\n? tokens\n: - a: {A: 1}\n  - b: {B: 1}\n",
        "dimensions: [A, B]\nfocus: |\n  a\ntokens:\n- a: {A: 1}\n- b: {B: 1}\n".replace("|", "|-"),
    ],
)
def test_whatever_the_layout_any_change_is_written_right(text):
    example = parse(text)
    first = example.layers[0]
    for changed in (
        example,
        example.replace(x=[[1, 2], [3, 4]]),
        example.replace(tokens=("c", "d"), sentence="c d"),
        example.replace(tokens=("a",), x=example.x[:1], sentence="a"),
        example.replace(tokens=("b",), x=example.x[1:], sentence="b", focus=None),
        example.replace(tokens=("z", "a", "b"), x=[[0, 0], [1, 0], [0, 1]], sentence="z a b", focus=None),
        example.replace(tokens=("a", "b", "z"), x=[[1, 0], [0, 1], [0, 0]], sentence="a b z"),
        example.replace(dimensions=None),
        example.replace(dimensions=("B", "C")),
        example.replace(focus=1),
        example.replace(focus=None),
        layer(example, w_q=[[1, 2], [3, 4]], allowed=causal(), scale=2.0),
        example.replace(layers=(first, first)),
        example.replace(
            title={"en": "t"},
            sentence="s",
            wanted=({1: {0: 1.0}},),
            meaning={"A": {"en": "m"}} if example.dimensions else {},
        ),
    ):
        assert_written(changed)


# made in Python ---------------------------------------------------------------------------------


def made(tokens, x, dimensions=None, **block):
    d = np.asarray(x).shape[1]
    return Example(tuple(tokens), np.asarray(x, dtype=float), (Block(**{"w_q": np.eye(d), "w_k": np.eye(d), "w_v": np.eye(d)} | block),),
                   sentence=" ".join(tokens), dimensions=dimensions)  # fmt: skip


def test_an_example_made_in_python_is_written_in_the_style_of_the_packaged_ones():
    example = made(
        ["a", "b"],
        [[1, 0], [0.5, -2]],
        ("A", "B"),
        w_q=[[0, 1], [3, 4]],
        w_v=[[1, 0], [0, 2]],
        allowed=causal(),
        temperature=2.0,
    )
    assert assert_written(example.replace(title={"en": "One", "ko": "하나"}, focus=0)) == (
        "title: {en: One, ko: 하나}\n"
        "dimensions: [A, B]\n"
        "tokens:\n"
        "  - a: {A: 1}\n"
        "  - b: {A: 0.5, B: -2}\n"
        "weights:\n"
        "  w_q: {rows: {A: {B: 1}, B: {A: 3, B: 4}}, otherwise: identity}\n"
        "  w_k: identity\n"
        "  w_v: {diagonal: {B: 2}, otherwise: 1}\n"
        "temperature: 2\n"
        "mask: causal\n"
        "focus: a\n"
    )


def test_a_written_example_attends_as_before():
    example = layer(examples.load("student"), w_o=np.arange(8.0).reshape(4, 2), b_o=[1, 2]).replace(text="")
    assert np.array_equal(jumok.attend(parse(example.to_yaml())).output, jumok.attend(example).output)


ODD_TEXTS = [
    "한글", "한", "👩‍👩‍👧", "é́̂", "e\u0301", "شمس", "\u202eabc", "</script>", "'", '"', '"a', "it's", "\\", "\\n", "a\nb", "\n", "\r\n", "", " ", "  ",
    " a", "a ", "a  b", "- d", "-", "--- x", "...", ".", "# c", "a # c", "a#", "#", ": ", ":", "a:", "a: b", ":a", "@x", "`x", "%x", "!x", "&x", "*x",
    "|", ">", "?", "? x", "{", "}", "[a]", "a, b", ",", "\x01", "\x1b[31m", "\x7f", "\x85", "\xa0", "\u2028", "\u2029", "\ufeff", "\u200b", "\t", "a\tb",
    "no", "null", "~", "true", "1", "1.0", "0x10", "1e3", ".nan", "-1", "2026-01-01", "12:30", "1_000", "<<", "=", "y", "a#1", "x" * 300, "가" * 2000,
    "\U0001f468\u200d\U0001f4bb", "\U000e0041", "ﬁ", "Å", "ǅ", "\u1112\u1161\u11ab", "a/b", "a+b", "3 b", "-x", "+", "+1", "1.", "1.2.3", "１", "a\\", "😀 ",
]  # fmt: skip


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_any_text_is_a_token_and_a_dimension(text):
    text = unicodedata.normalize("NFC", text)
    name = text or "empty"
    example = made([text, "other!"], [[1, 2], [3, 4]], (name, "B!"), w_q=[[0, 2], [5, 6]]).replace(
        focus=0,
        wanted=({0: {1: 0.5}},),
        meaning={name: {"en": text, "ko": "뜻"}},
        title={"en": text, "ko": text},
        pair=text,
    )
    written = assert_written(example)
    assert written.isprintable() or set(written) - {"\n", "\u200d"} == {a for a in written if a.isprintable()}
    two = made([text, text], [[1], [2]]).replace(focus=1)
    assert_same(two, parse(two.to_yaml()))


@pytest.mark.parametrize("text", ODD_TEXTS[::3])
def test_any_text_is_put_into_an_old_file(text):
    text = unicodedata.normalize("NFC", text)
    name = text or "empty"
    old = parse(made(["a", "b"], [[1, 2], [3, 4]], ("A", "B")).to_yaml() + "# kept\n")
    changed = old.replace(tokens=(text, "b"), sentence=f"{text} b", dimensions=(name, "B"))
    assert assert_written(changed).endswith("# kept\n")


MASKS = {
    "everything": everything(),
    "causal": causal(),
    "causal with an offset": causal(offset=1),
    "window": window(1),
    "window ahead": window(0, 2),
    "window with an offset": window(1, offset=1),
    "document": document([3, 3, 0]),
    "document of any numbers": document([-5, 2**40, -5]),
    "document with an offset": document([1, 1, 2, 2], offset=1) & window(2, 2),
    "padding": padding([True, False, True]),
    "no padding": padding([True, True, True]),
    "table": table([[True, False, True], [False, False, False], [True, True, True]]),
    "both": causal() & window(1) & padding([True, True, False]),
    "either": window(0) | padding([True, False, False]) | causal(),
    "both of either": (causal() | document([0, 1, 0])) & (window(1, 1) | table(np.eye(3, dtype=bool))),
}  # fmt: skip


@pytest.mark.parametrize("what", MASKS)
@pytest.mark.parametrize("tokens", [["a", "b", "c"], ["a", "a", "a"]])
def test_any_mask_is_written(what, tokens):
    if what == "document with an offset":
        with pytest.raises(InputError):
            jumok.attend(made(tokens, np.eye(3), allowed=MASKS[what]))
        return
    example = made(tokens, np.eye(3), allowed=MASKS[what])
    assert_written(example)
    assert_written(parse(made(tokens, np.eye(3)).to_yaml() + "mask: none # kept\n").replace(layers=example.layers))


@pytest.mark.parametrize("positions", ["none", "sinusoidal", "rotary", alibi([0.5])])
def test_any_positions_that_a_file_knows_are_written(positions):
    assert_written(made(["a", "b"], np.eye(2), positions=positions))


@pytest.mark.parametrize(
    ("example", "en", "ko"),
    [
        (
            made(["a"], [[1]], positions=relative([[0.0]])),
            "no words for the positions 'relative' (offset 0)",
            "'relative'(offset 0)을(를) 쓸 수 없습니다",
        ),
        (
            made(["a"], [[1]], positions=alibi([1.0], offset=2)),
            "no words for the positions 'alibi' (offset 2)",
            "'alibi'(offset 2)",
        ),
        (
            made(["a", "a", "a#2"], [[1], [2], [3]]).replace(focus=1),
            "calls token 1 'a#2', but that is another token's text",
            "토큰 1의 이름은 'a#2'인데",
        ),
        (made(["a"] * 1001, np.ones((1001, 1))), "an example holds at most 1000", "1000개까지"),
        (made(["a"], [[1]], w_q=np.ones((1, 3))), "k has d_head=1, but q has d_head=3", "d_head=3"),
        (made(["a"], [[1]], allowed=padding([False])), "the mask leaves no token anything to read", "볼 것이 없습니다"),
        (made(["a"], [[1]]).replace(title={"fr": "t"}), "unknown name 'fr'", "'fr'"),
    ],
)
def test_what_no_file_can_say_is_refused(example, en, ko):
    with pytest.raises(InputError) as caught:
        example.to_yaml()
    assert en in str(caught.value)
    assert ko in caught.value.text("ko")


@pytest.mark.parametrize(
    ("tokens", "x", "dimensions", "message"),
    [
        (["a"], [[1], [2]], None, r"x has rows=2, but there are 1 tokens. x is \(2, 1\), read as \(token, d_model\)"),
        (["a"], [[1, 2]], ("A",), r"x has columns=2, but there are 1 dimensions. x is \(1, 2\)"),
    ],
)
def test_an_example_fits_together(tokens, x, dimensions, message):
    with pytest.raises(InputError, match=message) as caught:
        made(tokens, x, dimensions)
    assert str(x and len(x)) in caught.value.text("ko")


names = st.text(st.characters(exclude_categories=["Cs"]), max_size=5).map(
    lambda text: unicodedata.normalize("NFC", text)
)
numbers = st.floats(-1e6, 1e6, allow_subnormal=False) | st.sampled_from([0.0, 1.0, -1.0, 0.1, 1e-12])


@st.composite
def any_example(draw):
    """Any example: 1 to 5 tokens, 1 to 4 dimensions, named or not, 1 or 2 layers, any mask."""
    tokens = draw(st.lists(names, min_size=1, max_size=5))
    n, d = len(tokens), draw(st.integers(1, 4))
    dimensions = draw(st.none() | st.lists(names.filter(len), min_size=d, max_size=d, unique=True).map(tuple))
    matrix = (
        npst.arrays(float, (d, d), elements=numbers, fill=st.sampled_from([0.0, 1.0]))
        | st.just(np.eye(d))
        | st.just(np.zeros((d, d)))
    )
    rules = st.one_of(st.just(everything()), st.just(causal()), st.builds(window, st.integers(0, 3), st.integers(0, 3)),
                      st.lists(st.integers(0, 2), min_size=n, max_size=n).map(document))  # fmt: skip
    layers = draw(
        st.lists(
            st.builds(
                Block, matrix, matrix, matrix, w_o=st.none() | matrix, b_q=st.none() | npst.arrays(float, d, elements=numbers),
                scale=st.none() | st.floats(1e-6, 1e6), temperature=st.just(1.0) | st.floats(1e-3, 1e3),
                positions=st.sampled_from(["none", "sinusoidal", alibi([0.5])]), allowed=rules, residual=st.booleans(),
            ),
            min_size=1, max_size=2,
        )
    )  # fmt: skip
    words = st.dictionaries(
        st.sampled_from(["en", "ko"]), st.text(st.characters(exclude_categories=["Cs"]), max_size=8), max_size=2
    )
    return Example(
        tuple(tokens), draw(npst.arrays(float, (n, d), elements=numbers)), tuple(layers), sentence=draw(names | st.just(" ".join(tokens))),
        dimensions=dimensions, title=draw(words),
    )  # fmt: skip


@settings(max_examples=40)
@given(any_example())
def test_any_example_is_written_and_read(example):
    text = example.to_yaml()
    assert_same(example, parse(text))
    assert parse(text).to_yaml() == text


@settings(max_examples=40)
@given(
    any_example(),
    st.sampled_from(
        [ODD_LAYOUT, examples.starter("ko"), examples.load("it-soft").text, examples.load("cat-fish").text]
    ),
)
def test_any_example_is_written_over_any_file(example, text):
    before = parse(text)
    over = example.replace(text=text, random=before.random)
    assert_same(over.replace(random=None), parse(over.to_yaml()).replace(random=None))


# saving -----------------------------------------------------------------------------------------


def test_saving_makes_or_replaces_a_file(tmp_path):
    path = tmp_path / "내 예제.yaml"
    example = examples.load("student")
    assert example.save(path) == path
    assert path.read_text(encoding="utf-8") == example.text
    layer(example, allowed=causal()).save(str(path))
    assert "\nmask: causal\n" in path.read_text(encoding="utf-8")
    assert os.listdir(tmp_path) == [path.name]


def test_a_path_that_cannot_be_written_is_refused(tmp_path):
    example = examples.load("student")
    for path in (tmp_path / "none" / "a.yaml", tmp_path):
        with pytest.raises(OutputError, match="cannot write"):
            example.save(path)
    with pytest.raises(OutputError):
        example.save("/dev/full")


def test_what_cannot_be_written_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("old")
    with pytest.raises(InputError):
        made(["a"], [[1]], positions=relative([[0.0]])).save(path)
    assert path.read_text() == "old"


def test_an_interruption_leaves_the_old_file_whole(tmp_path):
    """Killed again and again while it saves: the file is always one of the two whole ones."""
    path = tmp_path / "a.yaml"
    code = (
        "import sys, dataclasses\nfrom jumok.sources.example import load\nfrom jumok.path.allowed import causal\n"
        "one = load('student'); layers = (dataclasses.replace(one.layers[0], allowed=causal()),)\n"
        "two = one.replace(layers=layers, sentence='long ' * 20000)\none.save(sys.argv[1]); print('ready', flush=True)\n"
        "while True:\n    two.save(sys.argv[1]); one.save(sys.argv[1])\n"
    )
    whole = set()
    for pause in (0.02, 0.1, 0.3):
        child = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
        assert child.stdout.readline() == b"ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(pause)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        whole.add(examples.load(path).layers[0].allowed.kind)
    assert whole <= {"everything", "causal"}
