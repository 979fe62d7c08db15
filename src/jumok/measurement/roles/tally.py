"""The sums of many sequences, which merge in any order to the same bits.

Sums are kept as whole numbers of 2⁻²⁴, so that adding is exact: (a + b) + c is a + (b + c) to the last bit, whichever
machine added what. For intervals over sentences they are kept in 128 groups, by the sentence's place in the corpus; up
to 128 sentences each is a group of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from .cases import OFFSETS
from .marked import Whole
from .streamed import SLOTS, Scores

__all__ = ["N_GROUPS", "Tally"]

N_GROUPS = 128
PARTS = 2**24  # of a case that is told apart: a score is off by 3e-8 at most

FIELDS = ("n_sentences", "n_cases", "even", "offsets", "sums")
Kept = dict[str, Whole]


@dataclass
class Tally:
    """Sums over sequences, role by role.

    n_heads : (layer,) the same for all sequences that are added; 0 for a layer that has none of these roles
    n_sequences : (group,) how many were added
    kept : role → "n_sentences" (group, layer) with a case; the others as in ``Scores``, (group, layer, …), in ``PARTS``
    """

    n_heads: tuple[int, ...]
    n_sequences: Whole = field(default_factory=lambda: np.zeros(N_GROUPS, dtype=np.int64))
    kept: dict[str, Kept] = field(default_factory=dict)

    def add(self, index: int, scores: Scores) -> None:
        """Add a sequence; ``index`` is its place in the whole corpus, from 0.

        Errors: ``InputError`` where it has another number of layers or heads.
        """
        self._refuse_other(scores.n_heads)
        group = index % N_GROUPS
        self.n_sequences[group] += 1
        for at, role in enumerate(scores.roles):
            mine = self._of(role)
            mine["n_sentences"][group] += scores.n_cases[at] > 0
            mine["n_cases"][group] += np.rint(scores.n_cases[at]).astype(np.int64)
            for name in ("even", "offsets", "sums"):
                mine[name][group] += np.rint(getattr(scores, name)[at] * PARTS).astype(np.int64)

    def merge(self, other: Tally) -> None:
        """Add all that another one holds.

        Errors: ``InputError`` where it has another number of layers or heads.
        """
        self._refuse_other(other.n_heads)
        self.n_sequences += other.n_sequences
        for role, theirs in other.kept.items():
            mine = self._of(role)
            for name in FIELDS:
                mine[name] += theirs[name]

    def real(self, role: str) -> dict[str, npt.NDArray[np.float64]]:
        """The sums of a role as numbers, (group, layer, …)."""
        mine = self.kept[role]
        return {name: mine[name] / (1 if name.startswith("n_") else PARTS) for name in FIELDS}

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All of it as named arrays, to be saved and sent."""
        n_heads = np.array(self.n_heads, dtype=np.int64)
        made: dict[str, npt.NDArray[Any]] = {"n_heads": n_heads, "n_sequences": self.n_sequences}
        return made | {f"{name}/{role}": array for role, mine in self.kept.items() for name, array in mine.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Tally:
        """What ``to_arrays`` gave."""
        made = cls(tuple(map(int, arrays["n_heads"])), np.array(arrays["n_sequences"]))
        for name in arrays:
            what, _, role = name.partition("/")
            if role:
                made.kept.setdefault(role, {})[what] = np.array(arrays[name])
        return made

    def _of(self, role: str) -> Kept:
        if role not in self.kept:
            self.kept[role] = dict(self._empty())
        return self.kept[role]

    def _empty(self) -> Iterator[tuple[str, Whole]]:
        sizes: tuple[tuple[int, ...], ...] = ((), (), (), (len(OFFSETS),), (max(self.n_heads, default=0), SLOTS))
        for name, size in zip(FIELDS, sizes, strict=True):
            yield name, np.zeros((N_GROUPS, len(self.n_heads), *size), dtype=np.int64)

    def _refuse_other(self, n_heads: tuple[int, ...]) -> None:
        if n_heads != self.n_heads:
            raise InputError(
                en=f"one table is of one model: expected heads {self.n_heads} layer by layer, as before, got {n_heads}.",
                ko=f"표 하나는 모델 하나의 것입니다. 앞에서와 같이 층마다 헤드가 {self.n_heads}개여야 하는데 {n_heads}개가 왔습니다.",
            )
