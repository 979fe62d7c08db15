"""Somebody at work on a lesson in Python: asks, hints and answers, each of which shows itself in a notebook."""

from __future__ import annotations

from types import EllipsisType
from typing import Any

from ..errors import OutputError
from .blocks import Predict, Try
from .lesson import Asked, Lesson, chosen
from .phrases import say
from .plain import answer_of, change_of
from .progress import Progress

__all__ = ["Said", "Sitting"]


class Said:
    """Sentences, in Markdown; a notebook shows them so."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return self.text


class Sitting:
    """One lesson at work: what was drawn, and how many hints were given. What is done right is kept as elsewhere."""

    def __init__(self, lesson: Lesson, progress: Progress, seed: int | None = None) -> None:
        self._lesson = lesson
        self._progress = progress
        self._seed = seed
        self._asked: dict[str, Asked] = {}
        self._hints: dict[str, int] = {}

    def ask(self, id: str) -> Said:
        """What a block asks; a question with its numbers drawn anew."""
        asked = self._asked[id] = self._lesson.asked(id, self._seed)
        choices = [f"{at}. {choice}" for at, choice in enumerate(asked.choices, start=1)]
        return Said("\n".join([asked.text, *([""] if choices else []), *choices]))

    def hint(self, id: str) -> Said:
        """The next step of help."""
        hints = self._lesson.block(id).hints
        at = self._hints.get(id, 0)
        if at >= len(hints):
            return Said(say("no_hints", self._lesson.lang))
        self._hints[id] = at + 1
        if id not in self._asked:
            self.ask(id)
        return Said(f"{say('hint', self._lesson.lang, n=at + 1)}: {self._lesson.hint(self._asked[id], at)}")

    def answer(self, id: str, given: Any) -> Said:
        """What comes of an answer: a guess, a number, a change such as {"w_q": {"Action": {"Method": 9}}}, or a function."""
        if isinstance(given, EllipsisType):
            return Said(f"{say('run_cell', self._lesson.lang)} sitting.hint({id!r})")
        if id not in self._asked:
            self.ask(id)
        asked = self._asked[id]
        found = self._lesson.answered(asked, given)
        is_guess = isinstance(asked.block, Predict)
        unkept = self._keep(id, "right" if found.is_right else "guessed") if found.is_right or is_guess else ""
        if is_guess:
            head = say(
                "guessed_right" if found.is_right else "guessed",
                self._lesson.lang,
                given=chosen(asked, given),
                answer=answer_of(asked),
            )
        else:
            head = say("right" if found.is_right else "wrong", self._lesson.lang)
        return Said(f"{head} {found.text}".strip() + unkept)

    def solution(self, id: str) -> Said:
        """The answer, which does not count as done."""
        asked = self._asked.get(id) or self._lesson.asked(id, self._seed)
        unkept = self._keep(id, "seen")
        block = asked.block
        if isinstance(block, Try):
            return Said(say("one_way", self._lesson.lang, change=change_of(block.solution)) + unkept)
        code = getattr(block, "solution", "")
        said = answer_of(asked) if asked.answer is not None else ""
        told = code or f"{say('answer_is', self._lesson.lang, answer=said)} {self._lesson.told(asked)}".strip()
        return Said(told + unkept)

    def _keep(self, id: str, how: str) -> str:
        """Keep what was done; what to say where it cannot be kept, which takes no answer away."""
        try:
            self._progress.add(self._lesson.name, id, how)
        except OutputError as error:
            return f"\n\n{error.text(self._lesson.lang)}"
        return ""
