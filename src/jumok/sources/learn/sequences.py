"""Tasks on random symbols: copy the token before, continue what was seen before (induction), sort."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from .task import NOT_ASKED, Asked, Batch, SequenceTask, Settings, Sizes, Truths, Whole, is_held_out

__all__ = ["Previous", "Repeat", "Sort", "previous", "repeat", "sort"]

LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ가나다라마바")


class _Drawn(SequenceTask):
    """A task whose sequences are drawn from so many that each is new."""

    @abstractmethod
    def drawn(self, rng: np.random.Generator, n: int) -> Batch:
        """``n`` sequences, whichever side of the split they fall on."""

    def batch(self, rng: np.random.Generator, n: int, held_out: bool = False) -> Batch:
        found: list[Batch] = []
        while sum(map(len, found)) < n:
            some = self.drawn(rng, 2 * n)
            found.append(some.take(is_held_out(some.tokens) == held_out))
        return _joined(found).take(slice(n))


def _joined(parts: Sequence[Batch]) -> Batch:
    return Batch(
        np.concatenate([one.tokens for one in parts]),
        np.concatenate([one.targets for one in parts]),
        np.concatenate([one.lengths for one in parts]),
        {name: np.concatenate([one.roles[name] for one in parts]) for name in parts[0].roles},
    )


def _marked(reads: Whole, n_keys: int) -> Truths:
    """(sequence, query) positions, −1 for none → (sequence, query, key)."""
    marks: Truths = reads[:, :, None] == np.arange(n_keys)
    return marks


def _batch(tokens: Whole, targets: Whole, **positions: Whole) -> Batch:
    """``positions`` : the key that plays each role for each query, −1 for none."""
    lengths = np.full(len(tokens), tokens.shape[1])
    roles = {name: _marked(keys, tokens.shape[1]) for name, keys in positions.items()}
    return Batch(tokens, targets, lengths, roles)


@dataclass(frozen=True)
class Previous(_Drawn):
    """Random symbols; at each place, the symbol that stands before it."""

    def drawn(self, rng: np.random.Generator, n: int) -> Batch:  # noqa: D102 (as the base says)
        tokens = rng.integers(0, len(self.vocabulary), (n, self.n_positions))
        targets, reads = np.full_like(tokens, NOT_ASKED), np.full_like(tokens, NOT_ASKED)
        targets[:, 1:] = tokens[:, :-1]
        reads[:, 1:] = np.arange(self.n_positions - 1)
        return _batch(tokens, targets, answer=reads)


FIRST, PIECES, PIECE = 20, 5, 4  # different symbols at first, then so many pieces of them, each so long


@dataclass(frozen=True)
class Repeat(_Drawn):
    """Different symbols in random order, then pieces of them again, each from a place drawn anew: how does it go on?

    The first symbol of a piece cannot be known and is not asked for; what follows can: find where the symbol at hand
    stood before, and say what followed it there. No fixed distance works. Source: Olsson et al. 2022, "In-context
    learning and induction heads".
    """

    def drawn(self, rng: np.random.Generator, n: int) -> Batch:  # noqa: D102 (as the base says)
        symbols = np.argsort(rng.random((n, len(self.vocabulary))), axis=1)[:, :FIRST]
        starts = rng.integers(0, FIRST - PIECE + 1, (n, PIECES))
        source = (starts[:, :, None] + np.arange(PIECE)).reshape(n, -1)
        tokens = np.concatenate([symbols, np.take_along_axis(symbols, source, axis=1)], axis=1)
        at = np.arange(PIECES * PIECE)
        asked = at[at % PIECE != PIECE - 1]
        targets, reads = np.full_like(tokens, NOT_ASKED), np.full_like(tokens, NOT_ASKED)
        targets[:, FIRST + asked] = tokens[:, FIRST + asked + 1]
        reads[:, FIRST + asked] = source[:, asked] + 1
        before = np.full_like(tokens, NOT_ASKED)
        before[:, 1:FIRST] = np.arange(FIRST - 1)
        return _batch(tokens, targets, answer=reads, previous=before)


TO_SORT = 8


@dataclass(frozen=True)
class Sort(_Drawn):
    """Different numbers, then "=", then the same numbers in order: which is next?

    A relation without positions: each number reads the next larger one, wherever it stands.
    """

    def drawn(self, rng: np.random.Generator, n: int) -> Batch:  # noqa: D102 (as the base says)
        n_numbers = len(self.vocabulary) - 1
        given = np.argsort(rng.random((n, n_numbers)), axis=1)[:, :TO_SORT]
        order = np.argsort(given, axis=1)
        ordered = np.take_along_axis(given, order, axis=1)
        sign = np.full((n, 1), n_numbers)
        tokens = np.concatenate([given, sign, ordered[:, :-1]], axis=1)
        targets, reads = np.full_like(tokens, NOT_ASKED), np.full_like(tokens, NOT_ASKED)
        targets[:, TO_SORT:], reads[:, TO_SORT:] = ordered, order
        return _batch(tokens, targets, answer=reads)


_Task = TypeVar("_Task", bound=_Drawn)


def _with_probes(task: _Drawn, row: int, n: int = 2) -> tuple[Asked, ...]:
    """The first held-out sequences, looked at in one row."""
    batch = task.batch(np.random.default_rng(7), n, held_out=True)
    marks = batch.roles["answer"]
    return tuple(
        Asked(
            tokens=tuple(task.vocabulary[token] for token in tokens),
            query=row,
            reads=tuple(int(key) for key in np.flatnonzero(reads[row])),
            answer=task.vocabulary[targets[row]],
        )
        for tokens, targets, reads in zip(batch.tokens, batch.targets, marks, strict=True)
    )


def previous() -> Previous:
    """Copy the token before."""
    plain = Previous(
        name="previous",
        title={"en": "Which token stands before me?", "ko": "내 바로 앞에 있는 토큰은?"},
        about={
            "en": "At each place of a row of random letters the model must say which letter stands just before it. "
            "Positions are all that helps.",
            "ko": "무작위로 늘어놓은 글자의 각 자리에서 바로 앞 글자를 맞힙니다. 도움이 되는 것은 위치뿐입니다.",
        },
        vocabulary=LETTERS[:16],
        n_positions=12,
        causal=False,
        sizes=Sizes(),
        settings=Settings(steps=500),
        probes=(),
    )
    return _probed(plain, row=6)


def repeat(n_layers: int = 2) -> Repeat:
    """Continue what was seen before (induction)."""
    plain = Repeat(
        name="repeat",
        title={"en": "It was here before: what came next?", "ko": "앞에 나왔던 글자입니다. 그다음은 무엇이었을까요?"},
        about={
            "en": "Twenty different letters, then pieces of them again. What follows a letter the second time is what followed "
            "it the first time, and the distance is another one each time. Two layers learn it suddenly: the first hands each "
            "letter its predecessor, the second looks for that (an induction head). One layer cannot.",
            "ko": "서로 다른 글자 스무 개 뒤에 그 일부가 다시 나옵니다. 두 번째로 나온 글자 다음에는 처음에 그 글자 다음에 왔던 글자가 "
            "오고, 거리는 매번 다릅니다. 두 층이면 어느 순간 갑자기 배웁니다. 첫 층이 각 글자에게 바로 앞 글자를 전하고, 둘째 층이 그것을 "
            "찾습니다(귀납 헤드, induction head). 한 층으로는 배울 수 없습니다.",
        },
        vocabulary=LETTERS,
        n_positions=FIRST + PIECES * PIECE,
        causal=True,
        sizes=Sizes(n_layers=n_layers),
        settings=Settings(steps=900),
        probes=(),
    )
    return _probed(plain, row=FIRST + PIECE + 1)


def sort() -> Sort:
    """Put numbers in order."""
    plain = Sort(
        name="sort",
        title={"en": "Which number is the next larger one?", "ko": "다음으로 큰 수는?"},
        about={
            "en": "Eight different numbers in any order, then “=”, then the same numbers in order, one after the other. Each "
            "must find the next larger one, wherever it stands.",
            "ko": "서로 다른 수 여덟 개가 아무 순서로 나오고, “=” 다음에 같은 수를 작은 것부터 차례로 말합니다. 각 수는 다음으로 큰 수가 "
            "어디에 있든 찾아야 합니다.",
        },
        vocabulary=(*(str(number) for number in range(20)), "="),
        n_positions=2 * TO_SORT,
        causal=True,
        sizes=Sizes(),
        settings=Settings(steps=2500),
        probes=(),
    )
    return _probed(plain, row=TO_SORT + 2)


def _probed(task: _Task, row: int) -> _Task:
    return dataclasses.replace(task, probes=_with_probes(task, row))
