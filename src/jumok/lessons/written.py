"""One lesson in one language, as its file has it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..words import LANGS
from ..yaml_nodes import MOST_BYTES, Map, Node, Scalar, Seq, brief, parse, read_text, refused
from .blocks import Block, block_of, refuse_mistyped
from .expressions import Place
from .goals import GOALS
from .markdown import Fence, Heading, Piece, pieces

__all__ = ["Written", "read", "written"]

Element = Piece | Block

_REQUIRED = ("name", "title", "minutes", "goals", "example")
_OPTIONAL = ("lesson", "lang")


@dataclass(frozen=True)
class Written:
    """A lesson file: what stands before the text, and the text piece by piece.

    number : in the course, or None;  name : by which it is called;  example : the record that expressions read
    elements : pieces of Markdown and blocks, in order;  body : the text after the front matter, with its first line's number
    """

    file: str
    lang: str
    number: int | None
    name: str
    title: str
    minutes: int
    goals: tuple[str, ...]
    example: str
    example_place: Place
    elements: tuple[Element, ...]
    text: str
    body_line: int

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What is shown, guessed, answered, tried and written, in order."""
        return tuple(element for element in self.elements if isinstance(element, Block))

    @property
    def n_sections(self) -> int:
        """How many ## it has."""
        return sum(isinstance(element, Heading) and element.level == 2 for element in self.elements)


def read(path: str) -> Written:
    """The lesson that a file holds. Its language is told by ``lang:`` or by its name, ``my.ko.md``; else it is English.

    Errors: ``ExampleError`` with line and column.
    """
    return written(_text(path).removeprefix("\ufeff"), path)


def _text(path: str) -> str:
    """As ``read_text``, with what a lesson is where the file is none."""
    file = Path(path)
    if file.is_dir():
        raise refused(path, "it is a folder; a lesson is a Markdown file", "폴더입니다. 레슨은 마크다운 파일입니다")
    if file.is_file() and file.stat().st_size > MOST_BYTES:
        raise refused(
            path,
            f"it is larger than {MOST_BYTES // 1024} KiB, too large for a lesson. Split it into several",
            f"레슨으로는 너무 큽니다({MOST_BYTES // 1024} KiB 초과). 여럿으로 나누십시오",
        )
    return read_text(path)


def written(text: str, file: str) -> Written:
    """The lesson that a text holds; ``file`` is its name for messages."""
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n"))
    found = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    if found is None:
        raise refused(
            file,
            "a lesson begins with --- and names (name: title: minutes: goals: example:) and ---",
            "레슨은 ---, 이름들(name: title: minutes: goals: example:), --- 로 시작합니다",
            1,
            1,
        )
    front = _Front(file, parse(f"\n{found[1]}\n", file))
    body, line = text[found.end() :], found[0].count("\n") + 1
    example = front.text("example")
    elements = [_element(piece, file, example) for piece in pieces(body, line)]
    return Written(
        file=file,
        lang=front.lang(),
        number=front.whole("lesson") if "lesson" in front.parts else None,
        name=front.text("name"),
        title=front.text("title"),
        minutes=front.whole("minutes"),
        goals=front.goals(),
        example=example,
        example_place=front.place("example"),
        elements=tuple(elements),
        text=text,
        body_line=line,
    )


def _element(piece: Piece, file: str, example: str) -> Element:
    if not isinstance(piece, Fence):
        return piece
    if not piece.is_closed:
        raise refused(
            file,
            "``` is opened here and not closed; a line of ``` alone closes it",
            "여기서 연 ```가 닫히지 않았습니다. ```만 있는 줄로 닫으십시오",
            piece.line,
            1,
        )
    refuse_mistyped(piece, file)
    made = block_of(piece, file, example)
    return piece if made is None else made


class _Front:
    """The names before the text."""

    def __init__(self, file: str, root: Node) -> None:
        self.file = file
        self.parts: dict[str, Node] = {}
        for key, value in root.pairs if isinstance(root, Map) else ():
            if key.text not in (*_REQUIRED, *_OPTIONAL):
                known = ", ".join((*_REQUIRED, *_OPTIONAL))
                raise refused(
                    file,
                    f"a lesson has no {brief(key.text)!r}; it has {known}",
                    f"레슨에 {brief(key.text)!r}은(는) 없습니다. 쓸 수 있는 것: {known}",
                    key.line,
                    key.column,
                )
            self.parts[key.text] = value
        for name in _REQUIRED:
            if name not in self.parts:
                raise refused(file, f"a lesson needs {name}:", f"레슨에 {name}: 항목이 필요합니다", 1, 1)

    def place(self, name: str) -> Place:
        return Place(self.file, self.parts[name].line, self.parts[name].column)

    def text(self, name: str) -> str:
        node = self.parts[name]
        if not isinstance(node, Scalar) or not node.text:
            raise refused(self.file, f"{name} is a text", f"{name}에는 글을 씁니다", node.line, node.column)
        return node.text

    def whole(self, name: str) -> int:
        text = self.text(name)
        if not re.fullmatch(r"[1-9]\d{0,2}", text, re.ASCII):
            node: Any = self.parts[name]
            raise refused(self.file, f"{name} is a whole number", f"{name}에는 자연수를 씁니다", node.line, node.column)
        return int(text)

    def goals(self) -> tuple[str, ...]:
        node = self.parts["goals"]
        items = node.items if isinstance(node, Seq) else ()
        found = tuple(item.text for item in items if isinstance(item, Scalar) and item.text in GOALS)
        if not isinstance(node, Seq) or len(found) != len(items):
            known = ", ".join(GOALS)
            raise refused(
                self.file,
                f"goals is a list of {known}",
                f"goals에는 {known}에서 고른 목록을 씁니다",
                node.line,
                node.column,
            )
        return found

    def lang(self) -> str:
        if "lang" in self.parts:
            named = self.text("lang")
            if named not in LANGS:
                node = self.parts["lang"]
                raise refused(self.file, "lang is en or ko", "lang은 en 또는 ko입니다", node.line, node.column)
            return named
        return "ko" if Path(self.file).name.endswith(".ko.md") else "en"
