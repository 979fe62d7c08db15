"""A task of one's own, from pairs of an input and a target: one answer at the end, or one at each word."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from ...errors import InputError, system_reason
from ...words import with_particle
from .sentences import Sentences
from .task import NOT_ASKED, Asked, Batch, Settings, Sizes, Truths, is_held_out

__all__ = ["Pairs", "of_pairs", "read_pairs", "refuse_no_file"]

LONGEST = 128  # words of an input
LONGEST_LINE = 10_000  # characters
MOST_PAIRS = 100_000
MOST_WORDS = 4_000  # different ones: each is a possible answer at each place
FEWEST = 10

_Rows = dict[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Pairs(Sentences):
    """Sentences that somebody else wrote; the pairs themselves are kept, so that a saved run knows its task."""

    pairs: tuple[tuple[str, str], ...] = field(repr=False, kw_only=True)

    def data(self) -> Any:  # noqa: D102 (as the base says)
        return {"name": self.name, "pairs": [list(pair) for pair in self.pairs]}


def read_pairs(path: str | os.PathLike[str]) -> Pairs:
    """The task of a text file, ``input<TAB>target`` a line, UTF-8; empty lines are left out.

    Errors: ``InputError`` with the line that does not fit; for a file that cannot be read, or has too many lines; as for
    ``of_pairs``.
    """
    name = os.fspath(path)
    refuse_no_file(name)
    try:
        with open(name, encoding="utf-8-sig") as file:
            lines = {number: _parts(name, number, line) for number, line in _lines(file, name) if line.strip()}
    except UnicodeDecodeError:
        raise InputError(
            en=f"cannot read {name}: it is not UTF-8 text. Save it as UTF-8.",
            ko=f"{with_particle(name, '을/를')} 읽을 수 없습니다: UTF-8 글이 아닙니다. UTF-8로 저장하십시오.",
        ) from None
    except OSError as error:
        en, ko = system_reason(error)
        raise InputError(
            en=f"cannot read {name}: {en}.", ko=f"{with_particle(name, '을/를')} 읽을 수 없습니다: {ko}."
        ) from None
    return _made(list(lines.values()), Path(name).stem, [("line", "행", number) for number in lines])


def refuse_no_file(name: str) -> None:
    """Refuse a pipe or a device: nobody may ever write into the one, and the other may never end.

    Errors: ``InputError`` for what is there but neither a file nor a folder.
    """
    path = Path(name)
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InputError(
            en=f"cannot read {name}: it is a pipe or a device, not a file. Save its text as a file first.",
            ko=f"{with_particle(name, '을/를')} 읽을 수 없습니다: 파일이 아니라 파이프나 장치입니다. 내용을 먼저 파일로 저장하십시오.",
        )


def _lines(file: TextIO, name: str) -> Iterator[tuple[int, str]]:
    """The lines with their numbers; of a line that is too long only so much that it is seen to be.

    Errors: ``InputError`` for more than ``MOST_PAIRS`` lines.
    """
    for number in range(1, MOST_PAIRS + 1):
        line = file.readline(LONGEST_LINE + 2)
        if not line:
            return
        yield number, line.rstrip("\n")
    if file.readline(1):
        raise InputError(
            en=f"{name}: expects at most {MOST_PAIRS:,} lines. Leave some out; the small models here need far fewer.",
            ko=f"{name}: {MOST_PAIRS:,}행까지만 쓸 수 있습니다. 일부를 빼십시오. 이곳의 작은 모델에는 훨씬 적어도 됩니다.",
        )


def _parts(name: str, number: int, line: str) -> tuple[str, str]:
    if len(line) > LONGEST_LINE:
        raise InputError(
            en=f"{name}, line {number}: longer than {LONGEST_LINE:,} characters; it begins with {line[:40]!r}.",
            ko=f"{name}, {number}행: {LONGEST_LINE:,}자보다 깁니다. 시작 부분: {line[:40]!r}.",
        )
    text, *targets = line.split("\t")
    if len(targets) != 1:
        raise InputError(
            en=f"{name}, line {number}: expects input<TAB>target, got {len(targets)} tabs: {line[:80]!r}.",
            ko=f"{name}, {number}행: 입력<탭>답이 필요한데 탭이 {len(targets)}개입니다: {line[:80]!r}.",
        )
    return text, targets[0]


def of_pairs(pairs: Iterable[Any], name: str) -> Pairs:
    """A task from pairs of texts, at most ``MOST_PAIRS`` of them.

    A target of one word is asked for at the input's last word, one of as many words as the input at each word. A fifth of
    the inputs is held out, but none with a word or an answer that the others lack.

    Errors: ``InputError`` for pairs that teach nothing (too few, or always the same answer), or that do not fit.
    """
    read: list[tuple[str, str]] = []
    for pair in itertools.islice(pairs, MOST_PAIRS):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not all(isinstance(text, str) for text in pair):
            raise InputError(
                en=f"{name}, pair {len(read) + 1}: expects (input, target), two texts, got {pair!r:.200}.",
                ko=f"{name}, {len(read) + 1}번째 쌍: 두 글 (입력, 답)이 필요한데 {with_particle(f'{pair!r:.200}', '이/가')} 왔습니다.",
            )
        read.append((pair[0], pair[1]))
    return _made(read, name, [("pair", "번째 쌍", number) for number in range(1, len(read) + 1)])


def _made(pairs: Sequence[tuple[str, str]], name: str, places: Sequence[tuple[str, str, int]]) -> Pairs:
    """``places`` : what each pair is called in an error, in two languages, and its number."""
    rows: _Rows = {}
    for (text, target), (kind, kind_ko, number) in zip(pairs, places, strict=True):
        words, answers = tuple(text.split()), tuple(target.split())
        en, ko = f"{name}, {kind} {number}", f"{name}, {number}{kind_ko}"
        if not 1 <= len(words) <= LONGEST or len(answers) not in (1, len(words)):
            raise InputError(
                en=f"{en}: expects an input of 1 to {LONGEST} words and a target of one word, or of as many words as the "
                f"input; got {len(words)} and {len(answers)}.",
                ko=f"{ko}: 낱말이 1~{LONGEST}개인 입력과, 낱말이 하나이거나 입력과 같은 수인 답이 필요한데 {len(words)}개와 "
                f"{len(answers)}개가 왔습니다.",
            )
        if rows.setdefault(words, answers) != answers:
            first = " ".join(rows[words])
            raise InputError(
                en=f"{en}: {text[:80]!r} has two targets, {first[:80]!r} and {target[:80]!r}. Keep one.",
                ko=f"{ko}: {text[:80]!r}의 답이 {first[:80]!r}, {target[:80]!r} 둘입니다. 하나만 남기십시오.",
            )
    _refuse_nothing_to_learn(rows, name)
    return _task(rows, tuple(pairs), name)


def _refuse_nothing_to_learn(rows: _Rows, name: str) -> None:
    if len(rows) < FEWEST:
        raise InputError(
            en=f"{name}: expects at least {FEWEST} different inputs, got {len(rows)}.",
            ko=f"{name}: 서로 다른 입력이 {FEWEST}개 이상 필요한데 {len(rows)}개입니다.",
        )
    answers = {answer for target in rows.values() for answer in target}
    if len(answers) == 1:
        (only,) = answers
        raise InputError(
            en=f"{name}: every target is {only!r}, so there is nothing to learn. Give at least two different ones.",
            ko=f"{name}: 답이 모두 {with_particle(repr(only), '이라서/라서')} 배울 것이 없습니다. 서로 다른 답이 둘 이상 있어야 합니다.",
        )


def _vocabulary(rows: _Rows, name: str) -> tuple[str, ...]:
    vocabulary = tuple(dict.fromkeys(word for words, answers in rows.items() for word in (*words, *answers)))
    if len(vocabulary) > MOST_WORDS:
        raise InputError(
            en=f"{name}: expects at most {MOST_WORDS:,} different words, got {len(vocabulary):,}. Give fewer sentences, or "
            f"write rare words as one.",
            ko=f"{name}: 서로 다른 낱말은 {MOST_WORDS:,}개까지인데 {len(vocabulary):,}개입니다. 문장을 줄이거나 드문 낱말을 하나로 바꾸어 "
            f"쓰십시오.",
        )
    return vocabulary


def _task(rows: _Rows, pairs: tuple[tuple[str, str], ...], name: str) -> Pairs:
    vocabulary = _vocabulary(rows, name)
    batch = _batch(rows, {text: at for at, text in enumerate(vocabulary)})
    apart = _apart(batch, name)
    inputs = list(rows)
    probes = [inputs[at] for at in np.flatnonzero(apart)[:3]]
    return Pairs(
        name=name,
        title={"en": name, "ko": name},
        about={"en": f"{len(rows)} pairs of one's own.", "ko": f"직접 만든 쌍 {len(rows)}개."},
        vocabulary=vocabulary,
        n_positions=batch.tokens.shape[1],
        causal=False,
        sizes=Sizes(n_layers=2),
        settings=Settings(),
        probes=tuple(Asked(words, len(words) - 1, (), rows[words][-1]) for words in probes),
        training=batch.take(~apart),
        held_out=batch.take(apart),
        pairs=pairs,
    )


def _batch(rows: _Rows, numbers: dict[str, int]) -> Batch:
    tokens = np.zeros((len(rows), max(map(len, rows))), np.int64)
    targets = np.full_like(tokens, NOT_ASKED)
    for at, (words, answers) in enumerate(rows.items()):
        tokens[at, : len(words)] = [numbers[word] for word in words]
        targets[at, len(words) - len(answers) : len(words)] = [numbers[answer] for answer in answers]
    return Batch(tokens, targets, np.array([len(words) for words in rows]))


def _apart(batch: Batch, name: str) -> Truths:
    """Which sequences are held out: a fifth, but none with a token or an answer that is not trained on elsewhere.

    Errors: ``InputError`` where that leaves none.
    """
    apart = is_held_out(batch.tokens)
    each = [_symbols(batch, at) for at in range(len(batch))]
    trained = {symbol for at in np.flatnonzero(~apart) for symbol in each[at]}
    for at in np.flatnonzero(apart):
        if not each[at] <= trained:
            apart[at] = False
            trained |= each[at]
    if not apart.any():
        raise InputError(
            en=f"{name}: no input can be held out for testing, since each has a word or a target that no other one has. Give more "
            f"pairs of the same words.",
            ko=f"{name}: 다른 쌍에 없는 낱말이나 답이 쌍마다 있어, 시험용으로 남겨 둘 것이 없습니다. 같은 낱말로 된 쌍을 더 주십시오.",
        )
    return apart


def _symbols(batch: Batch, at: int) -> set[tuple[bool, int]]:
    """What must be trained on before a sequence can test it: its tokens as tokens, its answers as answers."""
    tokens, targets = batch.tokens[at, : batch.lengths[at]], batch.targets[at]
    answers = targets[targets != NOT_ASKED]
    return {(False, int(token)) for token in tokens} | {(True, int(answer)) for answer in answers}
