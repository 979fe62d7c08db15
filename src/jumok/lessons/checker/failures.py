"""Why a learner's code could not be run to its end, in words that help."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .judge import Run
from .process import Answers, Limits
from .source import Source
from .verdict import Failure

__all__ = ["failure_of"]


def failure_of(came: Answers, runs: Sequence[Run], source: Source, limits: Limits, is_able: bool) -> Failure | None:
    """What kept the code from running: its end by a limit, its error; None where it ran on some case."""
    if came.ended != "done":
        seconds = limits.wall_seconds if came.ended == "wall" else limits.seconds
        data = (("seconds", f"{seconds:g}"), ("signal", came.signal))
        return Failure(came.ended, lines=_lines(source, list(reversed(came.stopped_at))), data=data)
    error = came.told.get("error")
    if error is None and not is_able:
        failed = sorted((run for run in runs if run.error is not None), key=lambda run: _LIKELY.get(run.case.name, 5))
        error = failed[0].error if failed else None
    return None if error is None else _of_error(error, source, limits)


_OF_SHAPES = ("shapes", "shapes-elsewhere", "other")
_LIKELY = {"square": 0, "equal": 1, "different": 2}


def _of_error(error: dict[str, Any], source: Source, limits: Limits) -> Failure:
    text, kinds = error["text"], set(error["kinds"])
    kind = next((name for name, is_so in _KINDS.items() if is_so(text, kinds)), "other")
    if error["kind"] == "None":
        kind = "none"
    name = error.get("missing") or (text.partition(": ")[2] if kind == "uncallable" else "")
    data = (("name", str(name)), ("size", f"{limits.memory_bytes / 2**30:g} GiB"))
    shapes = tuple((name, tuple(shape)) for name, shape in error.get("shapes", {}).items())
    return Failure(
        kind,
        "" if kind in ("uncallable", "returned") else text,
        _lines(source, error["lines"]),
        shapes if kind in _OF_SHAPES else (),
        data,
    )


_KINDS: dict[str, Any] = {
    "missing": lambda _text, kinds: "ModuleNotFoundError" in kinds,
    "uncallable": lambda _text, kinds: "Uncallable" in kinds,
    "syntax": lambda _text, kinds: "SyntaxError" in kinds,
    "memory": lambda text, kinds: "MemoryError" in kinds or re.search("(not enough|can't allocate) memory", text),
    "input": lambda _text, kinds: "EOFError" in kinds,
    "exit": lambda _text, kinds: "SystemExit" in kinds,
    "processes": lambda text, kinds: (
        "BlockingIOError" in kinds or "start new thread" in text or "temporarily unavailable" in text
    ),
    "file": lambda text, _kinds: "File too large" in text,
    "name": lambda _text, kinds: "NameError" in kinds,
    "returned": lambda text, _kinds: "where an array of numbers is needed" in text,
    "arguments": lambda text, kinds: "TypeError" in kinds and re.search("argument", text),
    "shapes": lambda text, kinds: (
        kinds & {"ValueError", "RuntimeError"}
        and re.search(r"core dimension|\bmat[12]\b|batch[12]|not aligned|mv\(|dot", text)
    ),
    "shapes-elsewhere": lambda text, kinds: (
        kinds & {"ValueError", "RuntimeError", "IndexError"}
        and re.search(r"shape|size|dimension|broadcast|mismatch|axes|axis|operand|unpack|dim\b", text)
    ),
}


def _lines(source: Source, lines: Sequence[Sequence[Any]]) -> tuple[tuple[str, int, str], ...]:
    """(function, line, text) of the learner's lines."""
    made = []
    for name, line in lines:
        at = int(line) - source.first_line
        text = source.lines[at].strip() if 0 <= at < len(source.lines) else ""
        made.append(("" if name in ("<module>", "<lambda>") else str(name), int(line), text))
    return tuple(made)
