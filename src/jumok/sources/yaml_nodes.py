"""A YAML file as a tree of texts, each with its line and column. Nothing in the file is constructed or run.

Keys and values stay as written (``no``, ``on``, ``null`` and ``2026`` are texts), so that any word can
be a token. Tags are refused, aliases are counted, depth and size are bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import ExampleError

__all__ = ["Map", "Node", "Scalar", "Seq", "parse", "read_text"]

MOST_BYTES = 256 * 1024
MOST_DEPTH = 16
MOST_NODES = 100_000
_PLAIN_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "map", "seq")}


@dataclass(frozen=True)
class Node:
    """A piece of the file; ``line`` and ``column`` count from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class Scalar(Node):
    """A text, as written."""

    text: str
    quoted: bool


@dataclass(frozen=True)
class Seq(Node):
    """A list."""

    items: tuple[Node, ...]


@dataclass(frozen=True)
class Map(Node):
    """Names and values, in order; no name stands twice."""

    pairs: tuple[tuple[Scalar, Node], ...]


def read_text(path: str) -> str:
    """The text of a UTF-8 file, with or without a byte-order mark.

    Errors: ``ExampleError`` for a file that is missing, too large, binary, or in another encoding, which
    is named (CP949, UTF-16) with how to save it as UTF-8.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise _whole(path, "there is no such file", "그런 파일이 없습니다") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _whole(path, f"it cannot be read ({reason})", f"읽을 수 없습니다({reason})") from None
    if len(data) > MOST_BYTES:
        raise _whole(
            path,
            f"it is larger than {MOST_BYTES // 1024} KiB, too large for an example that a person wrote. "
            "For long texts give arrays: jumok.attend(x=…)",
            f"사람이 쓴 예제 파일로는 너무 큽니다({MOST_BYTES // 1024} KiB 초과). "
            "긴 글은 배열로 주십시오: jumok.attend(x=…)",
        )
    return _decoded(path, data)


def _decoded(path: str, data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise _whole(path, *_other_encoding("UTF-16", "UTF-16"))
    if b"\0" in data:
        raise _whole(path, "it is a binary file, not text", "글이 아니라 이진 파일입니다")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = error.start
    try:
        hangul = any("가" <= letter <= "힣" for letter in data.decode("cp949"))
    except UnicodeDecodeError:
        hangul = False
    if hangul:
        raise _whole(path, *_other_encoding("CP949 (EUC-KR)", "CP949"))
    line = data.count(b"\n", 0, at) + 1
    raise _whole(
        path,
        f"it is not UTF-8 text (byte {at}, line {line}). Save it as UTF-8",
        f"UTF-8 글이 아닙니다({line}번째 줄, {at}번째 바이트). UTF-8로 저장하십시오",
    )


def _other_encoding(name: str, iconv: str) -> tuple[str, str]:
    how = f"iconv -f {iconv} -t UTF-8 old.yaml > new.yaml"
    return (
        f"it is saved as {name}; UTF-8 is expected. In an editor choose 'Save as' with encoding UTF-8, or run: {how}",
        f"{name}로 저장된 파일입니다. UTF-8이어야 합니다. 편집기(메모장 등)에서 '다른 이름으로 저장'을 골라 인코딩을 "
        f"UTF-8로 바꾸거나 다음 명령을 쓰십시오: {how}",
    )


def parse(text: str, name: str) -> Node:
    """The tree of a YAML text. ``name`` is the file's name for messages.

    Errors: ``ExampleError`` with line and column for what is not YAML, or not plain data.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    reader = YAML(typ="safe", pure=True)
    try:
        return _Builder(name).document(iter(reader.parse(text)))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        problem = " ".join(str(error.problem or error.context).split())
        raise refused(
            name,
            f"this is not valid YAML: {problem}. A name is followed by ': ', lists and braces are closed, "
            "indentation is spaces",
            f"올바른 YAML이 아닙니다: {problem}. 이름 뒤에는 ': '을 쓰고, 괄호는 닫고, 들여쓰기는 공백으로 하십시오",
            line,
            column,
        ) from None
    except (YAMLError, ValueError, IndexError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, ExampleError):
            raise
        problem = " ".join(str(error).split())[:120]
        raise refused(name, f"this is not valid YAML: {problem}", f"올바른 YAML이 아닙니다: {problem}") from None


class _Builder:
    """Parser events → nodes, with the bounds that keep a hostile file small."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.anchors: dict[str, tuple[Node, int]] = {}
        self.n_nodes = 0

    def document(self, events: Iterator[Any]) -> Node:
        root: Node | None = None
        for event in events:
            kind = type(event).__name__
            if kind in ("StreamStartEvent", "StreamEndEvent", "DocumentEndEvent"):
                continue
            if kind == "DocumentStartEvent":
                if root is not None:
                    raise self.wrong(
                        event,
                        "one document is expected, a second begins here",
                        "문서가 하나여야 하는데 여기서 두 번째가 시작됩니다",
                    )
                continue
            root = self.node(event, events, 0)
        if root is None:
            raise refused(
                self.name,
                "the file is empty. `jumok new my.yaml` writes a starter",
                "파일이 비어 있습니다. `jumok new my.yaml`로 시작 파일을 만들 수 있습니다",
            )
        return root

    def node(self, event: Any, events: Iterator[Any], depth: int) -> Node:
        kind = type(event).__name__
        if kind == "AliasEvent":
            return self.alias(event)
        self.count(event, 1)
        if event.tag is not None and str(event.tag) not in _PLAIN_TAGS:
            raise self.wrong(
                event,
                f"the tag {str(event.tag)!r} asks for an object; an example file holds plain text, numbers, lists and names. "
                "Remove the tag (what begins with !)",
                f"태그 {str(event.tag)!r}은(는) 객체를 만들라는 뜻입니다. 예제 파일에는 글, 숫자, 목록, 이름만 씁니다. "
                "!로 시작하는 태그를 지우십시오",
            )
        if depth > MOST_DEPTH:
            raise self.wrong(
                event, f"more than {MOST_DEPTH} levels of nesting", f"{MOST_DEPTH}단계보다 깊게 겹쳐 있습니다"
            )
        before = self.n_nodes
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        node: Node
        if kind == "ScalarEvent":
            node = Scalar(line, column, str(event.value), event.style is not None)
        elif kind == "SequenceStartEvent":
            node = Seq(line, column, tuple(self.children(events, depth)))
        else:
            node = Map(line, column, self.pairs(list(self.children(events, depth))))
        if event.anchor:
            self.anchors[event.anchor] = (node, self.n_nodes - before + 1)
        return node

    def children(self, events: Iterator[Any], depth: int) -> Iterator[Node]:
        for event in events:
            if type(event).__name__ in ("SequenceEndEvent", "MappingEndEvent"):
                return
            yield self.node(event, events, depth + 1)

    def pairs(self, flat: list[Node]) -> tuple[tuple[Scalar, Node], ...]:
        seen: set[str] = set()
        pairs = []
        for key, value in zip(flat[::2], flat[1::2], strict=True):
            if not isinstance(key, Scalar):
                raise refused(
                    self.name,
                    "a name is expected before ':', not a list",
                    "':' 앞에는 목록이 아니라 이름이 와야 합니다",
                    key.line,
                    key.column,
                )
            if key.text in seen:
                raise refused(
                    self.name,
                    f"the name {key.text!r} stands twice here; keep one",
                    f"이름 {key.text!r}이(가) 두 번 나옵니다. 하나만 남기십시오",
                    key.line,
                    key.column,
                )
            seen.add(key.text)
            pairs.append((key, value))
        return tuple(pairs)

    def alias(self, event: Any) -> Node:
        if event.anchor not in self.anchors:
            raise self.wrong(
                event,
                f"*{event.anchor} points to nothing above it",
                f"*{event.anchor}이(가) 가리키는 것이 위에 없습니다",
            )
        node, size = self.anchors[event.anchor]
        self.count(event, size)
        return node

    def count(self, event: Any, size: int) -> None:
        self.n_nodes += size
        if self.n_nodes > MOST_NODES:
            raise self.wrong(
                event,
                f"the aliases unfold to more than {MOST_NODES:,} entries; write out what is meant",
                f"별칭(*)을 풀면 항목이 {MOST_NODES:,}개를 넘습니다. 필요한 것을 직접 쓰십시오",
            )

    def wrong(self, event: Any, en: str, ko: str) -> ExampleError:
        return refused(self.name, en, ko, event.start_mark.line + 1, event.start_mark.column + 1)


def refused(name: str, en: str, ko: str, line: int | None = None, column: int | None = None) -> ExampleError:
    """The refusal of a place in a file, with its line and column."""
    en_at = name if line is None else f"{name}, line {line}, column {column}"
    ko_at = name if line is None else f"{name} {line}행 {column}열"
    return ExampleError(en=f"{en_at}: {en}.", ko=f"{ko_at}: {ko}.", line=line, column=column)


def _whole(path: str, en: str, ko: str) -> ExampleError:
    return refused(path, en, ko)
