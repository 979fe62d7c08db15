"""A lesson as a Jupyter notebook: text cells with every number computed, and cells to run and to answer in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .blocks import Block, Exercise, Show, Try
from .lesson import Lesson
from .phrases import say
from .plain import piece_markdown
from .views import notebook_code

__all__ = ["notebook"]


def notebook(lesson: Lesson) -> str:
    """The JSON of an .ipynb file (nbformat 4.5)."""
    cells = [
        {"id": f"cell-{at}", **cell}
        for at, cell in enumerate([_text(f"# {lesson.title}"), _setup(lesson), *_cells(lesson)])
    ]
    plain = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
        },
        "cells": cells,
    }
    return json.dumps(plain, ensure_ascii=False, indent=1) + "\n"


def _text(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _code(code: str) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": code}


def _setup(lesson: Lesson) -> dict[str, Any]:
    which = lesson.written().file if lesson.number is None else lesson.name
    return _code(f"import jumok\n\nlesson = jumok.lesson({which!r}, lang={lesson.lang!r})\nsitting = lesson.sitting()")


def _cells(lesson: Lesson) -> Iterator[dict[str, Any]]:
    for element in lesson.written().elements:
        if not isinstance(element, Block):
            yield _text(piece_markdown(lesson, element))
        elif isinstance(element, Show):
            yield _code(notebook_code(lesson, element))
        else:
            yield from _asking(lesson, element)


def _asking(lesson: Lesson, block: Block) -> Iterator[dict[str, Any]]:
    help = f"{say('run_cell', lesson.lang)} `sitting.hint({block.id!r})`."
    yield _text(f"**{say(block.kind, lesson.lang)}.** {help}")
    yield _code(f"sitting.ask({block.id!r})")
    if isinstance(block, Exercise):
        yield _code(block.stub)
        yield _code(f"sitting.answer({block.id!r}, ...)")
    elif isinstance(block, Try):
        yield _code(f"sitting.answer({block.id!r}, ...)  # {{'w_q': {{'row': {{'column': 1}}}}}}")
    else:
        yield _code(f"sitting.answer({block.id!r}, ...)")
