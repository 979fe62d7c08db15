"""Expressions compute and do nothing else."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jumok.errors import ExampleError, UnknownName
from jumok.lessons.expressions import MOST, MOST_DEPTH, MOST_LETTERS, Place, parsed

FUNCTIONS = {"twice": lambda a: 2 * a, "row": lambda: {"a": 0.2}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2*3 - 4/2", 5),
        ("2**10", 1024),
        ("-a + 1", -2),
        ("1 < a <= 3 and not b", True),
        ("b or a == 3", True),
        ('"x" if a > 5 else "y"', "y"),
        ("twice(a) + twice(a=2)", 10),
        ('"가" == "\u1100\u1161"', True),  # decomposed Hangul is the same text
        ("[1, a] == [1, 3]", True),
    ],
)
def test_it_computes(text, value):
    assert parsed(text).value({"a": 3, "b": False}, FUNCTIONS) == value


REFUSED = [
    "().__class__", "twice.__globals__", "a.real", "[1][0]", "{1: 2}", "{1}", "(1, 2)", "lambda: 1", "[x for x in [1]]",
    'f"{a}"', "a := 1", "*a", "twice(*[1])", "twice(**a)", "twice()(1)", "1 if", "a b", "", "b'x'", "1j", "...", "None",
    "a @ a", "a << 3", "a | 1", "a % 2", "a // 2", "~a", "1 in [1]", "a is a", "await a", "yield", "a = 1", "import os",
    '"\\x41"', "1\n2", "\0",
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_everything_else_is_refused_when_it_is_read(text):
    with pytest.raises(ExampleError):
        parsed(text)


@pytest.mark.parametrize("name", ["open", "eval", "__import__", "print", "len", "abs", "max"])
def test_no_builtin_is_there(name):
    with pytest.raises(ExampleError, match=f"unknown name '{name}'"):
        parsed(f"{name}(1)").value({}, FUNCTIONS)


@pytest.mark.parametrize(
    "text",
    [
        "9**9**9", "10**1000", "2**64.5", "1e300*1e300", "1e15*10", "1/0", "0**-1", "(0-8)**0.5", '"a"*99', '"a" + "b"', "[1]*9",
        '"a" < 1', "1e999", '-"a"', "1e999 - 1e999",
    ],
)  # fmt: skip
def test_what_would_grow_or_is_no_number_is_refused(text):
    started = time.process_time()
    with pytest.raises(ExampleError):
        parsed(text).value({}, FUNCTIONS)
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    "text",
    ["(" * 150 + "1" + ")" * 150, "-" * 300 + "1", "[" * 60 + "]" * 60, "1" + "+1" * 198, "1" * (MOST_LETTERS + 1)],
)
def test_depth_and_length_are_bounded(text):
    with pytest.raises(ExampleError):
        parsed("twice(" * (MOST_DEPTH + 1) + text + ")" * (MOST_DEPTH + 1))
    if text.startswith("("):
        assert parsed("(((1)))").value() == 1


def test_a_place_is_told_in_letters_not_in_bytes():
    with pytest.raises(ExampleError) as caught:
        parsed('"가나다" == nope', Place("my.md", 7, 5)).value({}, {})
    assert (caught.value.line, caught.value.column) == (7, 14)
    assert str(caught.value).startswith("my.md, line 7, column 14: unknown name 'nope'")
    assert caught.value.text("ko").startswith("my.md 7행 14열: 알 수 없는 이름")


def test_what_a_function_refuses_gets_its_place():
    def refuse(_):
        raise UnknownName(en="no such token.", ko="그런 토큰이 없습니다.")

    with pytest.raises(ExampleError, match=r"line 3, column 8: no such token\.$"):
        parsed("1 + f(2)", Place("a.md", 3, 4)).value({}, {"f": refuse})


LETTERS = st.text(
    st.sampled_from("ab12()[]{}+-*/.,:=<>!\"'_ \\@if else and not or lambda twice__class__가"), max_size=60
)


@given(LETTERS | st.text(max_size=30))
@settings(max_examples=600, deadline=None)
def test_any_text_gives_a_plain_value_or_is_refused(text):
    try:
        value = parsed(text).value({"a": 3, "b": 0.5}, FUNCTIONS)
    except ExampleError:
        return
    assert isinstance(value, int | float | str | bool | list | dict)
    assert not isinstance(value, int | float) or abs(value) <= MOST
