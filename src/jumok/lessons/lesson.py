"""A lesson: its text with every number computed now, and its blocks, to be shown, asked and answered."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..errors import ExampleError, InputError, JumokError
from ..trace import Reading, Trace
from ..words import fill, language, number
from .blocks import Block, Exercise, Predict, Question, Try
from .claims import Claim, filled, placed
from .expressions import Place, parsed
from .functions import Attend, functions, tokens_of
from .markdown import escaped
from .typed import typed_number
from .written import Written

if TYPE_CHECKING:
    from .sitting import Sitting

__all__ = ["Answered", "Asked", "Lesson", "Makers", "chosen"]


@dataclass(frozen=True)
class Makers:
    """What the door brings, for lessons read records and make none.

    attend : the name of an example, or a file's → its record
    changed : the name and a change, as ``solution:`` has it → the record after it
    """

    attend: Attend
    changed: Callable[[str, Mapping[str, Any]], Trace | Reading]


@dataclass(frozen=True)
class Asked:
    """A block as it is put to somebody: its text, its choices, and what was drawn for it."""

    block: Block
    text: str
    choices: tuple[str, ...] = ()
    drawn: Mapping[str, Any] = field(default_factory=dict)
    answer: Any = None


@dataclass(frozen=True)
class Answered:
    """What came of an answer; ``text`` is what to say about it."""

    is_right: bool
    text: str


@dataclass(frozen=True, eq=False)
class Lesson:
    """A lesson in each language that it is written in; ``lang`` is the one it speaks unless asked for another.

    >>> import jumok
    >>> lesson = jumok.lesson("library")
    >>> lesson.title, lesson.minutes
    ('One input, three roles', 10)
    """

    versions: Mapping[str, Written]
    makers: Makers
    lang: str = "en"

    def written(self, lang: str | None = None) -> Written:
        """Its file in a language. Errors: ``InputError`` where it is not written in it."""
        asked = self.lang if lang is None else language(lang)
        if asked not in self.versions:
            there = ", ".join(self.versions)
            raise InputError(
                en=f"this lesson is written in {there}, not in {asked}.",
                ko=f"이 레슨은 {there}로만 쓰여 있습니다({asked} 없음).",
            )
        return self.versions[asked]

    @property
    def name(self) -> str:
        """By which it is called."""
        return self.written().name

    @property
    def number(self) -> int | None:
        """Its place in the course, or None."""
        return self.written().number

    @property
    def title(self) -> str:
        """Its title."""
        return self.written().title

    @property
    def minutes(self) -> int:
        """How long it takes."""
        return self.written().minutes

    @property
    def goals(self) -> tuple[str, ...]:
        """What it is for: keys of ``GOALS``."""
        return self.written().goals

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What is shown, guessed, answered, tried and written, in order."""
        return self.written().blocks

    def speaking(self, lang: str) -> Lesson:
        """The same lesson in another language."""
        self.written(lang)
        return Lesson(self.versions, self.makers, lang)

    def text(self, lang: str | None = None, answers: bool = False) -> str:
        """All of it as Markdown, every number computed now; with the answers where they are asked for."""
        from .plain import markdown

        return markdown(self if lang is None else self.speaking(lang), answers)

    def page(self, lang: str | None = None) -> str:
        """All of it as one HTML file that needs no network."""
        from .page import html

        return html(self if lang is None else self.speaking(lang))

    def notebook(self, lang: str | None = None) -> str:
        """All of it as a Jupyter notebook (.ipynb)."""
        from .notebook import notebook

        return notebook(self if lang is None else self.speaking(lang))

    def sitting(self, seed: int | None = None) -> Sitting:
        """Somebody at work on it, in Python or in a notebook: ``ask``, ``hint``, ``answer``."""
        from .progress import Progress
        from .sitting import Sitting

        return Sitting(self, Progress(), seed)

    def _repr_markdown_(self) -> str:
        return self.text()

    # what is computed -------------------------------------------------------------------------

    @cached_property
    def _attended(self) -> dict[str, Trace | Reading]:
        return {}

    def record(self, name: str | None = None) -> Trace | Reading:
        """The record that its expressions read, or another example's."""
        name = self.written().example if name is None else name
        if name not in self._attended:
            self._attended[name] = self._attend(name)
        return self._attended[name]

    def _attend(self, name: str) -> Trace | Reading:
        try:
            return self.makers.attend(name)
        except ExampleError:
            raise
        except JumokError as error:
            if name != self.written().example:
                raise
            raise self.written().example_place.refused(
                error.text("en").rstrip("."), error.text("ko").rstrip(".")
            ) from error

    @cached_property
    def _functions(self) -> Mapping[str, Callable[..., Any]]:
        return functions(self.written().example, self.record)

    @property
    def functions(self) -> Mapping[str, Callable[..., Any]]:
        """What its expressions can call."""
        return self._functions

    def filled(self, text: str, show: Callable[[Claim, str], str] | None = None) -> str:
        """A text of it with every number computed now; ``show`` makes something of a claim and what it gives."""

        def shown(claim: Claim) -> str:
            value = claim.shown(claim.expression.value({}, self.functions))
            return escaped(value) if show is None else show(claim, value)

        return filled(text, shown, self._places)

    @cached_property
    def _places(self) -> dict[str, Place]:
        return placed(self.written().text, self.written().file)

    # asking and answering ---------------------------------------------------------------------

    def block(self, id: str) -> Block:
        """The block of that id. Errors: ``UnknownName``."""
        from ..tokens import unknown_name

        for block in self.blocks:
            if block.id == id:
                return block
        raise unknown_name("block", "항목", id, [block.id for block in self.blocks])

    def asked(self, id: str, seed: int | None = None) -> Asked:
        """A block as it is put to somebody; ``seed`` draws the same numbers again."""
        block = self.block(id)
        if isinstance(block, Predict):
            return self._asked_guess(block)
        if isinstance(block, Question):
            return self._asked_question(block, random.Random(seed))
        said = block.say if isinstance(block, Try | Exercise) else ""
        return Asked(block, self.filled(said))

    def _asked_guess(self, block: Predict) -> Asked:
        choices = tokens_of(self.record()) if block.choices is None else [self.filled(one) for one in block.choices]
        answer = block.answer.value({}, self.functions)
        return Asked(block, self.filled(block.ask), tuple(choices), {}, answer)

    def _asked_question(self, block: Question, rng: random.Random) -> Asked:
        tokens = tokens_of(self.record())
        drawn = {draw.name: draw.value(rng, tokens) for draw in block.draws}
        answer = block.answer.value(drawn, self.functions)
        return Asked(block, self._drawn(block, block.ask, drawn), (), drawn, answer)

    def hint(self, asked: Asked, at: int) -> str:
        """A step of help, by its place from 0, with what a question draws put in; the answer is not known there."""
        return self.worded(asked, asked.block.hints[at])

    def worded(self, asked: Asked, text: str, is_over: bool = False) -> str:
        """A text of a block with the numbers that were drawn; ``is_over``: ``{answer}`` may be said."""
        if not isinstance(asked.block, Question | Predict):
            return self.filled(text)
        return self._drawn(asked.block, text, {**asked.drawn, "answer": asked.answer} if is_over else asked.drawn)

    def _drawn(self, block: Block, text: str, values: Mapping[str, Any]) -> str:
        """A text with its {a} put in: a drawn value, or an expression of them.

        ``{t:은/는}`` adds the particle, ``{a:()}`` puts what is below zero into brackets: 3×(−2), 3×2.
        """
        place = Place(self.written().file, block.line)

        def shown(found: re.Match[str]) -> str:
            expression, _, spec = found[1].partition(":")
            value = parsed(expression, place).value(values, self.functions)
            if spec in ("", APART):
                said = _said(value)
                return f"({said})" if spec and said.startswith("−") else said
            return fill(f"{{it:{spec}}}", {"it": value}, self.lang)

        return re.sub(r"(?<!\{)\{([^{}]+)\}(?!\})", shown, self.filled(text))

    def answered(self, asked: Asked, given: Any) -> Answered:
        """What comes of an answer: a guess, a number or token, a change of the example, or code.

        Errors: ``InputError`` for what is no answer of this kind; a change or code is refused as it is elsewhere.
        """
        block = asked.block
        if isinstance(block, Predict):
            return Answered(chosen(asked, given) == asked.answer, self.told(asked))
        if isinstance(block, Question):
            return self._answered_question(block, asked, given)
        if isinstance(block, Try):
            return Answered(self.reaches(block, given), "")
        if isinstance(block, Exercise):
            from .checker.checking import check

            verdict = check(given, block.checks)
            return Answered(verdict.is_right, verdict.text(self.lang, pointer=False))
        raise InputError(en=f"{block.id} asks nothing.", ko=f"{block.id}은(는) 묻는 항목이 아닙니다.")

    def _answered_question(self, block: Question, asked: Asked, given: Any) -> Answered:
        given = _given(given, asked.answer)
        if block.is_near(asked.answer, given):
            return Answered(True, self.told(asked))
        for slip, said in block.mistakes:
            if block.is_near(slip.value(asked.drawn, self.functions), given):
                return Answered(False, self.worded(asked, said, is_over=True))
        return Answered(False, "")

    def told(self, asked: Asked) -> str:
        """What is said once the answer is known."""
        after = asked.block.after if isinstance(asked.block, Predict | Question) else ""
        return self.worded(asked, after, is_over=True)

    def reaches(self, block: Try, changes: Mapping[str, Any]) -> bool:
        """Whether a change of the example reaches the goal of a ``try``."""
        record = self.makers.changed(block.example, changes) if changes else self.record(block.example)
        return self.holds(block, record)

    def holds(self, block: Try, record: Trace | Reading) -> bool:
        """Whether the goal of a ``try`` holds in a record that stands in the place of its example."""

        def attend(name: str) -> Trace | Reading:
            return record if name == block.example else self.record(name)

        return bool(block.goal.value({}, functions(block.example, attend)))


NOTHING = 1e-9  # what rounding leaves of a whole number
APART = "()"  # how a number asks for brackets where it is below zero


def _said(value: Any) -> str:
    """As it stands in prose, with a sign for minus that is no hyphen."""
    return escaped(value) if isinstance(value, str) else number(value).replace("-", "−")


def chosen(asked: Asked, given: Any) -> Any:
    """The choice that is meant: by its number from 1, or by its text."""
    text = str(given).strip()
    for choice in asked.choices:
        if choice.casefold() == text.casefold() and not text.isdigit():
            return choice
    at = typed_number(text, is_whole=True)
    if at is not None and at in range(1, len(asked.choices) + 1):
        return asked.choices[int(at) - 1]
    if text in asked.choices:
        return text
    some = ", ".join(asked.choices)
    raise InputError(
        en=f"one of these is expected: {some}; or its number.",
        ko=f"다음 가운데 하나, 또는 그 번호가 필요합니다: {some}.",
    )


def _given(given: Any, answer: Any) -> Any:
    """A number (also 1/3, 55%, with a comma or its unit, in words) or a text, from what somebody typed."""
    if isinstance(answer, str):
        return unicodedata.normalize("NFC", str(given)).strip()
    if not isinstance(given, str):
        return given
    number = typed_number(given, is_whole=_is_whole(answer))
    if number is None:
        raise InputError(
            en=f"a number is expected, got {given!r}. Write one number: 9, 0.5, 1/3 or 55%.",
            ko=f"숫자가 필요한데 {given!r}이(가) 왔습니다. 9, 0.5, 1/3, 55%처럼 하나만 쓰십시오.",
        )
    return number


def _is_whole(answer: Any) -> bool:
    return bool(abs(answer - round(answer)) < NOTHING)
