"""The pages about lessons: their code runs, and their table of goals is what the lessons hold."""

import doctest
import io
import re
from contextlib import redirect_stdout

import pytest

import jumok
from goals_table import PAGES, rows, written
from jumok.cli import run
from jumok.lessons.functions import functions
from jumok.words import LANGS


@pytest.mark.parametrize("lang", LANGS)
def test_the_python_in_it_runs(lang, tmp_path, monkeypatch):
    monkeypatch.setenv("JUMOK_HOME", str(tmp_path))
    found = doctest.testfile(str(PAGES[lang]), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert (found.attempted, found.failed) == (5, 0)


@pytest.mark.parametrize("lang", LANGS)
def test_the_table_of_goals_is_what_the_lessons_hold(lang):
    assert written(lang) == list(rows(lang))


@pytest.mark.parametrize("lang", LANGS)
def test_every_option_and_function_is_told(lang):
    text = PAGES[lang].read_text(encoding="utf-8")
    out = io.StringIO()
    with redirect_stdout(out):
        assert run(["lesson", "--help"]) == 0
    options = set(re.findall(r"--[a-z]+", out.getvalue())) - {"--help", "--lang", "--output", "--force"}
    assert {option for option in options if option not in text} == set()
    known = functions("student", lambda name: jumok.attend(jumok.load(name)))
    assert {name for name in known if not re.search(rf"\b{name}\b", text)} == set()
