"""What the rows of weights of one layer come to, without the n × n table: tile after tile, O(tile · n) memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..path import Steps
from ..path.products import fits
from ..path.scores import dot, scaled

__all__ = ["Summary", "summary"]

NOTHING = -1e30  # the logarithm of an empty sum, as the page has it: JSON and float32 know no better −∞
TILE_NUMBERS = 2**18  # a tile of one head that stays in the cache
CHECKED_ROWS = 2048  # beyond as many, every second, third … row is compared

Floats = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class Summary:
    """What is said of a layer before it is looked at.

    lse : (head, query) logarithm of the sum of exp of what is allowed, and the sink; −1e30 where nothing is
    entropy : (head,) mean over rows, in nats;  first, previous : (head,) mean weight on key 0, on the key before
    thumbnail : (head, size, size) largest weight under each pixel, −1 where nothing is allowed
    error : (head,) largest difference from the record's own weights;  error_rows : in how many rows it was looked for
    rows : how many rows were looked at
    """

    lse: Floats
    entropy: Floats
    first: Floats
    previous: Floats
    thumbnail: Floats
    error: Floats
    error_rows: int
    rows: int


@dataclass(frozen=True, eq=False)
class _Tile:
    """Some queries, the keys that any of them may read, and which of these each may read.

    pixels, starts : the thumbnail's columns over these keys, and where each begins
    """

    queries: npt.NDArray[np.int64]
    keys: slice
    allowed: npt.NDArray[np.bool_]
    pixels: slice
    starts: npt.NDArray[np.int64]

    def every(self, step: int) -> _Tile:
        return replace(self, queries=self.queries[::step], allowed=self.allowed[::step])


@dataclass(frozen=True, eq=False)
class _Rows:
    """A tile's rows in one head, before the division that makes them weights.

    gaps : (query, key) how far each scaled score stands under the row's largest;  powers : their exp, 0 where forbidden
    top : (query,) the largest;  total : (query,) what the powers are divided by, never 0;  reads : (query,) any allowed
    """

    gaps: Floats
    powers: Floats
    top: Floats
    total: Floats
    reads: npt.NDArray[np.bool_]


def summary(steps: Steps, size: int, own: Steps | None = None, every: int = 1) -> Summary:
    """A layer in sum.

    own : the record's own numbers, where ``steps`` are rounded ones
    every : 1 for all rows, 8 for each eighth; at least one under each pixel. Of rows that are left out lse says nothing
    """
    n_heads, n_queries, _ = steps.q.shape
    made = _Sums(n_heads, n_queries, size)
    step = every * -(-n_queries // every // CHECKED_ROWS)  # of rows that are compared, a multiple of ``every``
    for tile in _tiles(steps, size, every, step):
        for head in range(n_heads):
            rows = _rows(steps, tile, head)
            made.add(tile, head, rows)
            if own is not None:
                made.compare(head, rows, _rows(own, tile.every(step // every), head), step // every)
    n_compared = 0 if own is None else len(range(0, n_queries, step))
    return made.summary(n_compared, len(range(0, n_queries, every)))


class _Sums:
    """What is added up while the tiles go by."""

    def __init__(self, n_heads: int, n_queries: int, size: int) -> None:
        self.lse = np.full((n_heads, n_queries), NOTHING, np.float32)
        self.by_row = np.zeros((3, n_heads, n_queries))  # entropy, first, previous
        self.reads = np.zeros(n_queries, bool)
        self.columns = np.full((n_heads, n_queries, size), -1, np.float32)  # each row pooled to its pixels
        self.error = np.zeros(n_heads)

    def add(self, tile: _Tile, head: int, rows: _Rows) -> None:
        at, powers, total = tile.queries, rows.powers, rows.total
        self.reads[at] = rows.reads
        log_total = np.log(total)
        self.lse[head, at] = np.where(rows.reads, rows.top + log_total, NOTHING)
        spread = np.einsum("qk,qk->q", powers, rows.gaps) / total
        self.by_row[0, head, at] = log_total * powers.sum(axis=1) / total - spread
        self.by_row[1, head, at] = powers[:, 0] / total if tile.keys.start == 0 else 0
        before = at - 1 - tile.keys.start
        inside = np.flatnonzero((before >= 0) & (before < powers.shape[1]))
        self.by_row[2, head, at[inside]] = powers[inside, before[inside]] / total[inside]
        pooled = np.maximum.reduceat(powers, tile.starts, axis=1) / total[:, None]
        anything = np.logical_or.reduceat(tile.allowed, tile.starts, axis=1)
        self.columns[head, at, tile.pixels] = np.where(anything, pooled, -1)

    def compare(self, head: int, rows: _Rows, own: _Rows, step: int) -> None:
        rounded = rows.powers[::step] / rows.total[::step, None]
        rounded -= own.powers / own.total[:, None]
        self.error[head] = max(self.error[head], rounded.max(), -rounded.min())

    def summary(self, error_rows: int, rows: int) -> Summary:
        n_queries, size = self.columns.shape[1:]
        thumbnail = np.maximum.reduceat(self.columns, _borders(n_queries, size), axis=1)
        reads = self.reads
        entropy, first = (rows[:, reads].mean(axis=1) if reads.any() else rows[:, 0] for rows in self.by_row[:2])
        has_before = reads & (np.arange(n_queries) > 0)
        previous = self.by_row[2][:, has_before].mean(axis=1) if has_before.any() else np.zeros(len(self.error))
        return Summary(self.lse, entropy, first, previous, thumbnail, self.error, error_rows, rows)


# one tile -----------------------------------------------------------------------------------------


def _tiles(steps: Steps, size: int, every: int, step: int) -> Iterator[_Tile]:
    """All queries (or every second, third …), some at a time; a tile begins at a multiple of ``step``."""
    n_queries, n_keys = steps.q.shape[1], steps.k.shape[1]
    begins, keys = _borders(n_keys, size), np.arange(n_keys)
    n_rows = max(1, TILE_NUMBERS // n_keys * every // step) * step
    for start in range(0, n_queries, n_rows):
        queries = np.arange(start, min(start + n_rows, n_queries), every)
        allowed = steps.rule.allowed.block(queries, keys)
        read = np.flatnonzero(allowed.any(axis=0))
        low, high = (int(read[0]), int(read[-1]) + 1) if len(read) else (0, 1)
        first, last = 0, size
        if n_keys >= size:  # whole pixels; a smaller table is drawn larger, and taken whole
            first = int(np.searchsorted(begins, low, "right")) - 1
            last = int(np.searchsorted(begins, high, "left"))
        low, high = int(begins[first]), int(begins[last]) if last < size else n_keys
        starts = begins[first:last] - low
        yield _Tile(queries, slice(low, high), allowed[:, low:high], slice(first, last), starts)


def _rows(steps: Steps, tile: _Tile, head: int) -> _Rows:
    sink = None if steps.rule.sink is None else steps.rule.sink[head]
    gaps = _scaled(steps, tile, head)
    np.copyto(gaps, -np.finfo(gaps.dtype).max / 2, where=~tile.allowed)  # below every score, as in path/weights.py
    top = gaps.max(axis=1)
    if sink is not None:
        top = np.maximum(top, sink).astype(gaps.dtype)
    reads: npt.NDArray[np.bool_] = np.any(tile.allowed, axis=1)
    top = np.where(reads, top, 0).astype(gaps.dtype)
    gaps -= top[:, None]
    powers = np.exp(gaps)
    total = powers.sum(axis=1) + (0 if sink is None else np.exp(sink - top))
    return _Rows(gaps, powers, top, np.where(reads, total, 1), reads)


def _scaled(steps: Steps, tile: _Tile, head: int) -> Floats:
    rule, shared = steps.rule, head // (steps.q.shape[0] // steps.k.shape[0])
    q, k = steps.q[head, tile.queries], steps.k[shared, tile.keys]
    scores = (q @ k.T)[None] if steps.q.dtype == steps.k.dtype and fits(q, k) else dot(q[None], k[None])
    bias = None
    if rule.bias is not None:
        block = rule.bias.block(tile.queries, np.arange(tile.keys.start, tile.keys.stop))
        bias = block[head : head + 1] if block.shape[0] > 1 else block
    made: Floats = scaled(scores, rule.scale_for(q.shape[-1]), rule.softcap, bias)[0]
    return made


def _borders(n: int, size: int) -> npt.NDArray[np.int64]:
    """Where each of ``size`` pixels begins among n cells; where there are fewer cells, several show the same one."""
    return np.arange(size) * n // size
