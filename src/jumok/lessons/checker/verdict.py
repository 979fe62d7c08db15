"""The verdict on a learner's attention: a frozen record that tells itself in Korean and English."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...trace import Trace
from ...words import LANGS, fill, language, number
from .phrases import CONSEQUENCES, DETAILS, ERRORS, FIXES, HINTS, MISTAKE_NAMES, REMARKS, SAID, SEEN

__all__ = ["Example", "Failure", "Mistake", "Verdict"]

MOST_ROWS = 4  # of an array that is shown


def _said(table: dict[str, tuple[str, str]], name: str, lang: str, /, **data: Any) -> str:
    return table[name][LANGS.index(language(lang))].format(**data)


@dataclass(frozen=True)
class Mistake:
    """One mistake by its id, with the variant and the line where they can be told.

    detail : a key of ``DETAILS`` and what fills it;  line : (number, text)
    """

    id: str
    detail: tuple[str, str] | None = None
    line: tuple[int, str] | None = None

    def name(self, lang: str = "en") -> str:
        """What it is."""
        return _said(MISTAKE_NAMES, self.id, lang)

    def hint(self, lang: str = "en") -> str:
        """A question that leads there."""
        return _said(HINTS, self._key(HINTS), lang)

    def fix(self, lang: str = "en") -> str:
        """What to write instead."""
        return _said(FIXES, self._key(FIXES), lang)

    def _key(self, table: dict[str, tuple[str, str]]) -> str:
        """The entry of its variant, where there is one."""
        own = f"{self.id} {self.detail[1]}" if self.detail is not None else self.id
        return own if own in table else self.id

    def variant(self, lang: str = "en") -> str:
        """Which form of it, or ""."""
        if self.detail is None:
            return ""
        kind, name = self.detail
        key = f"{kind} {name}" if f"{kind} {name}" in DETAILS else kind
        return _said(DETAILS, key, lang, name=name) if key in DETAILS else ""


@dataclass(frozen=True, eq=False)
class Example:
    """The smallest case that shows what is wrong.

    trace : the case as a record, so that it can be drawn and explained; None where it cannot be one
    expected, got : what should have come, and what came (None where an error came)
    case : its name, such as "tiny" or "extreme"
    given : (name, array) of what was put in, as far as it helps to see it: the scores, or q, k and v
    """

    trace: Trace | None
    expected: Any
    got: Any
    case: str
    error: str = ""
    given: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Failure:
    """Why the code could not be run to its end.

    kind : a key of ``ERRORS``;  text : Python's own message;  lines : (function, line, text) of the learner's code, the
    outermost first;  shapes : of their variables at the last of them
    """

    kind: str
    text: str = ""
    lines: tuple[tuple[str, int, str], ...] = ()
    shapes: tuple[tuple[str, tuple[int, ...]], ...] = ()
    data: tuple[tuple[str, str], ...] = ()

    def explained(self, lang: str = "en") -> str:
        """What it means."""
        return _said(ERRORS, self.kind, lang, **dict(self.data))


@dataclass(frozen=True, eq=False)
class Verdict:
    """What ``jumok.check`` found.

    status : "right", "right-differently", "mistake" or "unknown"
    found : the mistakes;  one_of : sets of ids that the cases cannot tell apart, where there are several
    consequences : what follows from them, as keys of ``CONSEQUENCES``
    differently : in which ways it is written differently, as keys of ``REMARKS`` with what fills them
    seen : what can be said where no mistake explains it, as keys of ``SEEN`` with what fills them
    judged : which one of a file that has several, where none was named
    form : how it was called;  kind : what it is, such as "causal";  example : the smallest case that shows it
    failure : why it could not be run, or None;  printed : what it printed;  properties : which held, by name
    """

    status: str
    found: tuple[Mistake, ...] = ()
    one_of: tuple[tuple[str, ...], ...] = ()
    consequences: tuple[str, ...] = ()
    differently: tuple[tuple[str, str], ...] = ()
    seen: tuple[tuple[str, str], ...] = ()
    form: str = ""
    kind: str = ""
    example: Example | None = None
    failure: Failure | None = None
    printed: str = ""
    properties: dict[str, bool] = dataclasses.field(default_factory=dict)
    judged: str = ""

    @property
    def mistakes(self) -> tuple[str, ...]:
        """The ids of the mistakes."""
        return tuple(one.id for one in self.found)

    @property
    def is_right(self) -> bool:
        """True where nothing is wrong, however it is written."""
        return self.status in ("right", "right-differently")

    @property
    def where(self) -> tuple[int, str] | None:
        """(number, text) of the line to look at, where it can be told."""
        return next((one.line for one in self.found if one.line is not None), None)

    @property
    def steps(self) -> tuple[tuple[str, str], ...]:
        """(kind, id) the help to give, in order: a hint for each mistake, then the fixes."""
        return tuple((kind, one.id) for kind in ("hint", "fix") for one in self.found)

    def text(self, lang: str = "en", fix: bool = False, pointer: bool = True) -> str:
        """The verdict in sentences; with ``fix`` also what to write instead, else with a ``pointer`` to it."""
        headline = self._headline(lang)
        lines = [f"{self.judged}: {headline}" if self.judged else headline]
        if self.failure is not None:
            lines += _failure_lines(self.failure, lang)
        for ids in self.one_of:
            lines.append("- " + " + ".join(f"{name} ({_said(MISTAKE_NAMES, name, lang)})" for name in ids))
        for one in self.found:
            lines += _mistake_lines(one, lang, fix)
        lines += [f"- {_seen(name, data, lang)}" for name, data in self.seen]
        if self.consequences:
            lines.append(
                _said(
                    SAID,
                    "consequences",
                    lang,
                    some=", ".join(_said(CONSEQUENCES, one, lang) for one in self.consequences),
                )
            )
        lines += [f"- {_said(REMARKS, name, lang, name=data)}" for name, data in self.differently]
        if self.example is not None:
            lines += _example_lines(self.example, lang)
        if self.found and pointer and not fix:
            lines.append(_said(SAID, "more", lang))
        if self.printed.strip():
            lines.append(_said(SAID, "printed", lang, text=_short(self.printed)))
        return "\n".join(lines)

    def _headline(self, lang: str) -> str:
        if self.failure is not None:
            return _said(SAID, "failed", lang)
        if self.one_of:
            return _said(SAID, "one-of", lang)
        if self.status == "mistake" and len(self.found) > 1:
            return _said(SAID, "mistakes", lang, n=len(self.found))
        return _said(SAID, self.status, lang)

    def __str__(self) -> str:
        return self.text()

    def to_json(self) -> dict[str, Any]:
        """All of it as plain JSON, in both languages; what is not finite is written as text."""
        return {
            "format": "jumok-verdict",
            "version": 1,
            "status": self.status,
            "kind": self.kind,
            "judged": self.judged,
            "form": self.form,
            "mistakes": [_mistake_json(one) for one in self.found],
            "one_of": [list(ids) for ids in self.one_of],
            "consequences": [{"id": one, **_both(CONSEQUENCES, one)} for one in self.consequences],
            "differently": [{"id": one, **_both(REMARKS, one, name=data)} for one, data in self.differently],
            "seen": [{"id": one, **{lang: _seen(one, data, lang) for lang in LANGS}} for one, data in self.seen],
            "example": None if self.example is None else _example_json(self.example),
            "failure": None if self.failure is None else _failure_json(self.failure),
            "properties": dict(self.properties),
            "printed": self.printed,
            "text": {lang: self.text(lang, pointer=False) for lang in LANGS},
        }


def _seen(name: str, data: str, lang: str) -> str:
    return fill(SEEN[name][LANGS.index(language(lang))], {"name": data}, lang)


def _both(table: dict[str, tuple[str, str]], name: str, /, **data: Any) -> dict[str, str]:
    return {lang: _said(table, name, lang, **data) for lang in LANGS}


def _mistake_lines(one: Mistake, lang: str, fix: bool) -> list[str]:
    variant = one.variant(lang)
    lines = [f"- {one.id}: {one.name(lang)}.{f' {variant}' if variant else ''}"]
    if one.line is not None:
        lines.append("  " + _said(SAID, "line", lang, line=one.line[0], text=one.line[1]))
    lines.append("  " + _said(SAID, "hint", lang, text=one.hint(lang)))
    return [*lines, "  " + _said(SAID, "fix", lang, text=one.fix(lang))] if fix else lines


def _mistake_json(one: Mistake) -> dict[str, Any]:
    said = {
        lang: {"name": one.name(lang), "variant": one.variant(lang), "hint": one.hint(lang), "fix": one.fix(lang)}
        for lang in LANGS
    }
    return {"id": one.id, "line": None if one.line is None else one.line[0], **said}


def _failure_lines(failure: Failure, lang: str) -> list[str]:
    lines = [failure.explained(lang)]
    for name, line, text in failure.lines:
        lines.append("  " + _said(SAID, "line", lang, line=line, text=text) + (f"  ({name})" if name else ""))
    if failure.text:
        lines.append("  " + failure.text)
    if failure.shapes:
        some = ", ".join(f"{name} {tuple(shape)}" for name, shape in failure.shapes)
        lines.append(_said(SAID, "variables", lang, some=some))
    return lines


def _failure_json(failure: Failure) -> dict[str, Any]:
    return {
        "kind": failure.kind, "message": failure.text, "shapes": {name: list(shape) for name, shape in failure.shapes},
        "lines": [{"function": name, "line": line, "text": text} for name, line, text in failure.lines],
        **{lang: failure.explained(lang) for lang in LANGS},
    }  # fmt: skip


# the example --------------------------------------------------------------------------------------


def _example_lines(example: Example, lang: str) -> list[str]:
    case = f"case {example.case.partition('-')[0]}"
    what = _said(SAID, case, lang) if case in SAID else ""
    lines = [_said(SAID, "example", lang, what=what)]
    trace = example.trace
    if trace is not None and trace.n_queries <= MOST_ROWS:
        lines += [f"  {name}: {_rows(array)}" for name, array in example.given]
    if trace is not None and not trace.allowed.all():
        lines.append(f"  {_said(SAID, 'allowed', lang)}: {_rows(trace.allowed)}")
    lines.append(f"  {_said(SAID, 'expected', lang)}: {_rows(example.expected)}")
    got = f"{_said(SAID, 'error', lang)}: {example.error}" if example.got is None else _rows(example.got)
    return [*lines, f"  {_said(SAID, 'got', lang)}: {got}"]


def _rows(array: Any) -> str:
    """The first rows of an array, as people write numbers."""
    array = np.asarray(array, float)
    if array.ndim == 0:
        return _number(float(array))
    while array.ndim > 2:
        array = array[0]
    rows = np.atleast_2d(array)
    told = [
        "(" + ", ".join(_number(a) for a in row[:8]) + (", …" if len(row) > 8 else "") + ")" for row in rows[:MOST_ROWS]
    ]
    return ", ".join(told) + (", …" if len(rows) > MOST_ROWS else "")


def _number(value: float) -> str:
    return number(value) if np.isfinite(value) else "NaN" if np.isnan(value) else "∞" if value > 0 else "-∞"


def _example_json(example: Example) -> dict[str, Any]:
    return {
        "case": example.case, "expected": _plain(example.expected), "got": _plain(example.got), "error": example.error,
        "given": {name: _plain(array) for name, array in example.given},
        "trace": None if example.trace is None else example.trace.to_json(),
    }  # fmt: skip


def _plain(array: Any) -> Any:
    if array is None:
        return None
    if isinstance(array, np.ndarray):
        return [_plain(one) for one in array] if array.ndim else _plain(float(array))
    return float(array) if np.isfinite(array) else _number(float(array))


def _short(text: str) -> str:
    line = " ⏎ ".join(text.strip().splitlines())
    return line if len(line) <= 200 else f"{line[:200]}…"
