"""A number as people type it. The page judges the same list: frontend/test/lesson.test.ts."""

import json
import math
import re
from pathlib import Path

import pytest

from jumok.errors import InputError
from jumok.lessons.typed import LETTERS, PATTERN, WORDS, plain, typed_number
from small_lessons import TEXT, small

CASES = json.loads((Path(__file__).parent / "typed.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("text", "whole", "other"), CASES)
def test_what_is_typed_where_the_answer_is_whole_and_where_it_is_not(text, whole, other):
    for is_whole, expected in ((True, whole), (False, other)):
        given = typed_number(text, is_whole)
        assert (given is None) == (expected is None)
        assert given is None or math.isclose(given, expected)


RIGHT_AND_WRONG = [
    ("9개", "8개"),
    ("9 times", "8 times"),
    ("아홉", "여덟"),
    ("nine", "eight"),
    ("= 9", "= 8"),
    ("９", "８"),
    ("9.", "8."),
]


@pytest.mark.parametrize(("right", "wrong"), RIGHT_AND_WRONG)
def test_an_answer_with_its_unit_or_in_words_is_right_or_wrong(right, wrong):
    lesson = small(TEXT.replace("answer: a*1 + 2*b", "answer: 9 + 0*a"))
    asked = lesson.asked("dot", 1)
    assert lesson.answered(asked, right).is_right
    assert not lesson.answered(asked, wrong).is_right


@pytest.mark.parametrize("typed", ["4번", "4.", "４", "넷", "four", " 4 "])
def test_a_choice_by_its_number_in_any_of_these_ways(typed):
    lesson = small()
    assert lesson.answered(lesson.asked("most"), typed).is_right


def test_several_numbers_are_no_answer():
    lesson = small(TEXT.replace("answer: a*1 + 2*b", "answer: 9 + 0*a"))
    with pytest.raises(InputError, match="a number is expected"):
        lesson.answered(lesson.asked("dot", 1), "9 or 10")


def test_the_page_reads_the_same_pattern():
    assert plain() == {"letters": LETTERS, "pattern": PATTERN, "words": WORDS}
    assert not re.search(r"\(\?(?!:|!|<=|<!)|\\(?!\.)", PATTERN), "signs that JavaScript reads otherwise"
    assert set(WORDS.values()) == set(range(21))
