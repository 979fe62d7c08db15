"""A lesson as Markdown: for a reader without a terminal to type in, to print, to search."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..words import number
from .blocks import Block, Exercise, Show, Try
from .lesson import Asked, Lesson
from .markdown import Fence, Heading, Items, Paragraph, Piece, Quote, Table, escaped
from .phrases import say
from .views import command, explained, picture

__all__ = ["answer_of", "block_markdown", "change_of", "markdown", "piece_markdown"]


def markdown(lesson: Lesson, answers: bool = False) -> str:
    """The text of a lesson, every number computed now; with the answers where they are asked for."""
    parts = [f"# {lesson.title}"]
    for element in lesson.written().elements:
        if isinstance(element, Block):
            parts += block_markdown(lesson, element, answers)
        else:
            parts.append(piece_markdown(lesson, element))
    return "\n\n".join(part for part in parts if part) + "\n"


def piece_markdown(lesson: Lesson, piece: Piece) -> str:
    """A piece of text as Markdown again, its numbers computed."""
    if isinstance(piece, Fence):
        return f"```{piece.info}\n{piece.body}\n```"
    if isinstance(piece, Heading):
        return f"{'#' * piece.level} {lesson.filled(piece.text)}"
    if isinstance(piece, Items):
        return "\n".join(f"{'  ' * depth}{mark} {lesson.filled(text)}" for _, mark, depth, text in piece.entries)
    if isinstance(piece, Table):
        rows = [f"| {' | '.join(map(lesson.filled, row))} |" for row in piece.rows]
        return "\n".join([rows[0], f"|{' --- |' * len(piece.rows[0])}", *rows[1:]])
    assert isinstance(piece, Paragraph | Quote)
    return f"{'> ' if isinstance(piece, Quote) else ''}{lesson.filled(piece.text)}"


def block_markdown(lesson: Lesson, block: Block, answers: bool) -> Iterator[str]:
    """A block: what it shows or asks, and the answer where it is wanted."""
    if isinstance(block, Show):
        yield from _shown(lesson, block)
        return
    asked = lesson.asked(block.id, seed=0)
    yield f"**{say(block.kind, lesson.lang)}.** {asked.text}"
    if asked.choices:
        yield "\n".join(f"{at}. {choice}" for at, choice in enumerate(asked.choices, start=1))
    if isinstance(block, Exercise):
        yield f"```python\n{block.stub}\n```"
    if answers:
        yield from _answered(lesson, asked)


def _shown(lesson: Lesson, show: Show) -> Iterator[str]:
    if show.view == "code":
        yield f"```python\n{show.code}\n```"
    elif show.view == "explain":
        for section in explained(lesson, show).sections():
            yield f"**{escaped(section.title)}**"
            yield "\n".join(f"- {escaped(line)}" for _, line in section.lines)
    elif drawn := picture(lesson, show):
        yield drawn.markdown().rstrip()
    else:
        yield f"`{command(lesson, show)}`"


def _answered(lesson: Lesson, asked: Asked) -> Iterator[str]:
    block = asked.block
    yield say("answer_is", lesson.lang, answer=answer_of(asked)) if asked.answer is not None else ""
    yield lesson.told(asked)
    if isinstance(block, Try):
        yield say("one_way", lesson.lang, change=f"`{change_of(block.solution)}`")
    if isinstance(block, Exercise):
        yield f"```python\n{block.solution}\n```"


def answer_of(asked: Asked) -> str:
    """The answer of a guess or a question, as it is said."""
    return asked.answer if isinstance(asked.answer, str) else number(asked.answer).replace("-", "−")


def change_of(changes: Any) -> str:
    """A change of an example as it can be typed: ``w_q Action Method 9``."""
    return ", ".join(_lines(changes))


def _lines(cells: Any, before: str = "") -> Iterator[str]:
    if isinstance(cells, dict):
        for name, value in cells.items():
            word = json.dumps(name, ensure_ascii=False) if " " in str(name) else str(name)
            yield from _lines(value, f"{before} {word}".strip())
    else:
        yield f"{before} {cells}"
