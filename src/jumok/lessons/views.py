"""What a ``show`` block shows: a picture or an explanation of a record, or the command that opens it."""

from __future__ import annotations

import shlex

from ..explanation.explanation import Explanation, explain
from ..files import packaged_readings
from ..picture.drawing import Picture, draw
from .blocks import Show
from .lesson import Lesson

__all__ = ["command", "explained", "notebook_code", "picture"]

KINDS = {"stages": "strip", "weights": "heat", "output": "heat", "arrows": "arrows"}


def picture(lesson: Lesson, show: Show) -> Picture | None:
    """The picture of a view; None for one that is no picture."""
    if show.view not in KINDS:
        return None
    options, kind = show.options, _kind(show)
    is_heat = kind == "heat"
    return draw(
        lesson.record(options.get("example")),
        kind,
        stage=options.get("stage", show.view) if is_heat else None,
        layer=_place(options.get("layer")),
        head=_place(options.get("head")),
        query=options.get("token"),
        lang=lesson.lang,
    )


def explained(lesson: Lesson, show: Show) -> Explanation:
    """The explanation of a token."""
    options = show.options
    return explain(
        lesson.record(options.get("example")),
        options.get("token"),
        lesson.lang,
        layer=_place(options.get("layer")),
        head=_place(options.get("head")),
    )


def command(lesson: Lesson, show: Show) -> str:
    """The command line that shows the same outside of the lesson."""
    example = show.options.get("example", lesson.written().example)
    asked = ("layer", "head") if show.view == "explain" else ("token", "stage", "layer", "head")
    chosen = "".join(f" --{name} {_quoted(show.options[name])}" for name in asked if name in show.options)
    if show.view == "explain":
        token = f" {_quoted(show.options['token'])}" if "token" in show.options else ""
        return f"jumok explain {example}{token}{chosen}"
    return f"jumok draw {example}{chosen} -o {example}.html"


def notebook_code(lesson: Lesson, show: Show) -> str:
    """The Python of a notebook cell that shows the same."""
    if show.view == "code":
        return show.code
    options = show.options
    record = _loaded(options.get("example", lesson.written().example))
    token = f", {options['token']!r}" if "token" in options else ""
    place = "".join(f", {name}={int(options[name])}" for name in ("layer", "head") if name in options)
    if show.view == "explain":
        return f"print(jumok.explain({record}{token}, lang={lesson.lang!r}{place}))"
    if show.view == "page":
        return f"jumok.widget({record}, lang={lesson.lang!r})"
    kind = _kind(show)
    is_heat = kind == "heat"
    chosen = f", stage={options.get('stage', show.view)!r}" if is_heat else ""
    chosen += place
    chosen += f", query={options['token']!r}" if token else ""
    return f"jumok.draw({record}, {kind!r}{chosen}, lang={lesson.lang!r})"


def _loaded(name: str) -> str:
    """The Python that makes the record of a name: an example is attended to, a saved one is there."""
    is_saved = name in packaged_readings() or name.endswith(".safetensors")
    return f"jumok.load({name!r})" if is_saved else f"jumok.attend(jumok.load({name!r}))"


def _kind(show: Show) -> str:
    """Which picture: of one stage, where one is named, a heat map."""
    return "heat" if "stage" in show.options else KINDS[show.view]


def _place(text: str | None) -> int | None:
    return None if text is None else int(text)


def _quoted(text: str) -> str:
    return shlex.quote(text) if text else ""
