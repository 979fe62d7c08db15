"""The course: every lesson true, every exercise solved, in both languages."""

import re

import pytest

import jumok
from jumok.lessons import packaged
from jumok.lessons.checked import claims_of, problems
from jumok.lessons.goals import GOALS
from jumok.words import LANGS
from small_lessons import small

NAMES = packaged.names()


def test_every_lesson_is_there_in_both_languages():
    files = {entry.name for entry in packaged.folder().iterdir() if entry.name.endswith(".md")}
    assert files == {f"{number:02}-{name}.{lang}.md" for number, name in NAMES.items() for lang in LANGS}
    assert "library" in NAMES.values()


@pytest.mark.parametrize("number", NAMES)
def test_a_lesson_is_true(number):
    lesson = jumok.lesson(number)
    assert [str(problem) for problem in problems(lesson)] == []
    assert (lesson.number, lesson.name) == (number, NAMES[number])
    assert 5 <= lesson.minutes <= 15
    assert lesson.goals
    assert set(lesson.goals) <= set(GOALS)
    assert len(claims_of(lesson.written("en"))) >= 3


@pytest.mark.parametrize("number", NAMES)
@pytest.mark.parametrize("lang", LANGS)
def test_a_lesson_can_be_read_and_its_korean_is_korean(number, lang):
    text = jumok.lesson(number, lang).text(answers=True)
    prose = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)
    n_hangul = sum("가" <= letter <= "힣" for letter in prose)
    assert (n_hangul > 800) if lang == "ko" else (n_hangul < 200)
    assert "{{" not in text


@pytest.mark.parametrize("number", NAMES)
def test_code_that_is_shown_runs(number):
    for lang in LANGS:
        for block in jumok.lesson(number, lang).blocks:
            if block.kind == "show" and block.view == "code":
                exec(compile(block.code, f"{number}.{lang}", "exec"), {})


@pytest.mark.parametrize("lang", LANGS)
def test_the_starter_is_true_and_in_its_language(lang):
    lesson = small(packaged.starter(lang), lang)
    assert lesson.written().lang == lang
    assert [str(problem) for problem in problems(lesson)] == []
