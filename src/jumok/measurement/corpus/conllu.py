"""CoNLL-U, the format of Universal Dependencies: words, their parts of speech, and who depends on whom.

Multiword tokens give the place in the text (``du`` for de + le); empty nodes and enhanced dependencies are not read.
A word whose HEAD is ``_`` hangs on nothing and nothing is asked of it: a sentence may be annotated in part. The heads that are
given have to be those of one tree: a cycle, or a second root, is refused.
Coreference is read where ``# global.Entity`` says how it is written (CorefUD 1.0 and later).

Source: https://universaldependencies.org/format.html; Nedoluzhko et al. 2022, "CorefUD 1.0".
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ...errors import ExampleError
from ...words import counted, with_particle
from .coreference import Mentions
from .lines import lines
from .sentence import Sentence, Word, cited

__all__ = ["sentences"]

ID, FORM, UPOS, HEAD, DEPREL, MISC = 0, 1, 3, 6, 7, 9
COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
N_COLUMNS = len(COLUMNS)
_ID = re.compile(r"([1-9][0-9]*)(?:-([1-9][0-9]*))?|[0-9]+\.[1-9][0-9]*")
MOST_SHOWN = 40  # letters of a column in a message
MOST_IN_CYCLE = 8  # words of a cycle in a message
_SPACE = re.compile(r"\s*")


def sentences(path: str | os.PathLike[str]) -> Iterator[Sentence]:
    """The sentences of a file, one after another; never more than one in memory.

    Errors: ``ExampleError`` with line and column; ``InputError`` where there is no such file.
    """
    block = _Block(os.fspath(path))
    mentions = Mentions()
    for number, line in lines(path):
        if line.strip():
            block.add(number, line)
        elif block.rows or block.comments:
            yield from _made(block, mentions)
            block = _Block(os.fspath(path))
    if block.rows or block.comments:
        yield from _made(block, mentions)


@dataclass(frozen=True)
class _Row:
    """One line: its number, and its columns with the character at which each begins, from 1."""

    number: int
    columns: Sequence[str]

    def at(self, column: int) -> int:
        return sum(len(text) + 1 for text in self.columns[:column]) + 1


@dataclass
class _Block:
    """The lines of one sentence, as they come."""

    path: str
    comments: dict[str, str] = field(default_factory=dict)
    rows: list[_Row] = field(default_factory=list)

    def add(self, number: int, line: str) -> None:
        if line.startswith("#"):
            name, _, value = line[1:].partition("=")
            self.comments[name.strip()] = value.strip()
            return
        row = _Row(number, line.split("\t"))
        if len(row.columns) != N_COLUMNS:
            raise self._wrong_columns(row)
        self.rows.append(row)

    def _wrong_columns(self, row: _Row) -> ExampleError:
        n = len(row.columns)
        short = n < N_COLUMNS
        at = row.at(n) - 1 if short else row.at(N_COLUMNS)  # where the line ends, or what is too much begins
        what, what_ko = (f"it ends before {COLUMNS[n]}", f"{COLUMNS[n]} 앞에서 끝납니다") if short else (
            "MISC is the last one", "MISC가 마지막 열입니다")  # fmt: skip
        return self.refusal(
            row,
            at,
            f"a word has {N_COLUMNS} columns with a tab between them, this line has {n}: {what}",
            f"단어는 탭으로 나눈 열 {N_COLUMNS}개로 쓰는데 이 줄에는 {n}개가 있습니다. {what_ko}",
        )

    def refusal(self, row: _Row, column: int, en: str, ko: str) -> ExampleError:
        return ExampleError(
            en=f"{self.path}, line {row.number}, column {column}: {en}.",
            ko=f"{self.path} {row.number}행 {column}열: {ko}.",
            line=row.number,
            column=column,
        )


def _made(block: _Block, mentions: Mentions) -> Iterator[Sentence]:
    mentions.told(block.comments)
    surface = list(_surface(block))
    if not surface:
        return
    words = [row for row, is_word in surface if is_word]
    text, spans = _placed(block, surface)
    made = tuple(_word(block, row, span, len(words)) for row, span in zip(words, spans, strict=True))
    _refuse_no_tree(block, words, made)
    marks = [_misc(row.columns[MISC]).get("Entity", "") for row in words]
    yield Sentence(
        text,
        made,
        name=block.comments.get("sent_id") or f"line {words[0].number}",
        line=block.rows[0].number,
        antecedents=mentions.antecedents(made, marks),
    )


def _surface(block: _Block) -> Iterator[tuple[_Row, bool]]:
    """Words, each True, and multiword tokens, each False, in order; empty nodes are left out."""
    expected, last = 1, 0  # the next word; the last one of the multiword token before it
    of_last: _Row | None = None
    for row in block.rows:
        found = _ID.fullmatch(row.columns[ID])
        if found is None:
            raise block.refusal(
                row,
                row.at(ID),
                f"an ID is a number from 1, a range such as 2-3, or 2.1 for an empty node, got {cited(_short(row.columns[ID]))}",
                f"ID는 1부터 세는 수, 2-3 같은 범위, 빈 노드 2.1 가운데 하나여야 하는데 {with_particle(cited(_short(row.columns[ID])), '이/가')} 왔습니다",
            )
        if found[1] is None:
            continue
        is_word = found[2] is None
        if _number(found[1]) != expected or not (is_word or expected <= _number(found[2])):
            raise block.refusal(
                row,
                row.at(ID),
                f"words are counted without a gap: {expected} comes next, got {_short(found[0])}",
                f"단어 번호는 빠짐없이 이어져야 합니다. 다음은 {expected}인데 {with_particle(_short(found[0]), '이/가')} 왔습니다",
            )
        if not is_word:
            if expected <= last:
                raise _range_refusal(block, row, "it begins inside another range", "다른 범위 안에서 시작합니다")
            last, of_last = _number(found[2]), row
        expected += is_word
        yield row, is_word
    if of_last is not None and last >= expected:
        raise _range_refusal(
            block, of_last, f"the sentence has {counted(expected - 1, 'word')}", f"문장의 단어는 {expected - 1}개입니다"
        )


def _range_refusal(block: _Block, row: _Row, en: str, ko: str) -> ExampleError:
    told = _short(row.columns[ID])
    return block.refusal(
        row, row.at(ID), f"the range {told} fits no words: {en}", f"범위 {told}에 맞는 단어가 없습니다. {ko}"
    )


def _number(digits: str) -> int:
    """A number of ASCII digits; one that is larger than any sentence stands for all that are."""
    return int(digits.lstrip("0")[:10] or "0")


def _short(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def _placed(block: _Block, surface: Sequence[tuple[_Row, bool]]) -> tuple[str, list[tuple[int, int]]]:
    """The text, and where each word stands in it; the words of a multiword token share its place."""
    given = block.comments.get("text")
    text, at, spans, inside = given or "", 0, [], 0
    shared = (0, 0)
    for row, is_word in surface:
        if is_word and inside:
            spans.append(shared)
            inside -= 1
            continue
        form = row.columns[FORM]
        if given is None:
            text, at = text + form, len(text)
        span = _found(block, row, text, at)
        at = span[1]
        if given is None and "SpaceAfter=No" not in row.columns[MISC]:
            text += " "
        if is_word:
            spans.append(span)
        else:
            first, last = row.columns[ID].split("-")
            shared, inside = span, _number(last) - _number(first) + 1
    return text.rstrip(" ") if given is None else text, spans


def _found(block: _Block, row: _Row, text: str, at: int) -> tuple[int, int]:
    form = row.columns[FORM]
    start = _SPACE.match(text, at).end()  # type: ignore[union-attr]
    if not form or not text.startswith(form, start):
        raise block.refusal(
            row,
            row.at(FORM),
            f"the form {cited(_short(form))} does not come next in the text: {cited(text[start : start + 40])}",
            f"형태 {with_particle(cited(_short(form)), '이/가')} 글의 다음 자리에 없습니다: {cited(text[start : start + 40])}",
        )
    return start, start + len(form)


def _word(block: _Block, row: _Row, span: tuple[int, int], n: int) -> Word:
    columns = row.columns
    relation = "" if columns[DEPREL] == "_" else columns[DEPREL]
    upos = "" if columns[UPOS] == "_" else columns[UPOS]
    return Word(columns[FORM], upos, _head(block, row, n), relation, span)


def _head(block: _Block, row: _Row, n: int) -> int | None:
    head = row.columns[HEAD]
    if head == "_":
        return None
    is_number = head.isascii() and head.isdigit()
    if not is_number or _number(head) > n or _number(head) == _number(row.columns[ID]):
        raise block.refusal(
            row,
            row.at(HEAD),
            f"a head is another word of the sentence, 1 to {n}, or 0 for the root, got {cited(_short(head))}",
            f"HEAD는 문장의 다른 단어(1부터 {n}까지)나 뿌리 0이어야 하는데 {with_particle(cited(_short(head)), '이/가')} 왔습니다",
        )
    return _number(head) - 1


def _refuse_no_tree(block: _Block, rows: Sequence[_Row], words: Sequence[Word]) -> None:
    """Refuse heads that no tree has: relations read from them would be wrong."""
    roots = [at for at, word in enumerate(words) if word.head == -1]
    if len(roots) > 1:
        row = rows[roots[1]]
        raise block.refusal(
            row,
            row.at(HEAD),
            f"a sentence has one root, and word {roots[0] + 1} is it already; to say nothing of a word, write _",
            f"문장의 뿌리는 하나인데 단어 {roots[0] + 1}번이 이미 뿌리입니다. 단어에 관해 말하지 않으려면 _를 쓰십시오",
        )
    ends: set[int] = set()  # words from which the heads lead out: to the root, or to a word of which nothing is said
    for start in range(len(words)):
        way: dict[int, None] = {}
        at: int | None = start
        while at is not None and at >= 0 and at not in ends and at not in way:
            way[at] = None
            at = words[at].head
        if at is not None and at in way:
            raise _cycle(block, rows, [*way][[*way].index(at) :])
        ends.update(way)


def _cycle(block: _Block, rows: Sequence[_Row], cycle: Sequence[int]) -> ExampleError:
    first = cycle.index(min(cycle))
    turned = [*cycle[first:], *cycle[:first], cycle[first]]
    told = " → ".join(str(at + 1) for at in turned[:MOST_IN_CYCLE])
    told += " → …" if len(turned) > MOST_IN_CYCLE else ""
    row = rows[turned[0]]
    return block.refusal(
        row,
        row.at(HEAD),
        f"the heads lead round in a circle: {told}; each word leads to the root",
        f"HEAD가 제자리로 돌아옵니다: {told}. 모든 단어는 뿌리에 이르러야 합니다",
    )


def _misc(text: str) -> dict[str, str]:
    parts = (part.partition("=") for part in text.split("|"))
    return {name: value for name, _, value in parts}
