r"""Plain data (texts, lists, dictionaries) as YAML, and an old YAML text with only what changed written anew.

What did not change keeps its spelling, its comments and its line ends: the changes are put into the
old text at the places that the reader found.

>>> from jumok.yaml_nodes import parse
>>> text = "a: [1,  2]   # one\nb: {c: x}\n"
>>> print(edited(text, parse(text, "file"), {"a": ["1", "2"]}, {"a": ["1", "5"]}), end="")
a: [1,  5]   # one
b: {c: x}
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..yaml_nodes import Map, Node, Scalar, Seq

__all__ = ["CannotEdit", "edited", "written"]

WIDTH = 100  # a dictionary longer than this is put on lines of its own
LONGEST_KEY = 1000  # YAML reads `key: value` only where the key has at most 1,024 characters


class CannotEdit(Exception):
    """The old text is laid out so that the change cannot be put into it."""


class Edit(NamedTuple):
    """``text`` in the place of what stood from ``start`` to ``end``."""

    start: int
    end: int
    text: str


# new text ---------------------------------------------------------------------------------------


def written(sections: Mapping[str, Any]) -> str:
    """A dictionary as a YAML text: its outer levels on lines, the inner ones in braces and brackets.

    >>> print(written({"tokens": [{"a": {"x": "1"}}, {"#": {}}], "focus": "a"}), end="")
    tokens:
      - a: {x: 1}
      - "#": {}
    focus: a
    """
    return "".join(_entry(name, value, 0) + "\n" for name, value in sections.items())


def _entry(name: str, value: Any, indent: int) -> str:
    """``name: value``; lines after the first are indented by two more than ``indent``."""
    key, short = _scalar(name), _flow(value)
    outer = indent == 0 and (isinstance(value, list) or len(value) > 1)
    on_lines = _nested(value) and (outer or (isinstance(value, dict) and len(short) > WIDTH))
    if not on_lines:
        return f"{key}: {short}"
    line = "\n" + " " * (indent + 2)
    if isinstance(value, dict):
        return f"{key}:" + "".join(line + _entry(inner, part, indent + 2) for inner, part in value.items())
    return f"{key}:" + "".join(f"{line}- {_item(part, indent + 4)}" for part in value)


def _item(value: Any, indent: int) -> str:
    """An entry of a list; lines after the first are indented by ``indent``."""
    if isinstance(value, dict) and _nested(value):
        return ("\n" + " " * indent).join(_entry(name, part, indent) for name, part in value.items())
    return _flow(value)


def _nested(value: Any) -> bool:
    """True where lists or dictionaries stand in a list or dictionary whose names can stand on lines."""
    parts = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    short = not isinstance(value, dict) or all(len(_scalar(name)) <= LONGEST_KEY for name in value)
    return short and any(isinstance(part, (dict, list)) for part in parts)


def _flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(_pair(name, part) for name, part in value.items()) + "}"
    return "[" + ", ".join(map(_flow, value)) + "]" if isinstance(value, list) else _scalar(value)


def _pair(name: str, value: Any) -> str:
    key = _scalar(name)
    return f"{key}: {_flow(value)}" if len(key) <= LONGEST_KEY else f"? {key} : {_flow(value)}"


_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
_PLAIN = re.compile(r"\w([\w .+/-]*[\w.+/-])?")


def _scalar(text: str) -> str:
    """Numbers, letters and a few safe signs stay plain; all other texts stand in double quotes.

    >>> _scalar("deep learning"), _scalar("-1.5e-07"), _scalar("- d"), _scalar("")
    ('deep learning', '-1.5e-07', '"- d"', '""')
    """
    return text if _NUMBER.fullmatch(text) or _PLAIN.fullmatch(text) else _quoted(text)


def _quoted(text: str) -> str:
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(letter: str) -> str:
    """A letter between double quotes; what cannot be seen, or turns the direction of writing, as its code."""
    if letter in '"\\':
        return "\\" + letter
    seen = letter in " \u200c\u200d" or unicodedata.category(letter) not in (
        "Cc",
        "Cf",
        "Cn",
        "Co",
        "Cs",
        "Zl",
        "Zp",
        "Zs",
    )
    if seen:
        return letter
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


# an old text, edited -----------------------------------------------------------------------------


def edited(text: str, root: Node, before: dict[str, Any], after: dict[str, Any], order: Sequence[str] = ()) -> str:
    """The old text with the changes from ``before`` to ``after`` put in.

    root : the nodes of the text;  before : what it says, as plain data;  after : what it should say
    order : the usual order of the outermost names; a new one goes behind those that come before it

    Errors: ``CannotEdit`` where a change has no place of its own in the text.
    """
    parts = []
    at = 0
    for start, end, new in sorted(_Editor(text, order).edits(root, before, after), key=lambda edit: edit[:2]):
        if start < at:
            raise CannotEdit
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


class _Editor:
    """A text that is being edited, its line ends, and the usual order of its outermost names."""

    def __init__(self, text: str, order: Sequence[str]) -> None:
        self.text = text
        self.order = order
        self.newline = "\r\n" if "\r\n" in text else "\n"

    def edits(self, node: Node, before: Any, after: Any) -> Iterator[Edit]:
        """What to change in a node so that it says ``after`` instead of ``before``."""
        if before == after:
            return
        if isinstance(node, Map) and not node.alias and isinstance(before, dict) and isinstance(after, dict):
            yield from self.map_edits(node, before, after)
        elif isinstance(node, Seq) and not node.alias and isinstance(before, list) and isinstance(after, list):
            yield from self.seq_edits(node, before, after)
        else:
            yield self.replaced(node, after)

    def replaced(self, node: Node, value: Any) -> Edit:
        """A whole node written anew, on one line."""
        start, end = self.span(node.start, node.end)
        beside = re.search(r"(?<![\"'])[:-]$", self.text[max(0, start - 2) : start]) or (start == end and start)
        quoted = isinstance(node, Scalar) and node.quoted and isinstance(value, str)
        return Edit(start, end, (" " if beside else "") + (_quoted(value) if quoted else _flow(value)))

    def map_edits(self, node: Map, before: dict[str, Any], after: dict[str, Any]) -> Iterator[Edit]:
        """Names whose value changed, names that are gone, names that are new."""
        names = [unicodedata.normalize("NFC", key.text) for key, _ in node.pairs]
        spans = [self.span(key.start, value.end) for key, value in node.pairs]
        gone = [at for at, name in enumerate(names) if name in before and name not in after]
        new = [name for name in after if name not in names and after[name] != before.get(name)]
        if len(names) == len(gone) == len(new) == 1:
            yield from self.renamed(*node.pairs[0], before[names[0]], *after.items())
            return
        if len(gone) == len(names):
            yield self.replaced(node, after)
            return
        for name, (_, value) in zip(names, node.pairs, strict=True):
            if name in after:
                yield from self.edits(value, before.get(name), after[name])
        yield from self.removals(node.flow, spans, gone, "")
        column = node.pairs[0][0].column - 1
        for name in new:
            at = self.place(name, names, gone)
            entry = _pair(name, after[name]) if node.flow or column else _entry(name, after[name], 0)
            yield self.inserted(node.flow, spans, at, entry.replace("\n", self.newline), " " * column)

    def renamed(self, key: Scalar, value: Node, before: Any, after: tuple[str, Any]) -> Iterator[Edit]:
        """The only entry of a map under another name."""
        if key.alias:
            raise CannotEdit
        yield Edit(key.start, key.end, _quoted(after[0]) if key.quoted else _scalar(after[0]))
        yield from self.edits(value, before, after[1])

    def place(self, name: str, names: list[str], gone: list[int]) -> int:
        """The entry behind which a new name goes, -1 for the very beginning."""
        kept = [at for at in range(len(names)) if at not in gone]
        if name not in self.order:
            return kept[-1]
        earlier = self.order[: self.order.index(name)]
        return max((at for at in kept if names[at] in earlier), default=-1)

    def seq_edits(self, node: Seq, before: list[Any], after: list[Any]) -> Iterator[Edit]:
        """Entries that changed, in the middle between what is the same at both ends."""
        spans = [self.span(item.start, item.end) for item in node.items]
        if len(before) != len(spans) or not before or not after:
            yield self.replaced(node, after)
            return
        most = min(len(before), len(after))
        first = next((at for at in range(most) if before[at] != after[at]), most)
        last = next((at for at in range(most - first) if before[-1 - at] != after[-1 - at]), most - first)
        both = most - first - last
        for at in range(first, first + both):
            yield from self.edits(node.items[at], before[at], after[at])
        if not first + both + last:
            raise CannotEdit
        yield from self.removals(node.flow, spans, list(range(first + both, len(before) - last)), r"-[ ]+")
        for value in after[first + both : len(after) - last]:
            lead, gap = ("", "") if node.flow else self.dash(spans[0][0])
            entry = _flow(value) if node.flow else f"-{gap}{_item(value, len(lead + gap) + 1)}"
            yield self.inserted(node.flow, spans, first + both - 1, entry.replace("\n", self.newline), lead)

    def removals(self, flow: bool, spans: list[tuple[int, int]], gone: list[int], dash: str) -> Iterator[Edit]:
        """The entries that are gone, those next to each other in one piece; whole lines where they stand alone."""
        runs: list[list[int]] = []
        for at in gone:
            if runs and runs[-1][-1] == at - 1:
                runs[-1].append(at)
            else:
                runs.append([at])
        for run in runs:
            first, last = run[0], run[-1]
            start, end = spans[first][0], spans[last][1]
            before = self.line_before(start)
            if not flow and re.fullmatch("[ ]*" + dash, before):
                yield Edit(start - len(before), self.line_end(end, with_newline=True), "")
            elif last + 1 < len(spans):
                yield Edit(start, spans[last + 1][0], "")
            elif flow:
                yield Edit(spans[first - 1][1], end, "")
            else:
                raise CannotEdit

    def inserted(self, flow: bool, spans: list[tuple[int, int]], at: int, entry: str, lead: str) -> Edit:
        """A new entry behind entry ``at``, or before all where ``at`` is -1."""
        if flow:
            place = spans[0][0] if at < 0 else spans[at][1]
            return Edit(place, place, f"{entry}, " if at < 0 else f", {entry}")
        if at >= 0:
            place = self.line_end(spans[at][1])
            return Edit(place, place, f"{self.newline}{lead}{entry}")
        place = spans[0][0] - len(self.line_before(spans[0][0]))
        if not re.fullmatch(r"[ ]*(-[ ]+)?", self.text[place : spans[0][0]]):
            raise CannotEdit
        return Edit(place, place, f"{lead}{entry}{self.newline}")

    # places -----------------------------------------------------------------------------------

    def line_before(self, at: int) -> str:
        """What stands before a place on its line."""
        start = 1 + max(self.text.rfind("\n", 0, at), self.text.rfind("\r", 0, at))
        return self.text[start:at]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """From the first to behind the last letter of an entry."""
        return start, start + len(self.text[start:end].rstrip())

    def line_end(self, at: int, *, with_newline: bool = False) -> int:
        """The end of the line of a place, behind which nothing but a comment may stand."""
        rest = re.compile(r"[ \t]*(#[^\r\n]*)?(\r\n|\r|\n|$)").match(self.text, at)
        if rest is None:
            raise CannotEdit
        return rest.end() if with_newline else rest.start(2) if rest[2] else rest.end()

    def dash(self, at: int) -> tuple[str, str]:
        """The spaces before and behind the dash of a list's first entry."""
        found = re.fullmatch(r"([ ]*)-([ ]+)", self.line_before(at))
        if found is None:
            raise CannotEdit
        return found[1], found[2]
