"""A task of one's own, from pairs of an input and a target: one answer at the end, or one at each word."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import InputError
from .sentences import Sentences
from .task import HELD_OUT, NOT_ASKED, Asked, Batch, Settings, Sizes, is_held_out

__all__ = ["Pairs", "of_pairs", "read_pairs"]

LONGEST = 128  # words of an input
MOST_PAIRS = 200_000
FEWEST = 10


@dataclass(frozen=True)
class Pairs(Sentences):
    """Sentences that somebody else wrote; the pairs themselves are kept, so that a saved run knows its task."""

    pairs: tuple[tuple[str, str], ...] = field(repr=False, kw_only=True)

    def data(self) -> Any:  # noqa: D102 (as the base says)
        return {"name": self.name, "pairs": [list(pair) for pair in self.pairs]}


def read_pairs(path: str | os.PathLike[str]) -> list[tuple[str, str]]:
    """The pairs of a text file, ``input<TAB>target`` a line; empty lines are left out.

    Errors: ``InputError`` with the line that has no tab, or more than one; for a file that cannot be read.
    """
    name = os.fspath(path)
    try:
        with open(name, encoding="utf-8-sig") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        said_ko = error.strerror if isinstance(error, OSError) else "UTF-8 글이 아닙니다"
        raise InputError(en=f"cannot read {name}: {said}.", ko=f"{name}을(를) 읽을 수 없습니다: {said_ko}.") from None
    pairs = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        parts = line.split("\t")
        if len(parts) != 2:
            raise InputError(
                en=f"{name}, line {number}: expects input<TAB>target, got {len(parts) - 1} tabs: {line[:80]!r}.",
                ko=f"{name}, {number}행: 입력<탭>답이 필요한데 탭이 {len(parts) - 1}개입니다: {line[:80]!r}.",
            )
        pairs.append((parts[0], parts[1]))
    return pairs


def of_pairs(pairs: Iterable[Any], name: str) -> Pairs:
    """A task from pairs of texts. A target of one word is asked for at the input's last word, one of as many words as
    the input at each word. A fifth of the inputs is held out; those with a word that no other one has are trained on.

    Errors: ``InputError`` for pairs that teach nothing (too few, or always the same answer), or that do not fit.
    """
    read = _checked(pairs, name)
    rows: dict[tuple[str, ...], tuple[str, ...]] = {}
    for number, (text, target) in enumerate(read, 1):
        words, answers = tuple(text.split()), tuple(target.split())
        _refuse_misfit(number, words, answers)
        if rows.setdefault(words, answers) != answers:
            raise InputError(
                en=f"{name}, pair {number}: {text!r} has two targets, {' '.join(rows[words])!r} and {target!r}. Keep one.",
                ko=f"{name}, {number}번째 쌍: {text!r}의 답이 {' '.join(rows[words])!r}, {target!r} 둘입니다. 하나만 남기십시오.",
            )
    _refuse_nothing_to_learn(rows, name)
    return _task(rows, tuple(read), name)


def _checked(pairs: Iterable[Any], name: str) -> list[tuple[str, str]]:
    read: list[tuple[str, str]] = []
    for number, pair in enumerate(pairs, 1):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not all(isinstance(text, str) for text in pair):
            raise InputError(
                en=f"{name}, pair {number}: expects (input, target), two texts, got {pair!r}."[:300],
                ko=f"{name}, {number}번째 쌍: 두 글 (입력, 답)이 필요한데 {pair!r}이(가) 왔습니다."[:300],
            )
        read.append((pair[0], pair[1]))
        if number == MOST_PAIRS:
            break
    return read


def _refuse_misfit(number: int, words: tuple[str, ...], answers: tuple[str, ...]) -> None:
    if not 1 <= len(words) <= LONGEST or len(answers) not in (1, len(words)):
        raise InputError(
            en=f"pair {number}: expects an input of 1 to {LONGEST} words and a target of one word, or of as many words as the "
            f"input; got {len(words)} and {len(answers)}.",
            ko=f"{number}번째 쌍: 낱말이 1~{LONGEST}개인 입력과, 낱말이 하나이거나 입력과 같은 수인 답이 필요한데 {len(words)}개와 "
            f"{len(answers)}개가 왔습니다.",
        )


def _refuse_nothing_to_learn(rows: dict[tuple[str, ...], tuple[str, ...]], name: str) -> None:
    if len(rows) < FEWEST:
        raise InputError(
            en=f"{name}: expects at least {FEWEST} different inputs, got {len(rows)}.",
            ko=f"{name}: 서로 다른 입력이 {FEWEST}개 이상 필요한데 {len(rows)}개입니다.",
        )
    answers = {answer for target in rows.values() for answer in target}
    if len(answers) == 1:
        raise InputError(
            en=f"{name}: every target is {answers.pop()!r}, so there is nothing to learn. Give at least two different ones.",
            ko=f"{name}: 답이 모두 {answers.pop()!r}이라서 배울 것이 없습니다. 서로 다른 답이 둘 이상 있어야 합니다.",
        )


def _task(rows: dict[tuple[str, ...], tuple[str, ...]], pairs: tuple[tuple[str, str], ...], name: str) -> Pairs:
    vocabulary = tuple(dict.fromkeys(word for words, answers in rows.items() for word in (*words, *answers)))
    numbers = {text: at for at, text in enumerate(vocabulary)}
    longest = max(map(len, rows))
    tokens = np.zeros((len(rows), longest), np.int64)
    targets = np.full_like(tokens, NOT_ASKED)
    for at, (words, answers) in enumerate(rows.items()):
        tokens[at, : len(words)] = [numbers[word] for word in words]
        targets[at, len(words) - len(answers) : len(words)] = [numbers[answer] for answer in answers]
    batch = Batch(tokens, targets, np.array([len(words) for words in rows]))
    apart = _apart(batch)
    held = np.flatnonzero(apart)[:3]
    inputs = list(rows)
    return Pairs(
        name=name,
        title={"en": name, "ko": name},
        about={"en": f"{len(rows)} pairs of one's own.", "ko": f"직접 만든 쌍 {len(rows)}개."},
        vocabulary=vocabulary,
        n_positions=longest,
        causal=False,
        sizes=Sizes(n_layers=2),
        settings=Settings(),
        probes=tuple(Asked(inputs[at], len(inputs[at]) - 1, (), rows[inputs[at]][-1]) for at in held),
        training=batch.take(~apart),
        held_out=batch.take(apart),
        pairs=pairs,
    )


def _apart(batch: Batch) -> Any:
    """Which sequences are held out: none with a token or an answer that the others lack, and at least one."""
    apart = is_held_out(batch.tokens)
    if not apart.any():
        apart[::HELD_OUT] = True
    size = max(int(batch.tokens.max()), int(batch.targets.max())) + 1
    for at in np.flatnonzero(apart):
        counts = np.zeros(size, bool)
        counts[batch.tokens[~apart]] = True
        counts[batch.targets[~apart]] = True
        asked = batch.targets[at][batch.targets[at] != NOT_ASKED]
        if not counts[batch.tokens[at]].all() or not counts[asked].all():
            apart[at] = False
    return apart
