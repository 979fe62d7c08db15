"""A lesson as one HTML file: its text beside the live view of its examples, questions that are judged there; no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import OutputError, system_reason
from ..picture import page
from ..trace import Reading, Trace, layers_of
from ..words import LANGS, shown
from . import packaged, typed
from .goals import GOALS, covering
from .lesson import Lesson
from .tree import elements, examples, measured

__all__ = ["EXTENSION", "Parts", "carried", "html", "parts"]

EXTENSION = page.BUNDLE.parent / "lesson.js"


@dataclass(frozen=True)
class Parts:
    """What the page of a lesson is made of: its records, what the model holds besides, what is chosen, the title."""

    records: Sequence[Trace | Reading]
    extra: Mapping[str, Any]
    view: Mapping[str, Any]
    title: Mapping[str, str]


def html(lesson: Lesson) -> str:
    """The whole file."""
    made = parts(lesson)
    return "".join(page.html(made.records, extra=made.extra, view=made.view, lang=lesson.lang, title=made.title))


def parts(lesson: Lesson) -> Parts:
    """What the page is made of."""
    records = [lesson.record(name) for name in examples(lesson)]
    title = {lang: _title(shown(lesson.versions.get(lang, lesson.written()).title)) for lang in LANGS}
    view = {"view": "stages", "document": 0, **_opening(records[0])}
    return Parts(records, carried(lesson), view, title)


def _opening(record: Trace | Reading) -> dict[str, Any]:
    """Where the live view opens: at the beginning of the road, at no key in particular. Weights would answer a first guess."""
    first = layers_of(record)[0]
    focus = {**record.source.details, **first.source.details}.get("focus")
    query = first.n_queries - 1 if focus is None else focus
    place = {} if first.x is None else {"stage": "x"}
    return {**place, "query": query, "key": min(query, first.n_keys - 1)}


def _title(text: str) -> str:
    """A title is plain text on the page: its d_k in letters that there are."""
    return text.replace("d_k", "dₖ")


def carried(lesson: Lesson) -> dict[str, Any]:
    """What the page's model holds besides its documents: the second program, and the lesson in each of its languages."""
    documents = examples(lesson)
    plain = {
        "name": lesson.name,
        "command": f"jumok lesson {lesson.name if lesson.number is not None else lesson.written().file}",
        "examples": documents,
        "minutes": lesson.minutes,
        "elements": {lang: elements(lesson.speaking(lang), documents) for lang in lesson.versions},
        "measured": measured(lesson),
        "typed": typed.plain(),
        "goals": _goals(lesson),
    }
    return {"extension": _extension(), "lesson": plain}


def _extension() -> str:
    """The second program, which travels in the package. Errors: ``OutputError`` where it cannot be read."""
    try:
        return EXTENSION.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        en, ko = system_reason(error)
        raise OutputError(
            en=f"the page of a lesson needs {EXTENSION.name}, a part of jumok, and it cannot be read: {en} ({EXTENSION}). "
            "Install jumok again.",
            ko=f"레슨 페이지에는 jumok에 들어 있는 {EXTENSION.name}이 필요한데 읽을 수 없습니다: {ko} ({EXTENSION}). "
            "jumok을 다시 설치하십시오.",
        ) from error


def _goals(lesson: Lesson) -> list[dict[str, Any]]:
    """Each goal: in words, and the (lesson, block) that count for it in the course and here."""
    others = [one for one in packaged.course(lesson.makers) if one.name != lesson.name]
    covered = [(one.name, covering(one)) for one in (*others, lesson)]
    return [
        {
            "text": {"en": en, "ko": ko},
            "blocks": [[name, id] for name, of in covered for id in of[goal]],
            "is_here": bool(covered[-1][1][goal]),
        }
        for goal, (en, ko) in GOALS.items()
    ]
