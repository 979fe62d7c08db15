"""A YAML file as a tree of texts, each with its line and column. Nothing in the file is constructed or run.

Keys and values stay as written (``no``, ``on``, ``null`` and ``2026`` are texts), so that any word can
be a token. Tags are refused, aliases are counted, depth and size are bounded.
"""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .errors import ExampleError, system_reason

__all__ = ["Map", "Node", "Scalar", "Seq", "brief", "parse", "read_text", "refused"]

MOST_BYTES = 768 * 1024  # what design writes of 128 dimensions fits
MOST_DEPTH = 16
MOST_NODES = 40_000  # two seconds of the reader's time
_NOT_TEXT = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # YAML 1.2.2, 5.1
_PLAIN_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "map", "seq")}


@dataclass(frozen=True)
class Node:
    """A piece of the file; ``line`` and ``column`` count from 1, ``start`` and ``end`` are characters of the text.

    alias : True where the piece stands elsewhere and ``start`` to ``end`` is only its ``*name``
    """

    line: int
    column: int
    start: int
    end: int
    alias: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class Scalar(Node):
    """A text, as written."""

    text: str
    quoted: bool


@dataclass(frozen=True)
class Seq(Node):
    """A list; ``flow`` where it stands in brackets."""

    items: tuple[Node, ...]
    flow: bool


@dataclass(frozen=True)
class Map(Node):
    """Names and values, in order; no name stands twice. ``flow`` where they stand in braces."""

    pairs: tuple[tuple[Scalar, Node], ...]
    flow: bool


def read_text(path: str) -> str:
    """The text of a UTF-8 file as it is, with its byte-order mark where it has one.

    Errors: ``ExampleError`` for a file that is missing, too large, binary, or in another encoding, which
    is named (CP949, UTF-16) with how to save it as UTF-8.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise _whole(path, "there is no such file", "그런 파일이 없습니다") from None
    except (OSError, ValueError) as error:
        en, ko = system_reason(error)
        raise _whole(path, f"it cannot be read: {en}", f"읽을 수 없습니다: {ko}") from None
    if len(data) > MOST_BYTES:
        raise _too_large(path)
    return _decoded(path, data)


def _too_large(name: str) -> ExampleError:
    return _whole(
        name,
        f"it is larger than {MOST_BYTES // 1024} KiB, too large for an example that a person wrote. "
        "For long texts give arrays: jumok.attend(x=…)",
        f"사람이 쓴 예제 파일로는 너무 큽니다({MOST_BYTES // 1024} KiB 초과). "
        "긴 글은 배열로 주십시오: jumok.attend(x=…)",
    )


def _decoded(path: str, data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise _whole(path, *_other_encoding("UTF-16", "UTF-16"))
    if b"\0" in data:
        name = "UTF-16LE" if data.index(b"\0") % 2 else "UTF-16BE"
        if "tokens".encode(name) in data:
            raise _whole(path, *_other_encoding(name, name))
        raise _whole(
            path,
            "it is a binary file, not text. An example file is text in UTF-8; `jumok new my.yaml` writes a starter",
            "글이 아니라 이진 파일입니다. 예제 파일은 UTF-8로 쓴 글입니다. `jumok new my.yaml`로 시작 파일을 만들 수 있습니다",
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start
    if _n_hangul(data, "cp949", "strict") > 4 * _n_hangul(data, "utf-8", "ignore"):  # else UTF-8 that was damaged
        raise _whole(path, *_other_encoding("CP949 (EUC-KR)", "CP949"))
    line = data.count(b"\n", 0, at) + 1
    raise _whole(
        path,
        f"it is not UTF-8 text (byte {at}, line {line}). Save it as UTF-8",
        f"UTF-8 글이 아닙니다({line}번째 줄, {at}번째 바이트). UTF-8로 저장하십시오",
    )


def _n_hangul(data: bytes, encoding: str, errors: str) -> int:
    """How many Hangul syllables stand in the data, read in an encoding; 0 where it cannot be."""
    try:
        return sum("가" <= letter <= "힣" for letter in data.decode(encoding, errors))
    except UnicodeDecodeError:
        return 0


def _other_encoding(name: str, iconv: str) -> tuple[str, str]:
    how = f"iconv -f {iconv} -t UTF-8 old.yaml > new.yaml"
    return (
        f"it is saved as {name}; UTF-8 is expected. In an editor choose Save as with encoding UTF-8, or run: {how}",
        f"{name} 인코딩으로 저장된 파일입니다. UTF-8이어야 합니다. 편집기(메모장 등)의 다른 이름으로 저장에서 인코딩을 "
        f"UTF-8로 고르거나 다음 명령을 쓰십시오: {how}",
    )


def parse(text: str, name: str) -> Node:
    """The tree of a YAML text. ``name`` is the file's name for messages.

    Errors: ``ExampleError`` with line and column for what is not YAML, or not plain data.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    if len(text) > MOST_BYTES:
        raise _too_large(name)
    _check_characters(text, name)
    reader = YAML(typ="safe", pure=True)
    try:
        return _Builder(name, text).document(iter(reader.parse(text)))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (None, None)
        raise _not_yaml(name, str(error.problem or error.context), *place) from None
    except (YAMLError, ValueError, IndexError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, ExampleError):
            raise
        raise _not_yaml(name, str(error)) from None


_PROBLEMS = {  # what ruamel.yaml says: what to tell a person
    r"'\\t'|\btab\b": (
        "a tab stands where only spaces may; indent with spaces",
        "공백만 올 수 있는 곳에 탭이 있습니다. 들여쓰기는 공백으로 하십시오",
    ),
    r"unexpected end of stream": ("a quote is not closed", "따옴표가 닫히지 않았습니다"),
    r"expected ',' or '\]'": (
        "a comma or a closing ] is missing",
        "쉼표나 닫는 대괄호 ]가 빠졌습니다",
    ),
    r"expected ',' or '\}'": (
        "a comma or a closing } is missing",
        "쉼표나 닫는 중괄호 }가 빠졌습니다",
    ),
    r"mapping values are not allowed": (
        "': ' stands where no name can end; a text with ': ' in it needs quotes",
        "이름이 끝날 수 없는 곳에 ': '이 있습니다. ': '이 든 글은 따옴표로 묶으십시오",
    ),
    r"could not find expected ':'": (
        "a name without ': ' behind it, or a value that is indented less than it should be",
        "이름 뒤에 ': '이 없거나 값의 들여쓰기가 모자랍니다",
    ),
    r"expected <block end>|expected '<document start>'": (
        "the indentation does not fit the lines above",
        "들여쓰기가 윗줄과 맞지 않습니다",
    ),
    r"sequence entries are not allowed": (
        "'- ' stands where no list can begin; begin the list on a line of its own",
        "목록이 시작될 수 없는 곳에 '- '가 있습니다. 목록은 새 줄에서 시작하십시오",
    ),
    r"unknown escape character": (
        r"in double quotes \ begins an escape; write \\ for the sign itself",
        r"큰따옴표 안에서 \는 특수 문자의 시작입니다. \ 자체는 \\로 쓰십시오",
    ),
    r"that cannot start any token": (
        "a text cannot begin with this sign; put it in quotes",
        "글은 이 문자로 시작할 수 없습니다. 따옴표로 묶으십시오",
    ),
    r"expected the node content": ("a value is missing here", "여기에 값이 빠졌습니다"),
}


def _not_yaml(name: str, problem: str, line: int | None = None, column: int | None = None) -> ExampleError:
    """The refusal of what is not YAML, in words where the problem is a usual one."""
    problem = brief(" ".join(problem.split()), 120)
    en, ko = next((said for sign, said in _PROBLEMS.items() if re.search(sign, problem)), (problem, problem))
    return refused(name, f"this is not valid YAML: {en}", f"올바른 YAML이 아닙니다: {ko}", line, column)


def _check_characters(text: str, name: str) -> None:
    """Refuse what cannot stand in a YAML file, at its place."""
    found = _NOT_TEXT.search(text)
    if found is None:
        return
    at, code = found.start(), ord(found[0])
    line_start = 1 + max(text.rfind("\n", 0, at), text.rfind("\r", 0, at))
    mark = line_start == 0 and text.startswith("\ufeff")
    sign, written = f"U+{code:04X}", f'"\\x{code:02x}"' if code < 256 else f'"\\u{code:04x}"'
    raise refused(
        name,
        f"the character {sign} cannot stand in a YAML file as it is. Remove it, or write it in double quotes: {written}",
        f"문자 {sign}은(는) YAML 파일에 그대로 쓸 수 없습니다. 지우거나 큰따옴표 안에 {written}로 쓰십시오",
        1 + len(re.findall("\r\n|\r|\n", text[:line_start])),
        1 + at - line_start - mark,
    )


def brief(text: str, most: int = 60) -> str:
    """A text for a message: its beginning, where it is long."""
    return text if len(text) <= most else text[: most - 1] + "…"


class _Builder:
    """Parser events → nodes, with the bounds that keep a hostile file small."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
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
                "the file is empty, or holds only comments. `jumok new my.yaml` writes a starter",
                "파일이 비어 있거나 주석만 있습니다. `jumok new my.yaml`로 시작 파일을 만들 수 있습니다",
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
                f"the tag {brief(str(event.tag))!r} asks for an object; an example file holds plain text, numbers, lists and names. "
                "Remove the tag (what begins with !)",
                f"태그 {brief(str(event.tag))!r}은(는) 객체를 만들라는 뜻입니다. 예제 파일에는 글, 숫자, 목록, 이름만 씁니다. "
                "!로 시작하는 태그를 지우십시오",
            )
        if depth > MOST_DEPTH:
            raise self.wrong(
                event,
                f"more than {MOST_DEPTH} levels of nesting; close the brackets and braces that are open",
                f"{MOST_DEPTH}단계보다 깊게 겹쳐 있습니다. 열린 괄호를 닫으십시오",
            )
        before = self.n_nodes
        node = self.scalar(event) if kind == "ScalarEvent" else self.collection(event, events, depth)
        if event.anchor:
            self.anchors[event.anchor] = (node, self.n_nodes - before + 1)
        return node

    def scalar(self, event: Any) -> Scalar:
        text = str(event.value)
        try:
            text = text.encode("utf-16", "surrogatepass").decode("utf-16")  # "\ud83d\ude00", as JSON writes an emoji
        except UnicodeDecodeError:
            raise self.wrong(
                event,
                "half a character (a lone surrogate, \\ud800 to \\udfff); write the whole character",
                "글자의 반쪽(짝이 없는 서로게이트, \\ud800~\\udfff)이 있습니다. 온전한 글자를 쓰십시오",
            ) from None
        return Scalar(*_place(event), event.end_mark.index, text, event.style is not None)

    def collection(self, event: Any, events: Iterator[Any], depth: int) -> Node:
        children: list[Node] = []
        for inner in events:
            if type(inner).__name__ in ("SequenceEndEvent", "MappingEndEvent"):
                break
            children.append(self.node(inner, events, depth + 1))
        flow = bool(event.flow_style)
        end = inner.end_mark.index if flow or not children else children[-1].end
        if type(event).__name__ == "SequenceStartEvent":
            return Seq(*_place(event), end, tuple(children), flow)
        return Map(*_place(event), end, self.pairs(children), flow)

    def pairs(self, flat: list[Node]) -> tuple[tuple[Scalar, Node], ...]:
        seen: set[str] = set()  # in NFC, as names are compared
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
            name = unicodedata.normalize("NFC", key.text)
            if name in seen:
                raise refused(
                    self.name,
                    f"the name {brief(name)!r} stands twice here; keep one",
                    f"이름 {brief(name)!r}이(가) 두 번 나옵니다. 하나만 남기십시오",
                    key.line,
                    key.column,
                )
            seen.add(name)
            pairs.append((key, self.behind(key, value)))
        return tuple(pairs)

    def behind(self, key: Scalar, value: Node) -> Node:
        """A value; where there is none (``scale:``), an empty text right behind the colon."""
        if value.start < value.end or key.alias or not (colon := re.compile(r" *:").match(self.text, key.end)):
            return value
        column = key.column + colon.end() - key.start
        return dataclasses.replace(value, line=key.line, column=column, start=colon.end(), end=colon.end())

    def alias(self, event: Any) -> Node:
        if event.anchor not in self.anchors:
            raise self.wrong(
                event,
                f"*{brief(event.anchor)} points to nothing that is complete above it; write out what is meant",
                f"*{brief(event.anchor)}이(가) 가리키는 것이 위에 없습니다. 필요한 것을 직접 쓰십시오",
            )
        node, size = self.anchors[event.anchor]
        self.count(event, size)
        return dataclasses.replace(node, start=event.start_mark.index, end=event.end_mark.index, alias=True)

    def count(self, event: Any, size: int) -> None:
        self.n_nodes += size
        if self.n_nodes > MOST_NODES:
            raise self.wrong(
                event,
                f"more than {MOST_NODES:,} entries, aliases (*) unfolded, too many for an example that a person wrote. "
                "For large ones give arrays: jumok.attend(x=…)",
                f"별칭(*)을 푼 항목이 {MOST_NODES:,}개를 넘어, 사람이 쓴 예제로는 너무 많습니다. "
                "큰 것은 배열로 주십시오: jumok.attend(x=…)",
            )

    def wrong(self, event: Any, en: str, ko: str) -> ExampleError:
        return refused(self.name, en, ko, event.start_mark.line + 1, event.start_mark.column + 1)


def _place(event: Any) -> tuple[int, int, int]:
    mark = event.start_mark
    return mark.line + 1, mark.column + 1, mark.index


def refused(name: str, en: str, ko: str, line: int | None = None, column: int | None = None) -> ExampleError:
    """The refusal of a place in a file, with its line and column."""
    name = name if name.isprintable() else repr(name)
    en_at = name if line is None else f"{name}, line {line}, column {column}"
    ko_at = name if line is None else f"{name} {line}행 {column}열"
    return ExampleError(en=f"{en_at}: {en}.", ko=f"{ko_at}: {ko}.", line=line, column=column)


def _whole(path: str, en: str, ko: str) -> ExampleError:
    return refused(path, en, ko)
