"""Some rows of some heads, as roles look at them: made once, shared by all of them, forgotten before the next.

A row of weights is kept as e to its scores less the largest, with the sink set apart, and one number that it is still to
be multiplied by. The entropy needs no logarithm of a weight then: Σ w ln w = share · Σ e·(score − largest) + ln share.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ...path import Steps
from ...trace import Floats, Trace
from .marked import Flags, Whole

__all__ = ["TIED", "Grown", "Kept", "Layer", "Seen", "Tile", "least", "n_most"]

Doubles = npt.NDArray[np.float64]
TIED = 1e-6  # relative: weights as near as this to the largest share its place, so that even rows favour no key
UNSEEN = -1e30  # a masked score: e to that is 0, and 0 times it is 0 too


class Grown(NamedTuple):
    """Rows of weights, not yet shared out; what is in here is overwritten.

    grown : (head, row, key) e to logs;  logs : (head, row, key) scores less the largest
    share : (head, row) what makes weights of ``grown``
    """

    grown: Floats
    logs: Floats
    share: Floats


class Layer(Protocol):
    """Where rows of weights come from. ``group`` heads share a key head, and are made together."""

    n_heads: int
    group: int

    def allowed(self, rows: Whole) -> Flags:
        """(row, key)"""
        ...

    def grown(self, heads: slice, rows: Whole, allowed: Flags) -> Grown:
        """Of some heads, whole groups of them, and of the keys that ``allowed`` has."""
        ...


class Kept:
    """A Trace, whose rows are made when they are asked for."""

    def __init__(self, trace: Trace) -> None:
        self.n_heads, self.group = trace.n_heads, trace.n_heads // trace.n_kv_heads
        self._steps = trace.steps  # half precision widened
        self._every = np.arange(trace.n_keys)

    def allowed(self, rows: Whole) -> Flags:
        """(row, key) True where the query may read the key."""
        return np.broadcast_to(self._steps.rule.allowed.block(rows, self._every), (len(rows), len(self._every)))

    def grown(self, heads: slice, rows: Whole, allowed: Flags) -> Grown:
        """Of some heads: scores by the path that all weights are made by, then e to them."""
        steps = self._steps
        some, read = slice(heads.start // self.group, heads.stop // self.group), slice(allowed.shape[1])
        q, k = steps.q[heads, rows[0] : rows[-1] + 1], steps.k[some, read]
        names = tuple(range(heads.start, heads.stop))
        scaled = Steps(q, k, k, steps.rule, queries=rows, heads=names, sure=steps.sure).scaled
        sink = steps.rule.sink
        return _grown(scaled, allowed, None if sink is None else np.asarray(sink, dtype=scaled.dtype)[heads, None])


def _grown(scaled: Floats, allowed: Flags, sinks: Floats | None) -> Grown:
    hidden = ~allowed
    columns = np.flatnonzero(hidden.any(axis=0))
    if len(columns):
        some = slice(columns[0], columns[-1] + 1)
        np.copyto(scaled[:, :, some], UNSEEN, where=hidden[:, some])
    top = scaled.max(axis=-1)
    top = top if sinks is None else np.maximum(top, sinks)
    scaled -= top[..., None]
    grown = np.exp(scaled)
    total = _summed(grown)
    total = total if sinks is None else total + np.exp(sinks - top)
    if not (readers := allowed.any(axis=1)).all():
        grown[:, ~readers] = 0
    return Grown(grown, scaled, (readers / total).astype(scaled.dtype))


def _summed(grown: Floats) -> Floats:
    """(head, row), as a product: three times as fast as a sum."""
    return grown @ np.ones(grown.shape[-1], dtype=grown.dtype)


class Seen:
    """What does not depend on a head.

    rows : (row,) which queries these are, one after another
    allowed : (row, key) who may be read;  candidates : (row, key) the same without the sink;  sunk : where the sink is
    far : (row, key) |query − key|
    """

    def __init__(self, rows: Whole, allowed: Flags, sink: Flags) -> None:
        self.rows, self.allowed, self.sunk = rows, allowed, np.flatnonzero(sink)
        self.candidates = allowed & ~sink
        self.n_candidates = self.candidates.sum(axis=1)
        own = (np.arange(len(rows)), rows)
        self.others = self.candidates.copy()
        self.others[own] = False
        self.n_others = self.others.sum(axis=1)
        self.far = np.abs(rows[:, None] - np.arange(allowed.shape[1]))


class Tile:
    """The numbers of some rows of some heads that roles are made of.

    grown : (head, row, key) with 0 for the sink;  of_sink : (head, row, sunk) what stood there
    share : (head, row) what makes weights of them;  mass : (head, row) the weight on all but the sink
    """

    def __init__(self, made: Grown, seen: Seen) -> None:
        self.seen, self.share = seen, made.share
        self.grown, self._logs = made.grown, made.logs
        self.of_sink = self.grown[:, :, seen.sunk]
        self.grown[:, :, seen.sunk] = 0
        self._apart = _summed(self.grown).astype(np.float64)
        self.mass = self._apart * self.share

    def most(self) -> tuple[tuple[Floats, Doubles], tuple[Floats, Doubles]]:
        """Of all candidates, and of those but the query itself: from where on one is the most attended, and how many are.

        (head, row) each
        """
        at = np.arange(len(self.seen.rows)), self.seen.rows
        own = self.grown[:, *at]
        self.grown[:, *at] = 0
        other = self.grown.max(axis=-1)
        n_others = n_most(self.grown, other)
        self.grown[:, *at] = own
        top = np.maximum(own, other)
        n_all = np.where(own > other, 1, n_others + ((own > 0) & (own >= least(other))))
        if (near := (own > other) & (other >= least(own))).any():
            n_all[near] = (self.grown[near] >= least(own[near])[:, None]).sum(axis=-1)
        return (
            (least(top), np.where(top > 0, n_all, self.seen.n_candidates)),
            (least(other), np.where(other > 0, n_others, self.seen.n_others)),
        )

    def far(self) -> tuple[Doubles, Doubles]:
        """(head, row) Σ weight · |query − key| over all keys, and over all but the sink."""
        grown, far, rows = self.grown, self.seen.far.astype(self.grown.dtype), self.seen.rows
        start, end = int(rows[0]), int(rows[-1]) + 1
        near = np.einsum("hqk,qk->hq", grown[:, :, start:end], far[:, start:end]).astype(np.float64)
        for keys, row in ((slice(start), 0), (slice(end, None), len(rows) - 1)):
            some = grown[:, :, keys]
            if some.shape[2]:  # as far as from the row at that end, and what that is off
                near += some @ far[row, keys] + _summed(some) * np.abs(rows - rows[row])
        apart = near * self.share
        return apart + (self.of_sink * far[:, self.seen.sunk]).sum(axis=2) * self.share, apart

    def entropy(self) -> tuple[Doubles, Doubles]:
        """(head, row) of all keys, as they are; and of all but the sink, shared out anew."""
        logs = np.vecdot(self.grown, self._logs).astype(np.float64)
        of_all = logs + (self.of_sink * self._logs[:, :, self.seen.sunk]).sum(axis=2)
        whole = self.mass + self.of_sink.sum(axis=2) * self.share
        there = self.share > 0
        of_all = -self.share * of_all - whole * np.log(self.share, out=np.zeros_like(whole), where=there)
        some = self._apart > 0
        apart = np.log(self._apart, out=np.zeros_like(whole), where=some)
        apart -= np.divide(logs, self._apart, out=np.zeros_like(whole), where=some)
        return of_all, apart


def n_most(grown: Floats, most: Floats) -> Doubles:
    """(head, row) how many keys are as good as the largest; what is 0 where all are 0 is not counted.

    Almost always it is one a row: that is seen from how many there are in all.
    """
    some = most > 0
    tied = grown >= np.where(some, least(most), np.inf)[..., None]
    made: Doubles = (some if np.count_nonzero(tied) == np.count_nonzero(some) else tied.sum(axis=-1)).astype(np.float64)
    return made


def least(most: Floats) -> Floats:
    """From where on a weight is as good as the largest."""
    made: Floats = most * np.asarray(1 - TIED, dtype=most.dtype)
    return made
