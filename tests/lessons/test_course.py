"""The course, lesson by lesson in both languages: numbers, exercises, hints, structure."""

import dataclasses
import re

import pytest

import jumok
from jumok.errors import InputError
from jumok.lessons import packaged
from jumok.lessons.blocks import Exercise, Predict, Show, Try
from jumok.lessons.checked import claims_of, disagreements
from jumok.lessons.checker.checking import check
from jumok.lessons.claims import in_braces
from jumok.lessons.goals import GOALS, covering
from jumok.lessons.markdown import Table
from jumok.lessons.terminal import change_in
from jumok.words import LANGS
from small_lessons import small

NAMES = packaged.names()
EXERCISES = [
    (number, block.id) for number in NAMES for block in jumok.lesson(number).blocks if block.kind == "exercise"
]
MISTAKES = {  # of the code to begin from, by exercise; one that jumok has no name for is not told wrongly
    "scaled-scores": {"no-scale"},
    "softmax": {"softmax-axis", "overflow"},
    "attention": set(),
    "multihead": set(),
    "causal": {"mask-ignored"},
}
IDEAS = {  # what the hints of an exercise have to lead to, in English and Korean
    "scaled-scores": [("root", "제곱근"), ("q.shape[-1]",) * 2],
    "softmax": [("axis", "축"), ("maximum", "최댓값"), ("keepdims",) * 2],
    "attention": [("q @ k.T",) * 2, ("root", "제곱근"), ("Softmax", "소프트맥스"), ("weights @ v",) * 2],
    "multihead": [("reshape",) * 2, ("transpose",) * 2, ("√d_head",) * 2, ("W_O",) * 2],
    "causal": [("j > i",) * 2, ("−∞",) * 2, ("before the softmax", "소프트맥스 앞")],
}


def hinted(block):
    return " ".join(block.hints)


@pytest.mark.parametrize("number", NAMES)
@pytest.mark.parametrize("lang", LANGS)
def test_every_number_is_recomputed_and_another_one_would_be_told(number, lang):
    lesson = jumok.lesson(number, lang)
    claims = claims_of(lesson.written())
    assert len(claims) >= 5
    for claim in claims:
        value = claim.expression.value({}, lesson.functions)
        assert claim.is_true(value), claim
        other = '"nobody"' if claim.written.startswith('"') else re.sub(r"\d", _next_digit, claim.written, count=1)
        assert not dataclasses.replace(claim, written=other).is_true(value), claim
    assert lesson.text(answers=True).count("{{") == 0


@pytest.mark.parametrize("number", NAMES)
@pytest.mark.parametrize("lang", LANGS)
def test_a_change_is_told_in_words_that_terminal_and_page_share(number, lang):
    for block in jumok.lesson(number, lang).blocks:
        if isinstance(block, Try):
            written = [code for text in (block.say, *block.hints) for code in re.findall(r"`([^`]+)`", text)]
            assert [code for code in written if _is_change(code)] == [], "the terminal's prompt says how it is typed"


def _is_change(code):
    try:
        return not {"x", "w_q", "w_k", "w_v", "w_o", "scale", "temperature", "mask", "layer"}.isdisjoint(
            change_in(code)
        )
    except InputError:
        return False


def _next_digit(found):
    return str((int(found[0]) + 1) % 10)


@pytest.mark.parametrize(("number", "id"), EXERCISES)
def test_what_one_begins_from_fails_with_its_mistakes_and_the_solution_is_right(number, id, tmp_path):
    block = jumok.lesson(number).block(id)
    verdicts = {}
    for part in ("stub", "solution"):
        path = tmp_path / f"{part}.py"
        path.write_text(getattr(block, part) + "\n", encoding="utf-8")
        verdicts[part] = check(str(path), block.checks)
    stub, solution = verdicts["stub"], verdicts["solution"]
    assert solution.is_right
    assert solution.mistakes == ()
    assert not stub.is_right
    assert set(stub.mistakes) >= MISTAKES[id]
    assert stub.status == ("mistake" if stub.mistakes else "unknown")
    assert stub.failure is None
    assert stub.example is not None
    assert stub.example.expected is not None
    assert stub.example.got is not None


@pytest.mark.parametrize(("number", "id"), EXERCISES)
@pytest.mark.parametrize("lang", LANGS)
def test_the_hints_of_an_exercise_name_its_ideas(number, id, lang):
    block = jumok.lesson(number, lang).block(id)
    assert len(block.hints) >= 2
    missing = [words for words in IDEAS[id] if words[LANGS.index(lang)] not in hinted(block)]
    assert missing == []


@pytest.mark.parametrize("number", NAMES)
@pytest.mark.parametrize("lang", LANGS)
def test_the_hints_of_a_change_name_where_it_is_made(number, lang):
    korean = {"scale": "스케일", "temperature": "온도", "mask": "마스크", "window": "윈도우"}
    words = korean if lang == "ko" else {}
    for block in jumok.lesson(number, lang).blocks:
        if isinstance(block, Try):
            said = f"{block.say} {hinted(block)}"
            assert [name for name in _names(block.solution) if words.get(name, name) not in said] == [], block.id


def _names(changes):
    """The rows and columns that a change names, and the settings."""
    for name, value in changes.items():
        if name not in ("w_q", "w_k", "w_v", "x", "layer"):
            yield str(name)
        if isinstance(value, dict):
            yield from _names(value)


@pytest.mark.parametrize("number", NAMES)
@pytest.mark.parametrize("lang", LANGS)
def test_every_block_that_asks_has_help_that_does_not_say_the_answer(number, lang):
    lesson = jumok.lesson(number, lang)
    for block in lesson.blocks:
        if isinstance(block, Show):
            continue
        asked = lesson.asked(block.id, seed=1)
        hints = [lesson.hint(asked, at) for at in range(len(block.hints))]
        assert hints
        assert not any("{{" in hint or in_braces(hint) for hint in hints)
        if isinstance(block, Predict) and block.choices is not None:
            assert not any(str(asked.answer) == hint.strip(".*") for hint in hints)


@pytest.mark.parametrize("number", NAMES)
def test_both_languages_are_one_lesson(number):
    lesson = jumok.lesson(number)
    assert list(lesson.versions) == ["en", "ko"]
    assert list(disagreements(lesson)) == []
    first, second = (lesson.written(lang) for lang in LANGS)
    tables = [[len(one.rows) for one in version.elements if isinstance(one, Table)] for version in (first, second)]
    assert tables[0] == tables[1]
    for block in (one for one in first.blocks if not isinstance(one, Show | Exercise)):
        assert block.texts() != second.blocks[first.blocks.index(block)].texts(), f"{block.id} is not translated"


@pytest.mark.parametrize("number", NAMES)
def test_a_block_that_is_missing_in_one_language_would_be_told(number):
    lesson = jumok.lesson(number)
    written = lesson.written("ko").text
    start = written.index("```question")
    without = written[:start] + written[written.index("\n```\n", start) + 5 :]
    assert list(disagreements(small(lesson.written("en").text, "en", ko=without)))


def test_each_goal_needs_what_it_says():
    needed = {goal: set() for goal in GOALS}
    for number in NAMES:
        lesson = jumok.lesson(number)
        for goal, ids in covering(lesson).items():
            needed[goal] |= {lesson.block(id).kind for id in ids}
    assert needed["write-attention"] == {"exercise"}
    assert {goal for goal, kinds in needed.items() if "exercise" in kinds} == {"write-attention"}
    assert all({"question", "try"} <= kinds for goal, kinds in needed.items() if goal != "write-attention")


def test_no_guess_stands_behind_its_answer():
    """A guess of the strongest token comes before the picture or table that shows that row."""
    for number in NAMES:
        blocks = jumok.lesson(number).blocks
        for at, block in enumerate(blocks):
            if isinstance(block, Predict) and block.choices is None and at:
                before = blocks[at - 1]
                assert not (isinstance(before, Show) and before.view in ("arrows", "weights")), block.id
