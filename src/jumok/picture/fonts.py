"""The font of pictures that must look alike everywhere: Noto Sans KR, from the declared package pylopdf-fonts-ko."""

from __future__ import annotations

import importlib.util
import math
import unicodedata
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtra
from ..words import without_isolates
from .svg import Node, Text, clusters, width_of

if TYPE_CHECKING:
    from fontTools.ttLib import TTFont

__all__ = ["FAMILY", "codes", "font_file", "outlined", "spelled_out", "visible"]

FAMILY = "Noto Sans KR"


def font_file() -> Path:
    """The font's file; the package that brings it is found, not run.

    Errors: ``MissingExtra`` where it is not installed.
    """
    found = importlib.util.find_spec("pylopdf_fonts_ko")
    for folder in () if found is None else found.submodule_search_locations or ():
        file = Path(folder) / "NotoSansKR-Regular.otf"
        if file.is_file():
            return file
    raise MissingExtra(extra="picture", package="pylopdf-fonts-ko")


@cache
def _font() -> TTFont:
    file = font_file()
    try:
        from fontTools.ttLib import TTFont
    except ImportError as error:
        raise MissingExtra(extra="picture", package="fonttools") from error
    return TTFont(file, lazy=True)


@cache
def _letters() -> dict[int, str]:
    """Each letter that the font has, and the name of its glyph."""
    letters: dict[int, str] = _font().getBestCmap()
    return letters


_WRITTEN = {"ᵀ": "^T"}  # in words that the font does have


def _has(cluster: str) -> bool:
    return all(ord(letter) in _letters() for letter in cluster)


def visible(text: str) -> str:
    """A text in which what the font lacks stands as its code, so that nothing becomes an empty box.

    >>> visible("한글 👩!")
    '한글 [U+1F469]!'
    """
    text = without_isolates(text)
    return "".join(run if in_font else _WRITTEN.get(run) or _code(run) for in_font, run in _runs(text))


def codes(text: str) -> list[str]:
    """The codes in ``visible(text)``.

    >>> codes("한글 👩!")
    ['[U+1F469]']
    """
    runs = _runs(without_isolates(text))
    return [_code(run) for in_font, run in runs if not in_font and run not in _WRITTEN]


def _code(run: str) -> str:
    more = "…" if len(clusters(run)) > 1 else ""
    return f"[U+{ord(run[0]):04X}{more}]"


def _runs(text: str) -> list[tuple[bool, str]]:
    """A text cut into what the font has and what it lacks; a space between two that it lacks goes with them."""
    runs: list[tuple[bool, str]] = []
    found = clusters(text)
    has = [_has(cluster) for cluster in found]
    for at, cluster in enumerate(found):
        in_font = has[at]
        if cluster == " " and 0 < at < len(found) - 1 and not has[at - 1] and not has[at + 1]:
            in_font = False
        if runs and runs[-1][0] == in_font:
            runs[-1] = (in_font, runs[-1][1] + cluster)
        else:
            runs.append((in_font, cluster))
    return runs


def spelled_out(text: Text) -> Node:
    """Text for a rasteriser that has this font alone; it has no bold face, so bold letters get an edge.

    A code that takes the place of a letter is wider than it: then all letters become smaller.
    """
    content = visible(text.content)
    if content == text.content:
        return text.node(**_edge(text))
    fits = width_of(text.content, 1) / max(_advance(content), 0.1)
    return text.node(content, **{"font-size": text.size * min(1, max(0.7, fits))}, **_edge(text))


def _edge(text: Text) -> dict[str, Any]:
    if not text.bold:
        return {}
    return {"font-weight": None, "stroke": text.fill, "stroke-width": text.size * 0.04}


def outlined(text: Text) -> Node:
    """The letters as one path that needs no font; what the font lacks (emoji, other scripts) stays text.

    So does a text with letters that are written from right to left: only who draws it knows their order.
    """
    if any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in text.content):
        return text.node()
    runs = _runs(text.content)
    widths = [_advance(run) * text.size if in_font else width_of(run, text.size) for in_font, run in runs]
    before = {"middle": sum(widths) / 2, "end": sum(widths)}.get(text.anchor or "", 0.0)
    x, drawn, rest = text.x - before, [], []
    for (in_font, run), width in zip(runs, widths, strict=True):
        if in_font:
            drawn.append(_outline(run, x, text.y, text.size))
        else:
            rest.append(Text(run, x, text.y, text.size, text.fill, bold=text.bold).node())
        x += width
    told = Node("title", {}, (text.content if text.whole is None else text.whole,))
    letters = [Node("path", {"d": " ".join(drawn), **_edge(text)})] if any(drawn) else []
    return Node("g", {"fill": text.fill, "transform": text.turned()}, (told, *letters, *rest))


def _advance(text: str) -> float:
    """The width of a text in ems."""
    metrics, per_em = _font()["hmtx"].metrics, _font()["head"].unitsPerEm
    advance: float = sum(metrics[_letters()[ord(letter)]][0] for letter in text) / per_em
    return advance


def _outline(text: str, x: float, y: float, size: float) -> str:
    from fontTools.pens.svgPathPen import SVGPathPen
    from fontTools.pens.transformPen import TransformPen

    glyphs = _glyphs()
    scale = size / _font()["head"].unitsPerEm
    pen = SVGPathPen(glyphs, ntos=_short)
    for letter in text:
        name = _letters()[ord(letter)]
        glyphs[name].draw(TransformPen(pen, (scale, 0, 0, -scale, x, y)))
        x += glyphs[name].width * scale
    commands: str = pen.getCommands()
    return commands


@cache
def _glyphs() -> Any:
    return _font().getGlyphSet()


def _short(value: float) -> str:
    return f"{math.floor(value * 100 + 0.5) / 100:g}"
