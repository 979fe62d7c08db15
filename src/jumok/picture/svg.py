"""A small writer of SVG: nodes, and the text that they become. No script, nothing from elsewhere.

>>> Node("g", {"fill": "#000000"}, (Text("<b>", 1, 2),)).to_text().splitlines()[1]
'<text x="1" y="2" font-size="12">&lt;b&gt;</text>'
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from ..words import without_isolates

__all__ = [
    "FONTS",
    "Node",
    "Spell",
    "Text",
    "clusters",
    "cut",
    "document",
    "line",
    "path",
    "rect",
    "width_of",
    "wrapped",
]

FONTS = (
    "system-ui, -apple-system, 'Segoe UI', 'Apple SD Gothic Neo', 'Malgun Gothic', 'Noto Sans KR', 'Noto Sans CJK KR', "
    "sans-serif"
)


@dataclass(frozen=True)
class Node:
    """An element. Attributes that are None are left out; numbers have two decimals."""

    tag: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    children: tuple[Any, ...] = ()  # nodes, or texts to be escaped

    def to_text(self, spell: Spell | None = None) -> str:
        """The element as text, a line each; ``spell`` says how letters are written, where not as text."""
        opened = self.tag + "".join(
            f" {name}={quoteattr(_written(value))}" for name, value in self.attributes.items() if value is not None
        )
        if not self.children:
            return f"<{opened}/>"
        inner = [escape(one) if isinstance(one, str) else one.to_text(spell) for one in self.children]
        if all(isinstance(one, str) for one in self.children) or self.tag == "text":
            return f"<{opened}>{''.join(inner)}</{self.tag}>"
        return "\n".join([f"<{opened}>", *inner, f"</{self.tag}>"])


@dataclass(frozen=True)
class Text:
    """Letters on a line. x, y : where the baseline begins, ends or has its middle (``anchor``)

    turn : degrees clockwise around that point;  whole : the full text where only its beginning is shown
    """

    content: str
    x: float
    y: float
    size: float = 12
    fill: str | None = None
    anchor: str | None = None
    bold: bool = False
    turn: float = 0
    whole: str | None = None

    def to_text(self, spell: Spell | None = None) -> str:
        """The letters as text, or as ``spell`` writes them."""
        return self.node().to_text() if spell is None else spell(self).to_text()

    def node(self, content: str | None = None, **more: Any) -> Node:
        """The ``text`` element; ``content`` and attributes in place of its own."""
        told = () if self.whole is None else (Node("title", {}, (self.whole,)),)
        return Node(
            "text",
            {
                "x": self.x,
                "y": self.y,
                "font-size": self.size,
                "fill": self.fill,
                "text-anchor": self.anchor,
                "font-weight": "bold" if self.bold else None,
                "transform": self.turned(),
                **more,
            },
            (*told, self.content if content is None else content),
        )

    def turned(self) -> str | None:
        """The turn as SVG writes it."""
        return f"rotate({_written(self.turn)} {_written(self.x)} {_written(self.y)})" if self.turn else None


Spell = Callable[[Text], Node]


def _written(value: Any) -> str:
    if isinstance(value, str):
        return value
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def rect(x: float, y: float, width: float, height: float, fill: str, **more: Any) -> Node:
    """A filled rectangle."""
    return Node("rect", {"x": x, "y": y, "width": width, "height": height, "fill": fill, **more})


def line(x1: float, y1: float, x2: float, y2: float, stroke: str, **more: Any) -> Node:
    """A straight line."""
    return Node("line", {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "stroke": stroke, **more})


def path(parts: Iterable[str | float], **more: Any) -> Node:
    """A path from its letters and numbers."""
    return Node("path", {"d": " ".join(map(_written, parts)), **more})


def document(
    width: float, height: float, nodes: Iterable[Any], *, shown_width: float | None = None, title: str, desc: str,
    lang: str, fonts: str = FONTS, spell: Spell | None = None,
) -> str:  # fmt: skip
    """A whole SVG file: an image with a name and a description for those who do not see it."""
    scale = 1 if shown_width is None else shown_width / width
    attributes = {
        "xmlns": "http://www.w3.org/2000/svg",
        "width": width * scale,
        "height": height * scale,
        "viewBox": f"0 0 {_written(width)} {_written(height)}",
        "role": "img",
        "lang": lang,
        "font-family": fonts,
    }
    told = (Node("title", {}, (title,)), Node("desc", {}, (desc,)))
    return Node("svg", attributes, (*told, *nodes)).to_text(spell) + "\n"


# how wide letters are -----------------------------------------------------------------------------

_NARROW, _WIDE = set("iljtfr.,:;'|!()[]I "), set("mwMW@%&")


def width_of(text: str, size: float) -> float:
    """About how wide a text is in an ordinary font; a little more rather than less."""
    return size * sum(map(_width, clusters(without_isolates(text))))


def _width(cluster: str) -> float:
    first = cluster[0]
    if unicodedata.east_asian_width(first) in ("W", "F"):
        return 1.0 if len(cluster) == 1 and ord(first) < 0x1F000 else 1.3
    if first in _NARROW:
        return 0.36
    return 0.92 if first in _WIDE else 0.68 if first.isupper() else 0.58


def clusters(text: str) -> list[str]:
    """Letters with what is joined to them: accents, emoji put together of several, flags.

    >>> [len(one) for one in clusters("a👩" + chr(0x200D) + "👧!")]
    [1, 3, 1]
    """
    found: list[str] = []
    for letter in text:
        flags = bool(found) and _is_flag(letter) and _is_flag(found[-1][-1]) and len(found[-1]) % 2 == 1
        if found and (_joins(letter) or found[-1][-1] == "\u200d" or flags):
            found[-1] += letter
        else:
            found.append(letter)
    return found


def _joins(letter: str) -> bool:
    return unicodedata.category(letter)[0] == "M" or letter in "\u200c\u200d" or "🏻" <= letter <= "🏿"


def _is_flag(letter: str) -> bool:
    return "\U0001f1e6" <= letter <= "\U0001f1ff"


def cut(text: str, size: float, room: float) -> str:
    """As much of a text as fits into ``room``, with … where something was left out; never half a letter."""
    if width_of(text, size) <= room:
        return text
    kept, used = "", size  # the sign's own width
    for cluster in clusters(text):
        used += size * _width(cluster)
        if used > room:
            break
        kept += cluster
    return kept.rstrip() + "…"


def wrapped(text: str, size: float, room: float) -> list[str]:
    """A text in lines that fit into ``room``, broken at spaces, or inside a word that is too long by itself."""
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if width_of(joined, size) <= room:
            lines[-1] = joined
            continue
        lines += [""] if lines[-1] else []
        for cluster in clusters(word):
            if lines[-1] and width_of(lines[-1] + cluster, size) > room:
                lines.append("")
            lines[-1] += cluster
    return lines
