"""A verdict tells itself in both languages, a hint before a fix, and is plain data."""

import dataclasses
import json
import string

import numpy as np
import pytest

from jumok.lessons.checker import phrases
from jumok.lessons.checker.verdict import Example, Failure, Mistake, Verdict

WRONG = Verdict(
    "mistake",
    (Mistake("mask-finite", ("value", "-10"), (3, "s = where(mask, s, -10)")), Mistake("no-scale")),
    consequences=("rows",),
    example=Example(None, np.array([[1.0, 2.0]]), np.array([[np.nan, np.inf]]), "tiny"),
)


def test_it_reads_in_both_languages():
    assert WRONG.text().splitlines() == [
        "2 mistakes together",
        "- mask-finite: hidden scores get a number that is not small enough, instead of -∞. The number is -10.",
        "  line 3: s = where(mask, s, -10)",
        "  Hint: What is e to the power of the number that you put there? Is it 0?",
        "- no-scale: the scores are not divided by √d_k.",
        "  Hint: Take vectors twice as wide: how large do the scores get? What keeps them the same size?",
        "So: rows of weights do not sum to 1.",
        "The smallest example that shows it (rounded to 3 decimals):",
        "  expected: (1, 2)",
        "  got: (NaN, ∞)",
        "(the fix: --fix, in Python verdict.text(fix=True))",
    ]
    korean = WRONG.text("ko")
    assert "실수가 2개 함께 있습니다" in korean
    assert "3번째 줄: s = where(mask, s, -10)" in korean


def test_the_hint_comes_before_the_fix():
    assert "Fix:" not in WRONG.text()
    assert WRONG.text(fix=True).count("Fix:") == 2
    assert WRONG.steps == (("hint", "mask-finite"), ("hint", "no-scale"), ("fix", "mask-finite"), ("fix", "no-scale"))


def test_it_is_plain_json():
    plain = json.loads(json.dumps(WRONG.to_json(), allow_nan=False))
    assert [one["id"] for one in plain["mistakes"]] == ["mask-finite", "no-scale"]
    assert plain["example"]["got"] == [["NaN", "∞"]]
    assert plain["text"]["ko"] == WRONG.text("ko", pointer=False)
    assert "--fix" not in plain["text"]["en"]  # what is pasted into a page is read there


def test_it_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        WRONG.status = "right"
    assert not WRONG.is_right
    assert WRONG.where == (3, "s = where(mask, s, -10)")


def test_a_failure_shows_lines_and_shapes():
    failure = Failure("shapes", "ValueError: no", (("attention", 4, "q @ k"),), (("q", (2, 3)),))
    text = Verdict("unknown", failure=failure).text()
    assert "line 4: q @ k  (attention)" in text
    assert "q (2, 3)" in text


TABLES = [name for name in phrases.__all__ if isinstance(getattr(phrases, name), dict)]


@pytest.mark.parametrize("table", TABLES)
def test_both_languages_say_the_same_facts(table):
    for name, (en, ko) in getattr(phrases, table).items():
        fields = [{field for _, field, _, _ in string.Formatter().parse(text) if field} for text in (en, ko)]
        assert fields[0] == fields[1], name
        assert table == "FIXES" or en == ko == "" or any("가" <= letter <= "힣" for letter in ko), name
