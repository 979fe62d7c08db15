"""A plain text file: one sentence or paragraph a line."""

from __future__ import annotations

import os
from collections.abc import Iterator

from .lines import lines
from .sentence import Sentence

__all__ = ["sentences"]


def sentences(path: str | os.PathLike[str]) -> Iterator[Sentence]:
    """The lines of a UTF-8 text that are not empty, one after another.

    Errors: as ``lines``.
    """
    for number, text in lines(path):
        if stripped := text.strip():
            yield Sentence(stripped, name=f"line {number}", line=number)
