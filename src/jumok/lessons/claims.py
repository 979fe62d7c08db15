"""Numbers in a lesson's text: what is written, and the expression that has to give it.

>>> (claim,) = claims_in("about {{0.73 = 1/(1 + exp(-1))}}")
>>> claim.written, claim.expression.text, claim.shown(0.731058)
('0.73', '1/(1 + exp(-1))', '0.73')
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .expressions import Expression, Place, parsed

__all__ = ["Claim", "claims_in", "filled", "in_braces", "placed", "unclaimed"]

_CLAIM = re.compile(r"\{\{(.*?)\}\}")
_NUMBER = re.compile(r"[-−]?\d[\d,]*(?:\.(\d+))?(%?)")
_TEXT = re.compile(r'"([^"]*)"')
_BRACED = re.compile(r"\{[^{}]+\}")
_CODE = re.compile(r"(`+).+?\1|\{[^{}]*\}")  # and what a question draws: {a*2}
_DECIMAL = re.compile(r"(?<![\w.])[-−]?\d+(?:,\d{3})*(?:\.\d+(?!\.?\d)|(?:\.\d+)?\s?%)")


@dataclass(frozen=True)
class Claim:
    """``{{0.55 = weight("studies", "deep learning")}}``: what is written, and what has to give it."""

    written: str
    expression: Expression
    place: Place

    def shown(self, value: Any) -> str:
        """A value in the way in which it is written here: as many decimals, per cent, a text."""
        found = _NUMBER.fullmatch(self.written)
        if found is None or not isinstance(value, int | float) or isinstance(value, bool):
            return str(value)
        decimals, share = len(found[1] or ""), bool(found[2])
        text = f"{100 * value if share else value:{',' if ',' in self.written else ''}.{decimals}f}"
        if not text.strip("-0.,"):
            text = text.lstrip("-")
        return text.replace("-", "−" if "−" in self.written else "-") + "%" * share

    @property
    def said(self) -> str:
        """What is written, as it is shown."""
        text = _TEXT.fullmatch(self.written)
        return text[1] if text else self.written

    def is_true(self, value: Any) -> bool:
        """Whether the value, shown in the same way, is what is written."""
        is_text = _TEXT.fullmatch(self.written) is not None
        return isinstance(value, str) == is_text and self.shown(value) == self.said


def claims_in(text: str, file: str = "lesson", line: int = 1) -> Iterator[Claim]:
    """Every claim of a text, with its place.

    Errors: ``ExampleError`` with line and column for one that is not ``{{written = expression}}``.
    """
    for at, row in enumerate(text.split("\n")):
        for found in _CLAIM.finditer(row):
            yield _claim(found, Place(file, line + at, found.start() + 1))
        if (left := _CLAIM.sub(_spaces, row).find("{{")) >= 0:
            raise Place(file, line + at, left + 1).refused(
                "a computed number stands on one line: {{0.55 = expression}}",
                "계산되는 수는 한 줄에 씁니다: {{0.55 = 식}}",
            )


def _claim(found: re.Match[str], place: Place) -> Claim:
    written, sign, expression = found[1].partition(" = ")
    if not sign or not (_NUMBER.fullmatch(written.strip()) or _TEXT.fullmatch(written.strip())):
        raise place.refused(
            'a computed number is {{0.55 = expression}}, {{55% = expression}} or {{"text" = expression}}',
            '계산되는 수는 {{0.55 = 식}}, {{55% = 식}}, {{"글" = 식}} 가운데 하나로 씁니다',
        )
    start = place.column + 2 + len(written) + len(sign)
    return Claim(written.strip(), parsed(expression, Place(place.file, place.line, start)), place)


def filled(text: str, show: Callable[[Claim], str], places: Mapping[str, Place] | None = None) -> str:
    """A text with every claim replaced by what ``show`` makes of it; ``places`` say where claims stand in their file."""

    def shown(found: re.Match[str]) -> str:
        return show(_claim(found, (places or {}).get(found[0], Place("lesson", 1, found.start() + 1))))

    return _CLAIM.sub(shown, text)


def placed(text: str, file: str) -> dict[str, Place]:
    """What is written between braces → where it first stands in a file."""
    found: dict[str, Place] = {}
    for at, row in enumerate(text.split("\n"), start=1):
        for one in _CLAIM.finditer(row):
            found.setdefault(one[0], Place(file, at, one.start() + 1))
    return found


def unclaimed(text: str) -> list[tuple[int, str]]:
    """(column, number) of every decimal or per cent of a line that is neither computed nor in code."""
    blank = _CODE.sub(_spaces, _CLAIM.sub(_spaces, text))
    return [(found.start() + 1, found[0]) for found in _DECIMAL.finditer(blank)]


def in_braces(text: str) -> list[str]:
    """Every {a} of a text that is neither computed nor in code."""
    return _BRACED.findall(re.sub(r"(`+).+?\1", "", _CLAIM.sub("", text)))


def _spaces(found: re.Match[str]) -> str:
    return " " * len(found[0])
