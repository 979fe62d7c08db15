"""Arrows between tokens: two columns of tokens with lines, or arcs over the sentence for one token."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..trace import Trace
from ..words import number
from .captions import LONGEST, brief, say, token_names
from .heat import MOST_TOKENS
from .layout import Panel, paragraph, stacked
from .svg import Text, cut, line, path, rect, width_of
from .theme import Theme, css, ink_on

__all__ = ["arcs", "arrows"]

ROW = 26.0
FAINTEST = 0.005  # a lighter line could not be seen


@dataclass(frozen=True)
class _Links:
    """What is drawn: names, weights, and the token whose numbers are written.

    weights : (query, key);  allowed : (query, key)
    """

    queries: list[str]
    keys: list[str]
    weights: Any
    allowed: Any
    focus: int


def _links(trace: Trace, head: int, focus: int) -> _Links:
    if max(trace.n_queries, trace.n_keys) > MOST_TOKENS:
        raise InputError(
            en=f"arrows between {trace.n_queries:,} and {trace.n_keys:,} tokens could not be told apart (at most {MOST_TOKENS}). "
            f'Draw kind="heat".',
            ko=f"토큰 {trace.n_queries:,}개와 {trace.n_keys:,}개 사이의 화살표는 구별할 수 없습니다(최대 {MOST_TOKENS}개). "
            f'kind="heat"로 그리십시오.',
        )
    weights = trace.rows("weights", heads=[head])[0]
    return _Links(token_names(trace), token_names(trace, read=True), weights, trace.allowed, focus)


def arrows(
    trace: Trace, head: int, focus: int, lang: str, theme: Theme, alone: bool = False
) -> tuple[Panel, list[str]]:
    """Queries on the left, keys on the right, a line for every weight that can be seen.

    focus : the token whose lines stand out and whose weights are written;  alone : only its lines
    """
    links = _links(trace, head, focus)
    left = max(min(max(width_of(name, 12) for name in links.queries), LONGEST), 46) + 14
    right = left + 260.0
    nodes: list[Any] = [
        Text(say("query", lang), left - 10, 12, 10.5, css(theme.dim), "end"),
        Text(say("key", lang), right + 64, 12, 10.5, css(theme.dim)),
    ]
    for query in [*(one for one in range(len(links.queries)) if one != focus and not alone), focus]:
        nodes += _lines(links, query, left, right, theme)
    width = right + 16 + min(max(width_of(name, 12) for name in links.keys), LONGEST) + 64
    nodes += _query_names(links, left, theme) + _key_names(links, right, theme)
    height = 20 + ROW * max(len(links.queries), len(links.keys)) + 4
    panel = Panel(width, height, tuple(nodes))
    return stacked([panel, paragraph(_note(links, "arrows", lang), max(width, 380), theme)]), _told(links, lang)


def _place(at: int) -> float:
    return 20 + ROW * (at + 0.5)


def _lines(links: _Links, query: int, left: float, right: float, theme: Theme) -> list[Any]:
    stands_out = query == links.focus
    colour = css(theme.accent if stands_out else theme.dim)
    made = []
    for key in np.argsort(links.weights[query], kind="stable"):
        weight = float(links.weights[query, key])
        if weight < FAINTEST:
            continue
        looks = {
            "stroke-opacity": weight ** (0.5 if stands_out else 1) * (1 if stands_out else 0.55),
            "stroke-width": 0.8 + 5 * weight,
            "stroke-linecap": "round",
        }
        made.append(line(left, _place(query), right, _place(int(key)), colour, **looks))
    return made


def _query_names(links: _Links, left: float, theme: Theme) -> list[Any]:
    made: list[Any] = []
    for at, name in enumerate(links.queries):
        y, bold = _place(at), at == links.focus
        made.append(_name(name, left - 10, y, theme, "end", bold))
    return made


def _name(name: str, x: float, y: float, theme: Theme, anchor: str | None = None, bold: bool = False) -> Text:
    short = cut(name, 12, LONGEST)
    fill = css(theme.accent if bold else theme.ink)
    return Text(short, x, y + 4, 12, fill, anchor, bold, whole=None if short == name else name)


def _key_names(links: _Links, right: float, theme: Theme) -> list[Any]:
    made: list[Any] = []
    for key, name in enumerate(links.keys):
        made.append(_name(name, right + 64, _place(key), theme))
        if links.allowed[links.focus, key]:
            made += _badge(float(links.weights[links.focus, key]), right + 33, _place(key), theme)
    return made


def _badge(weight: float, x: float, y: float, theme: Theme) -> list[Any]:
    """A weight written on the accent's colour, so that it is read over lines too."""
    text = number(weight)
    width = width_of(text, 10.5) + 8
    return [
        rect(x - width / 2, y - 8, width, 16, css(theme.accent), rx=4),
        Text(text, x, y + 4, 10.5, css(ink_on(theme.accent)), "middle"),
    ]


# arcs ---------------------------------------------------------------------------------------------


def arcs(trace: Trace, head: int, focus: int, lang: str, theme: Theme) -> tuple[Panel, list[str]]:
    """The sentence on a line, and an arc from one token to every token that it reads."""
    links = _links(trace, head, focus)
    if trace.key_tokens is not None:
        raise InputError(
            en='arcs stand over one sentence, but here another one is read (cross-attention). Draw kind="arrows".',
            ko='호는 한 문장 위에 그리는데 이 기록은 다른 문장을 읽습니다(크로스 어텐션). kind="arrows"로 그리십시오.',
        )
    widths = [max(min(width_of(name, 12), LONGEST), 40) + 18 for name in links.keys]
    places = [sum(widths[:at]) + widths[at] / 2 for at in range(len(widths))]
    seen = [place for place, weight in zip(places, links.weights[focus], strict=True) if weight >= FAINTEST]
    far = max((abs(place - places[focus]) for place in seen), default=0.0)
    base = round(min(60 + 0.3 * far, 220))
    nodes: list[Any] = []
    for key in np.argsort(links.weights[focus], kind="stable"):
        nodes += _arc(places[focus], places[int(key)], base, far, float(links.weights[focus, key]), theme)
    for key, name in enumerate(links.keys):
        x = places[key]
        nodes.append(_name(name, x, base + 14, theme, "middle", key == focus))
        if links.allowed[focus, key]:
            nodes += _badge(float(links.weights[focus, key]), x, base + 36, theme)
    panel = Panel(sum(widths), base + 48, tuple(nodes))
    return stacked([panel, paragraph(_note(links, "arcs", lang), max(panel.width, 380), theme)]), _told(links, lang)


def _arc(start: float, end: float, base: float, far: float, weight: float, theme: Theme) -> list[Any]:
    if weight < FAINTEST:
        return []
    looks = {
        "fill": "none",
        "stroke": css(theme.accent),
        "stroke-opacity": math.sqrt(weight),
        "stroke-width": 0.8 + 5 * weight,
        "stroke-linecap": "round",
    }
    if start == end:
        return [
            path(["M", start - 9, base, "C", start - 18, base - 34, start + 18, base - 34, start + 9, base], **looks)
        ]
    rise = (26 + (base - 36) * abs(end - start) / far) / 0.75  # such a curve rises to 3/4 of where it is pulled
    return [path(["M", start, base, "C", start, base - rise, end, base - rise, end, base], **looks)]


# words --------------------------------------------------------------------------------------------


def _note(links: _Links, name: str, lang: str) -> str:
    token = brief(links.queries[links.focus])
    if not links.allowed[links.focus].any():
        return say("nothing_read", lang, token=token)
    return say(name, lang, token=token)


def _told(links: _Links, lang: str) -> list[str]:
    row = links.weights[links.focus]
    seen = [key for key in np.argsort(-row, kind="stable") if links.allowed[links.focus, key]][:5]
    keys = ", ".join(f"{brief(links.keys[key])} {number(float(row[key]))}" for key in seen)
    return [say("row_told", lang, query=brief(links.queries[links.focus]), keys=keys or "·")]
