"""What a learner can do at the end: five goals, ticked by what was done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..words import LANGS

if TYPE_CHECKING:
    from .lesson import Lesson

__all__ = ["GOALS", "Ticked", "checklist", "covering"]

GOALS = {
    "self": ("Say why it is self-attention", "왜 '셀프' 어텐션인지 말할 수 있다"),
    "qkv-analogy": (
        "Explain query, key and value by an everyday comparison",
        "쿼리, 키, 밸류를 일상의 비유로 설명할 수 있다",
    ),
    "follow-a-score": (
        "Follow every step of a score with its numbers",
        "점수 하나가 나오는 모든 단계를 숫자로 따라갈 수 있다",
    ),
    "scale-and-softmax": (
        "Say why scores are divided by √d_k, and what softmax is for",
        "점수를 왜 √d_k로 나누는지, 소프트맥스가 무엇을 하는지 말할 수 있다",
    ),
    "write-attention": (
        "Write scaled dot-product attention yourself",
        "스케일드 내적 어텐션을 직접 짤 수 있다",
    ),
}


@dataclass(frozen=True)
class Ticked:
    """One goal: how many of the blocks that count for it were done right."""

    goal: str
    n_done: int
    n_blocks: int

    @property
    def is_reached(self) -> bool:
        """True where there are blocks that count for it, and every one was done right."""
        return 0 < self.n_blocks == self.n_done

    def text(self, lang: str) -> str:
        """What the goal says, in a language."""
        return GOALS[self.goal][LANGS.index(lang)]


def covering(lesson: Lesson) -> Mapping[str, tuple[str, ...]]:
    """Goal → the ids of the blocks of a lesson that count for it.

    A guess counts only where it says so (``covers``): it is made before the answer can be known.
    """
    found: dict[str, list[str]] = {goal: [] for goal in GOALS}
    for block in lesson.blocks:
        own = lesson.goals if block.covers is None else (block.covers,)
        if block.kind in ("question", "try", "exercise") or (block.kind == "predict" and block.covers):
            for goal in own:
                found.get(goal, []).append(block.id)
    return {goal: tuple(ids) for goal, ids in found.items()}


def checklist(lessons: Iterable[Lesson], done: Iterable[tuple[str, str]]) -> list[Ticked]:
    """The goals, each with how much of it was done.

    done : (lesson, block) that was done right
    """
    right = set(done)
    blocks = [(goal, (lesson.name, id)) for lesson in lessons for goal, ids in covering(lesson).items() for id in ids]
    return [
        Ticked(goal, sum(of == goal and one in right for of, one in blocks), sum(of == goal for of, _ in blocks))
        for goal in GOALS
    ]
