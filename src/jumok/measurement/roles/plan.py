"""What some rows are asked, the same for all heads: which weights are looked at, and how they are summed.

A plan is made once for some rows, and used by every head of all layers that allow the same.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from ...trace import Floats
from .cases import OFFSETS, joined, piece_cases, same_cases, sink_cases, unit_cases
from .marked import Flags, Marked, Whole
from .tile import Grown, Seen, Tile, least, n_most

__all__ = ["APART", "MASS", "MOST", "SLOTS", "WEIGHT", "Plan"]

Doubles = npt.NDArray[np.float64]
MOST, WEIGHT, MASS = range(3)
APART = MOST  # of near and broad: the same, without the sink
SLOTS = 3


class _Part(Protocol):
    roles: tuple[str, ...]
    n_cases: Whole
    even: Doubles
    offsets: Doubles

    def sums(self, tile: Tile) -> Doubles: ...


class Plan:
    """The roles that some rows have a case of: of pieces, of whole rows, of words.

    roles : (role,) names;  n_cases, even : (role,);  offsets : (role, offset), as in ``Scores``
    """

    def __init__(self, known: Marked, rows: Whole, allowed: Flags) -> None:
        self.rows, self.allowed = rows, allowed
        self._seen = Seen(rows, allowed, known.sink)
        parts: list[_Part] = [_Pieces(known, self._seen), _Rows(known, self._seen)]
        if known.units is not None and known.links:
            parts.append(_Words(known, self._seen))
        self._parts = [part for part in parts if part.roles]
        self.roles = tuple(role for part in self._parts for role in part.roles)
        self.n_cases, self.even = (
            np.concatenate([np.zeros(0), *(getattr(part, name) for part in self._parts)])
            for name in ("n_cases", "even")
        )
        self.offsets = np.concatenate([np.zeros((0, len(OFFSETS))), *(part.offsets for part in self._parts)])

    def sums(self, made: Grown) -> Doubles:
        """(role, head, 3) of some heads, whose rows are overwritten."""
        tile = Tile(made, self._seen)
        none = np.zeros((0, len(made.share), SLOTS))
        return np.concatenate([none, *(part.sums(tile) for part in self._parts)])


class _Pieces:
    """Roles of pieces: fixed offsets, induction, the same token; and those that the sink itself plays."""

    def __init__(self, known: Marked, seen: Seen) -> None:
        rows, n_keys = seen.rows, seen.allowed.shape[1]
        free = [piece_cases(known, rows, seen.candidates), same_cases(known, rows, seen.others)]
        sink = sink_cases(known, rows, seen.allowed)
        self._cases = joined([*free, sink])
        self.roles, self.n_cases = self._cases.roles, self._cases.n_cases
        self.even, self.offsets = self._cases.even, self._cases.offsets
        queries, keys = (np.concatenate([getattr(cases, name) for cases in free]) for name in ("query", "key"))
        self._n_free, self._at = sum(len(cases.roles) for cases in free), queries * n_keys + keys
        self._asks = np.concatenate([cases.query + kind * len(rows) for kind, cases in enumerate(free)])
        self._of_sink = sink.query * len(seen.sunk) + np.searchsorted(seen.sunk, sink.key)

    def sums(self, tile: Tile) -> Doubles:
        """(role, head, 3)"""
        cases, n_heads = self._cases, len(tile.share)
        free = tile.grown.reshape(n_heads, -1).take(self._at, axis=1)
        right = np.concatenate([free, tile.of_sink.reshape(n_heads, -1).take(self._of_sink, axis=1)], axis=1)
        right *= tile.share.take(cases.query, axis=1)
        sums = np.zeros((len(self.roles), n_heads, SLOTS))
        sums[..., WEIGHT] = np.add.reduceat(right, cases.pairs, axis=1, dtype=np.float64).T
        sums[..., MASS] = np.add.reduceat(tile.mass.take(cases.case, axis=1), cases.cases, axis=1).T
        if self._n_free:
            leasts, counts = (np.concatenate(both, axis=1) for both in zip(*tile.most(), strict=True))
            most = (free >= leasts.take(self._asks, axis=1)) / counts.take(self._asks, axis=1)
            sums[: self._n_free, :, MOST] = np.add.reduceat(most, cases.pairs[: self._n_free], axis=1).T
        return sums


class _Rows:
    """How far, and how evenly, a row is read: of rows that have a choice."""

    def __init__(self, known: Marked, seen: Seen) -> None:
        self._asks = np.flatnonzero(~known.special[seen.rows] & (seen.n_candidates > 1))
        self.roles: tuple[str, ...] = ("near", "broad") if len(self._asks) else ()
        may = seen.candidates[self._asks]
        self._n_all, self._n_apart = (np.log(some[self._asks].sum(axis=1)) for some in (seen.allowed, seen.candidates))
        distance = ((seen.far[self._asks] * may).sum(axis=1) / may.sum(axis=1)).sum()
        self.n_cases = np.full(len(self.roles), len(self._asks))
        self.even = np.array([distance, len(self._asks)])
        self.offsets = np.zeros((len(self.roles), len(OFFSETS)))

    def sums(self, tile: Tile) -> Doubles:
        """(role, head, 3)"""
        asks = self._asks
        (told, apart), (of_all, shared) = tile.far(), tile.entropy()
        evenness = of_all[:, asks] / self._n_all, np.clip(shared[:, asks] / self._n_apart, 0, 1)
        mass = tile.mass[:, asks].sum(axis=1)
        near = np.stack([apart[:, asks].sum(axis=1), told[:, asks].sum(axis=1), mass], axis=-1)
        return np.stack([near, np.stack([evenness[1].sum(axis=1), evenness[0].sum(axis=1), mass], axis=-1)])


class _Words:
    """Roles of words: sums over the pieces of a word that is read, means over those of a word that reads."""

    def __init__(self, known: Marked, seen: Seen) -> None:
        assert known.units is not None
        mine = known.units[seen.rows]
        self._asking = np.flatnonzero(mine >= 0)
        units, self._starts, counts = np.unique(mine[self._asking], return_index=True, return_counts=True)
        self._share = 1 / counts
        self._reading = np.flatnonzero(known.units >= 0)
        _, self._key_starts = np.unique(known.units[self._reading], return_index=True)
        reach = self._by_word(seen.allowed[None].astype(np.float64))[0] > 0
        sunk = np.zeros(known.n_units, dtype=bool)
        sunk[known.units[known.sink & (known.units >= 0)]] = True
        self._candidates = reach & ~sunk & (units[:, None] != np.arange(known.n_units))
        self._n_candidates = self._candidates.sum(axis=1)
        self._cases = unit_cases(known, units, self._candidates)
        self.roles, self.n_cases = self._cases.roles, self._cases.n_cases
        self.even, self.offsets = self._cases.even, self._cases.offsets

    def sums(self, tile: Tile) -> Doubles:
        """(role, head, 3)"""
        cases = self._cases
        weights = np.where(self._candidates, self._by_word(tile.grown, tile.share), 0)
        top = weights.max(axis=-1)
        right = weights[:, cases.query, cases.key]
        hits = right >= least(top)[:, cases.query]
        most = hits / np.where(top > 0, n_most(weights, top), self._n_candidates)[:, cases.query]
        mass = self._meant(tile.mass[:, self._asking])[:, cases.case]
        summed = (np.add.reduceat(one, cases.pairs, axis=1, dtype=np.float64) for one in (most, right))
        return np.stack([*summed, np.add.reduceat(mass, cases.cases, axis=1)], axis=-1).swapaxes(0, 1)

    def _by_word(self, grown: Floats, share: Floats | None = None) -> Floats:
        """(head, row, token) → (head, word, word)."""
        some = grown[:, self._asking] if share is None else grown[:, self._asking] * share[:, self._asking, None]
        return self._meant(np.add.reduceat(some[:, :, self._reading], self._key_starts, axis=2))

    def _meant(self, rows: Floats) -> Floats:
        """(head, row of a word's piece, …) → (head, word, …)."""
        if not len(self._starts):
            return rows
        made: Floats = np.add.reduceat(rows, self._starts, axis=1)
        return made * self._share.astype(made.dtype).reshape(-1, *(1,) * (rows.ndim - 2))
