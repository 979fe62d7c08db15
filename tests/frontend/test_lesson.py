"""The page computes the expressions of lessons (frontend/src/engine/expressions.ts, functions.ts) as Python does."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from jumok.errors import ExampleError
from jumok.lessons import packaged
from jumok.lessons.blocks import Question, Try
from jumok.lessons.checked import claims_of
from jumok.lessons.expressions import Expression, parsed
from jumok.lessons.functions import functions
from jumok.lessons.lesson import Lesson
from jumok.lessons.tree import COMPUTED, _sets, measured
from jumok.picture.packed import pack
from jumok.verbs import _makers
from small_lessons import TEXT, small

GRAMMAR = [
    "1", "1.5e3", ".5", "1_000", "-2**2", "2**-1", "2**3**2", "-(-2)", "+3", "not 0", "not not 2", "1 + 2*3 - 4/8",
    "1 < 2 < 3", "1 < 3 < 2", "3 > 2 == 2", "1 == 1.0", "True + 1", "True == 1", '"a" == "a"', '"a" != "b"', '"1" == 1',
    "1 if 0 else 2", "1 if [] else 2 if [0] else 3", "0 or 3 > 2", "1 and 0", "1 or 1/0", "not 1 == 2", "1 < 2 and 2 < 1 or True",
    "[1, 2, 3]", "[]", "[1, 2,] == [1, 2]", "sum([1, 2, 3])", "sum(1, 2)", "min(3, 1, 2)", "max([3, 1])", "len([1, 2])",
    'len("ab은")', "round(2.5)", "round(3.5)", "round(0.125, 2)", "round(2.675, 2)", "round(-0.5)", "round(1.2345, digits=3)",
    "sqrt(16)", "exp(1)", "log(exp(2))", "abs(-3)", "softmax([1, 2, 3])", "softmax([1000, 0])", "dot([1, 2], [3, 4])",
    "argmax([1, 5, 5])", "a*2 + b", "cost(12)", "cost(n=3)", "parameters(64, 8)", "parameters(64, heads=3)",
    'weights("studies")', 'scores("studies")', 'queries("studies")', 'embedding("studies")', 'outputs("studies")',
    'argmax(weights("studies"))', 'rank(weights("studies"), "carefully")', 'x("studies", 2)', 'key("studies", "Action")',
    'w_q("Action", 3)', "n_tokens()", "d_k()", "n_heads()", "n_layers()", "n_scores()", 'n_tokens("it-tired")',
    'weight("it-tired", "it", "cat", layer=1)', 'weight("it-tired", "it", "cat", layer=1, head=0)', 'mean_weight("studies")',
    'mean_weight("bank-money", 0)', 'mean_weight(-1)', 'scaled("studies", "student")', 'value("studies", 1)',
    'keys("studies")', 'values("studies")', 'query("studies", "Method")', 'weight(2, 3)',
    'x("it-tired", "the#1", 1)', 'score("student", "studies", "The")',
]  # fmt: skip
REFUSED = [
    "1/0", "0**-1", "(-2)**0.5", "10**20", "b +", "nobody", "nothing(1)", '"a" < 1', 'x("nobody", 1)', "sqrt(-1)", "log(0)",
    'x("studies", 9)', 'weight("studies", "student", head=3)', 'w_o(1, 1)', "dot([1], [1, 2])", '"a" + 1', "max([])",
    'rank(weights("studies"), "nobody")', "argmax([])", "exp(1000)", 'weight("studies")', "1 2", "(1", "[1", "a.b", "a[0]",
]  # fmt: skip


class Cases:
    """What is computed on both sides, and the records as files in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.plain: list[dict[str, Any]] = []
        self.expected: list[Any] = []

    def add(self, lesson: Lesson, expression: Expression, variables: Mapping[str, Any]) -> None:
        """An expression of a lesson, of its own example."""
        self._add(lesson, expression, variables, lesson.written().example, {})

    def goal(self, lesson: Lesson, block: Try) -> None:
        """The goal of a ``try``, before and after its solution."""
        self._add(lesson, block.goal, {}, block.example, {})
        self._add(lesson, block.goal, {}, block.example, block.solution)

    def _add(
        self, lesson: Lesson, expression: Expression, variables: Mapping[str, Any], own: str, change: Mapping[str, Any]
    ) -> None:
        records: dict[str, str] = {}

        def attend(name: str) -> Any:
            is_changed = bool(change) and name == own
            record = lesson.makers.changed(name, change) if is_changed else lesson.record(name)
            what = json.dumps([name, change]) if is_changed else name
            records[name] = f"{zlib.crc32(what.encode())}-{Path(name).stem}.safetensors"
            if not (self.folder / records[name]).exists():
                (self.folder / records[name]).write_bytes(b"".join(pack(record).file()))
            return record

        try:
            value = expression.value(variables, functions(own, attend))
        except ExampleError:
            value = None
        case = {"text": expression.text, "variables": dict(variables), "example": own, "records": records}
        self.plain.append({**case, "measured": self.measured(lesson)})
        self.expected.append({"row": value} if isinstance(value, dict) else value)

    def question(self, lesson: Lesson, block: Question, drawn: Mapping[str, Any]) -> None:
        """The answer and the likely slips of a question, for the numbers that were drawn."""
        for expression in (block.answer, *(slip for slip, _ in block.mistakes)):
            self.add(lesson, expression, drawn)

    @cache  # noqa: B019
    def measured(self, lesson: Lesson) -> dict[str, Any]:
        return measured(lesson)

    def made(self, node: Callable[..., str]) -> dict[str, Any]:
        """What the page gives for each."""
        (self.folder / "cases.json").write_text(json.dumps(self.plain), encoding="utf-8")
        node("lesson.parity", JUMOK_LESSONS=self.folder)
        made: dict[str, Any] = json.loads((self.folder / "made.json").read_text(encoding="utf-8"))
        return made

    def compare(self, made: list[Any]) -> None:
        """Each is the same; a number to 9 digits, of a record in single precision to 5."""
        assert len(made) == len(self.expected)
        for case, mine, theirs in zip(self.plain, made, self.expected, strict=True):
            single = any(name.startswith("minilm") for name in case["records"])
            assert same(mine.get("value"), theirs, 1e-5 if single else 1e-9), (case["text"], mine, theirs)


def same(mine: Any, theirs: Any, tolerance: float) -> bool:
    if isinstance(theirs, dict):
        return list(mine) == list(theirs) and all(same(mine[name], theirs[name], tolerance) for name in theirs)
    if isinstance(theirs, list):
        return len(mine) == len(theirs) and all(same(a, b, tolerance) for a, b in zip(mine, theirs, strict=True))
    if isinstance(theirs, float | int) and not isinstance(theirs, bool):
        return isinstance(mine, float | int) and math.isclose(mine, theirs, rel_tol=tolerance, abs_tol=tolerance)
    return type(mine) is type(theirs) and bool(mine == theirs)


def test_the_grammar_and_every_function(node: Callable[..., str], tmp_path: Path) -> None:
    cases = Cases(tmp_path)
    lesson = small()
    for text in GRAMMAR:
        cases.add(lesson, parsed(text), {"a": 3, "b": -1.5})
    assert None not in cases.expected
    made = cases.made(node)
    cases.compare(made["made"])
    assert set(made["names"]) == COMPUTED <= set(lesson.functions), "what a new function gives travels, or is here too"


def test_what_python_refuses_is_refused(node: Callable[..., str], tmp_path: Path) -> None:
    cases = Cases(tmp_path)
    readable = [text for text in REFUSED if _is_read(text)]
    assert len(readable) < len(REFUSED)
    lesson = small()
    for text in readable:
        cases.add(lesson, parsed(text), {"b": 1})
    assert set(cases.expected) == {None}
    unread = [{**cases.plain[0], "text": text} for text in REFUSED if text not in readable]
    cases.plain += unread
    assert ["error" in one for one in cases.made(node)["made"]] == [True] * len(REFUSED)


def _is_read(text: str) -> bool:
    try:
        parsed(text)
    except ExampleError:
        return False
    return True


def test_every_expression_of_the_course(node: Callable[..., str], tmp_path: Path) -> None:
    cases = Cases(tmp_path)
    for lesson in packaged.course(_makers()):
        for version in lesson.versions.values():
            for claim in claims_of(version):
                if claim.expression.names & set(lesson.functions) <= COMPUTED:
                    cases.add(lesson, claim.expression, {})
        for block in lesson.blocks:
            if isinstance(block, Question):
                for drawn in _sets(lesson, block) or [lesson.asked(block.id, seed).drawn for seed in range(5)]:
                    cases.question(lesson, block, drawn)
            if isinstance(block, Try):
                cases.goal(lesson, block)
    assert None not in cases.expected
    cases.compare(cases.made(node)["made"])


def test_what_is_measured_travels(node: Callable[..., str], tmp_path: Path) -> None:
    lesson = small(
        TEXT.replace("answer: a*1 + 2*b", "answer: variance_of_scores(a + 1, scaled=b > 0) + largest_weight(a)")
    )
    (block,) = (one for one in lesson.blocks if isinstance(one, Question))
    drawn = _sets(lesson, block)
    assert len(drawn) > 10
    cases = Cases(tmp_path)
    for one in drawn:
        cases.question(lesson, block, one)
    assert None not in cases.expected
    cases.compare(cases.made(node)["made"])
    assert measured(small()) == {}


def test_comparing_nothing_is_no_success(node: Callable[..., str], tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="there is something to compute"):
        Cases(tmp_path).made(node)
