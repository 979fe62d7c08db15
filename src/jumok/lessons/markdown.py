r"""Markdown as lessons use it: a text → its pieces, and a piece → its spans.

>>> [type(piece).__name__ for piece in pieces("## One\n\ntext\n\n- a\n- b")]
['Heading', 'Paragraph', 'Items']
>>> [(span.kind, span.text) for span in spans("so **bold** and `code`")]
[('plain', 'so '), ('strong', 'bold'), ('plain', ' and '), ('code', 'code')]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..words import shown

__all__ = [
    "Fence",
    "Heading",
    "Items",
    "Paragraph",
    "Piece",
    "Quote",
    "Span",
    "Table",
    "escaped",
    "pieces",
    "seen",
    "spans",
]


@dataclass(frozen=True)
class Heading:
    """A title; ``level`` is the number of its #."""

    line: int
    level: int
    text: str


@dataclass(frozen=True)
class Paragraph:
    """Sentences, joined to one line."""

    line: int
    text: str


@dataclass(frozen=True)
class Quote:
    """A paragraph that is set apart by >."""

    line: int
    text: str


@dataclass(frozen=True)
class Items:
    """A list; each entry with its own line, its mark ("-" or "1.") and its depth from 0."""

    line: int
    entries: tuple[tuple[int, str, int, str], ...]


@dataclass(frozen=True)
class Table:
    """A table: its header, then its rows, cell by cell."""

    line: int
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Fence:
    """What stands between three backticks; ``info`` is what stands behind the first ones.

    is_closed : False where the text ends, or another one begins, before a line of backticks alone
    """

    line: int
    info: str
    body: str
    is_closed: bool = True


Piece = Heading | Paragraph | Quote | Items | Table | Fence


@dataclass(frozen=True)
class Span:
    """A run of letters of one kind: plain, strong, em, code or link (with its ``href``)."""

    kind: str
    text: str
    href: str = ""


_FENCE = re.compile(r"^(`{3,})\s*(.*?)\s*$")
_HEADING = re.compile(r"^(#{1,4}) +(.*?)\s*$")
_ITEM = re.compile(r"^( *)([-*]|\d+\.) +(.*)$")
_ROW = re.compile(r"^\|.*\|\s*$")
_RULE = re.compile(r"^\|[\s:|-]+\|\s*$")
_ESCAPED = re.compile(r"\\([\\`*_\[\]{}|#>-])")
_SPAN = re.compile(
    r"\\(?P<escaped>[\\`*_\[\]{}|#>-])"
    r"|(?P<ticks>`+)(?P<code>.+?)(?P=ticks)"
    r"|\*\*(?P<strong>(?=\S).+?(?<=\S))\*\*"
    r"|\*(?P<em>(?=\S)[^*]+?(?<=\S))\*"
    r"|\[(?P<label>[^\]]+)\]\((?P<href>[^)\s]+)\)"
)


def pieces(text: str, first_line: int = 1) -> Iterator[Piece]:
    """The pieces of a text, in order; ``first_line`` is the number of its first line."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        piece, at = _piece(lines, at, first_line)
        yield piece


def _piece(lines: list[str], at: int, first: int) -> tuple[Piece, int]:
    """The piece that begins at a line, and where the next one may begin."""
    line = first + at
    if fence := _FENCE.match(lines[at]):
        ticks = re.compile(rf"^{fence[1]}`*\s*(.*)$")
        found = ((n, again[1]) for n in range(at + 1, len(lines)) if (again := ticks.match(lines[n])))
        end, opens = next(found, (len(lines), "the end"))
        return Fence(line, fence[2], "\n".join(lines[at + 1 : end]), not opens), end + (not opens)
    if heading := _HEADING.match(lines[at]):
        return Heading(line, len(heading[1]), heading[2]), at + 1
    if _ROW.match(lines[at]):
        end = _while(lines, at, lambda text: bool(_ROW.match(text)))
        rows = [_cells(text) for text in lines[at:end] if not _RULE.match(text)]
        return Table(line, tuple(rows)), end
    if _ITEM.match(lines[at]):
        return _items(lines, at, first)
    if lines[at].startswith(">"):
        end = _while(lines, at, lambda text: text.startswith(">"))
        return Quote(line, " ".join(text.lstrip("> ").strip() for text in lines[at:end])), end
    end = _while(lines, at, lambda text: bool(text.strip()) and not _begins(text))
    end = max(end, at + 1)
    return Paragraph(line, " ".join(text.strip() for text in lines[at:end])), end


def _while(lines: list[str], at: int, holds: Callable[[str], bool]) -> int:
    return next((n for n in range(at, len(lines)) if not holds(lines[n])), len(lines))


def _begins(text: str) -> bool:
    """Whether a line begins a piece of its own."""
    return any(sign.match(text) for sign in (_FENCE, _HEADING, _ROW, _ITEM)) or text.startswith(">")


def _cells(row: str) -> tuple[str, ...]:
    inner = row.strip()[1:-1]
    return tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", inner))


def _items(lines: list[str], at: int, first: int) -> tuple[Piece, int]:
    entries: list[tuple[int, str, int, str]] = []
    start = at
    while at < len(lines) and lines[at].strip():
        found = _ITEM.match(lines[at])
        if found:
            mark = found[2] if found[2][0].isdigit() else "-"
            entries.append((first + at, mark, len(found[1]) // 2, found[3].strip()))
        elif lines[at].startswith(" "):
            line, mark, depth, said = entries[-1]
            entries[-1] = (line, mark, depth, f"{said} {lines[at].strip()}")
        else:
            break
        at += 1
    return Items(first + start, tuple(entries)), at


def spans(text: str) -> list[Span]:
    """A line of Markdown as runs of one kind each."""
    found: list[Span] = []
    at = 0
    for match in _SPAN.finditer(text):
        found.append(Span("plain", text[at : match.start()]))
        at = match.end()
        if match["escaped"]:
            found.append(Span("plain", match["escaped"]))
        elif match["code"]:
            found.append(Span("code", match["code"].strip() or match["code"]))
        elif match["label"]:
            found.append(Span("link", match["label"], match["href"]))
        else:
            kind = "strong" if match["strong"] else "em"
            found.append(Span(kind, _ESCAPED.sub(r"\1", match[kind])))
    found.append(Span("plain", text[at:]))
    return _joined(span for span in found if span.text)


def _joined(found: Iterator[Span]) -> list[Span]:
    joined: list[Span] = []
    for span in found:
        if joined and span.kind == joined[-1].kind == "plain":
            joined[-1] = Span("plain", joined[-1].text + span.text)
        else:
            joined.append(span)
    return joined


def seen(text: str) -> str:
    """A text as it can be seen: letters that turn or hide others are spelled out; blanks stay blanks."""
    return "\n".join(shown(line) if line.strip() else line for line in text.split("\n"))


def escaped(text: str) -> str:
    """A text in which no letter means anything to Markdown."""
    return re.sub(r"([\\`*_\[\]{}|])", r"\\\1", text)
