"""The course: the packaged lessons, in order, each in both languages."""

from __future__ import annotations

import os
import re
from functools import cache
from importlib import resources
from typing import Any

from ..errors import UnknownName
from ..tokens import unknown_name
from .lesson import Lesson, Makers
from .written import Written, read, written

__all__ = ["course", "folder", "lesson", "names", "starter"]


def folder() -> Any:
    """Where the lessons of the course lie."""
    return resources.files("jumok.lessons") / "course"


def names() -> dict[int, str]:
    """Number → name of every lesson of the course, in order."""
    found = (re.fullmatch(r"(\d\d)-([a-z-]+)\.en\.md", entry.name) for entry in folder().iterdir())
    return dict(sorted((int(one[1]), one[2]) for one in found if one))


def course(makers: Makers, lang: str = "en") -> list[Lesson]:
    """Every lesson of the course."""
    return [lesson(number, makers, lang) for number in names()]


def lesson(which: int | str | os.PathLike[str], makers: Makers, lang: str = "en") -> Lesson:
    """A lesson of the course by number or name, or one of your own by its file.

    Errors: ``UnknownName`` for one that is not there, ``ExampleError`` with line and column for a file that is wrong.
    """
    known = names()
    text = os.fspath(which) if not isinstance(which, int) else str(which)
    if text.endswith(".md"):
        own = read(text)
        return Lesson({own.lang: own}, makers, own.lang)
    number = int(text) if re.fullmatch(r"-?\d{1,9}", text, re.ASCII) else None
    found = next((at for at, name in known.items() if at == number or name == text), None)
    if found is None and number is not None:
        raise UnknownName(
            en=f"lessons are numbered 1 to {len(known)}, got {text}. `jumok lesson` lists them.",
            ko=f"레슨 번호는 1부터 {len(known)}까지인데 {text}이(가) 왔습니다. `jumok lesson`으로 목록을 볼 수 있습니다.",
        )
    if found is None:
        raise unknown_name("lesson", "레슨", text, known.values())
    return Lesson({one: _packaged(f"{found:02}-{known[found]}.{one}.md") for one in ("en", "ko")}, makers, lang)


@cache
def _packaged(name: str) -> Written:
    return written((folder() / name).read_text(encoding="utf-8"), name)


def starter(lang: str) -> str:
    """The text of a commented lesson to begin from."""
    text: str = (resources.files("jumok.lessons") / "starter" / f"{lang}.md").read_text(encoding="utf-8")
    return text
