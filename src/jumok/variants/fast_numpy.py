"""The fast way on NumPy: flash attention by blocked matrix products, in place, several tiles of rows at a time.

What remains is two products and one exp a score. The maximum of a row, which the online softmax takes off every score (Milakov
and Gimelshein 2018; Dao et al. 2022, algorithm 1), is there against overflow only: any other number gives the same weights. So
0 is taken off until a row's sum grows too large or too small for that; only then is its maximum looked for.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..memory import n_processors
from ..path.parts import counted
from ..path.products import ceiling
from .asked import Asked
from .flash import farthest
from .spans import band, stretch

__all__ = ["flash", "n_threads", "one_thread_a_product"]

WIDTH = 2  # keys for each query of a tile
FILLING = (64, 384, 512)  # rows, depth, columns of a product that fills the buffer OpenBLAS packs in, see _filled
WORTH_FILLING = 2**20  # scores: below that it would not pay
LEAST, MOST = 2.0**-40, 2.0**40  # of a row's Σ exp: weights far smaller than the sum still have all their digits

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.floating]


def n_threads(asked: Asked) -> int:
    """How many tiles are worked on at once: one for each processor where NumPy's own threads can be held back, else one."""
    if _openblas() is None:
        return 1
    return min(n_processors(), max(1, asked.n_queries * asked.n_keys // 2**16))


@cache
def _openblas() -> tuple[Any, Any] | None:
    """(threads in use, set them) of the OpenBLAS that NumPy's wheels bring; None where NumPy has another."""
    home = Path(np.__file__).parent
    for folder in (home.parent / "numpy.libs", home / ".dylibs"):
        for file in folder.glob("*openblas*"):
            library = ctypes.CDLL(str(file))  # loaded already: the same one
            for name in (
                "scipy_openblas_{}_num_threads64_",
                "scipy_openblas_{}_num_threads",
                "openblas_{}_num_threads",
            ):
                if hasattr(library, name.format("set")):
                    return getattr(library, name.format("get")), getattr(library, name.format("set"))
    return None


@contextmanager
def one_thread_a_product() -> Iterator[None]:
    """While tiles are worked on side by side, each product takes one thread: threads of threads wait for one another."""
    found = _openblas()
    if found is None:
        yield
        return
    get, put = found
    before = get()
    put(1)
    try:
        yield
    finally:
        put(before)


def flash(asked: Asked, tile: int) -> tuple[Floats, Floats]:
    """(mixed, lse). One task is one head and one tile of its queries; it writes its own rows of the result."""
    q, k, v = (a.reshape(-1, *a.shape[-2:]) for a in (asked.q, asked.k, asked.v))
    mixed, lse = np.empty((*q.shape[:2], v.shape[-1]), v.dtype), np.empty(q.shape[:2], q.dtype)
    group, n_heads = len(q) // len(k), asked.q.shape[-3]
    scale, most = q.dtype.type(asked.rule.scale_for(q.shape[-1])), _most(asked)
    known: dict[tuple[int, ...], _Hidden | None] = {}
    late_first = [*counted(asked.n_queries, tile)][::-1]  # which read most under a causal mask: at the end nobody waits
    tasks = iter([*product(late_first, range(len(q)))])

    def work(_: int) -> None:
        scratch = np.empty(min(tile, asked.n_queries) * min(WIDTH * tile, asked.n_keys), q.dtype)
        with np.errstate(over="ignore", invalid="ignore"):  # an overflow is seen, and its tile folded in again
            for queries, head in tasks:  # each thread takes the next that nobody has taken
                part = slice(queries.start, queries.stop)
                sink = None if asked.sink is None else asked.sink[head % n_heads]
                state = _Rows(q[head, part] * scale, v.shape[-1], most, sink)
                for keys in _tiles(asked, queries, tile):
                    hidden = _hidden(asked, queries, keys, known)
                    if hidden is None or not hidden.is_all:
                        state.fold(k[head // group, keys], v[head // group, keys], hidden, scratch)
                lse[head, part] = state.finished(mixed[head, part])

    n = n_threads(asked)
    with one_thread_a_product(), ThreadPoolExecutor(n) as pool:
        if asked.n_queries * asked.n_keys >= WORTH_FILLING:
            _filled(n)
        try:
            list(pool.map(work, range(n)))
        finally:
            list(tasks)  # after Ctrl-C: nobody takes another
    return mixed.reshape(*asked.q.shape[:-1], mixed.shape[-1]), lse.reshape(asked.q.shape[:-1])


@cache
def _filled(n: int) -> None:
    """Fill the buffers of n products that are under way at the same time, once a process, in a millisecond or two.

    Until a product of some size has written there, small ones take more than twice as long (OpenBLAS on Zen, measured; it may
    be that what it fetches ahead lies on pages that nobody has touched).
    """
    together = threading.Barrier(n)
    rows, depth, columns = FILLING
    a, b = np.ones((rows, depth), np.float32), np.ones((depth, columns), np.float32)

    def fill() -> None:
        together.wait()  # each takes a buffer of its own only while the others have theirs
        for _ in range(2):
            a @ b

    threads = [threading.Thread(target=fill) for _ in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class _Hidden(NamedTuple):
    """What may not be read of a tile. columns : in which anything is hidden;  cells : (query, column) of these"""

    columns: slice
    cells: Bools
    is_all: bool


class _Rows:
    """Some queries of one head, and what is known of them after some keys, as ``flash.Folded`` is.

    top : (query, 1) taken off every score: 0, or the sink, or the largest score that was there when 0 would not do
    is_taken_off : False while top is 0
    total : (query,) Σ exp(score − top) so far
    mixed : (query, d_value) Σ exp(score − top) · value so far
    most : a larger total might not fit
    """

    def __init__(self, q: Floats, width: int, most: float, sink: float | None) -> None:
        self.q, self.most = q, most
        self.top = np.full((len(q), 1), 0 if sink is None else sink, q.dtype)
        self.is_taken_off = bool(sink)
        self.total = np.full(len(q), 0 if sink is None else 1, q.dtype)
        self.mixed = np.zeros((len(q), width), q.dtype)

    def fold(self, k: Floats, v: Floats, hidden: _Hidden | None, scratch: Floats) -> None:
        """The same after some keys more. hidden : None where every query may read every one of them"""
        scores = scratch[: len(self.q) * len(k)].reshape(len(self.q), len(k))
        exp = self._exp(k, hidden, scores)
        total = self.total + _row_sums(exp)
        if not LEAST <= total.min() <= total.max() <= self.most:
            self._raise_top(self._scores(k, hidden, scores).max(-1, keepdims=True))
            exp = self._exp(k, hidden, scores)
            total = self.total + _row_sums(exp)
        self.total = total
        self.mixed += exp @ v

    def _exp(self, k: Floats, hidden: _Hidden | None, scores: Floats) -> Floats:
        self._scores(k, hidden, scores)
        if self.is_taken_off:
            scores -= self.top
        return np.exp(scores, out=scores)

    def _scores(self, k: Floats, hidden: _Hidden | None, scores: Floats) -> Floats:
        np.matmul(self.q, k.T, out=scores)
        if hidden is not None:
            np.copyto(scores[:, hidden.columns], -farthest(scores), where=hidden.cells)
        return scores

    def _raise_top(self, highest: Floats) -> None:
        """To the largest score so far; a row that has read nothing yet may also go down to it, or wait."""
        first = np.where(highest == -farthest(highest), self.top, highest)
        top = np.where(self.total[:, None] == 0, first, np.maximum(self.top, highest))
        rescale = np.exp(np.minimum(self.top - top, 0))
        self.total *= rescale[:, 0]
        self.mixed *= rescale
        self.top, self.is_taken_off = top, True

    def finished(self, mixed: Floats) -> Floats:
        """lse after the last key, and what was mixed written into ``mixed``; a row that read nothing is all 0."""
        nothing = self.total == 0
        np.divide(self.mixed, np.where(nothing, np.inf, self.total)[:, None], out=mixed)
        return np.where(nothing, -np.inf, self.top[:, 0] + np.log(np.where(nothing, 1, self.total)))


def _row_sums(exp: Floats) -> Floats:
    total: Floats = exp @ np.ones(exp.shape[1], exp.dtype)  # a product: less than half the time of sum()
    return total


def _most(asked: Asked) -> float:
    """No total · value is too large under this. With the maximum taken off, a total is n at most, and n · value fits."""
    size = asked.sizes["v"]
    return min(MOST, ceiling(asked.v) / size) if size else MOST


def _tiles(asked: Asked, queries: range, tile: int) -> Iterator[slice]:
    """The keys that some neighbouring queries may read, as far as the rule itself tells, in tiles."""
    reach = stretch(asked.rule.allowed, queries[0], queries[-1], asked.n_keys)
    return (slice(reach.start + keys.start, reach.start + keys.stop) for keys in counted(len(reach), WIDTH * tile))


def _hidden(asked: Asked, queries: range, keys: slice, known: dict[tuple[int, ...], _Hidden | None]) -> _Hidden | None:
    """What the rule hides of a tile; None where all may read all.

    known : of a rule that is a band, the tiles that were looked at: others as far from the diagonal are the same
    """
    told = band(asked.rule.allowed)
    if told is not None and told[0] <= keys.start - queries[-1] and keys.stop - 1 - queries[0] <= told[1]:
        return None
    place = (keys.start - queries.start, len(queries), keys.stop - keys.start)
    if told is not None and place in known:
        return known[place]
    cells = ~asked.rule.allowed.block(asked.positions(queries), asked.positions(range(keys.start, keys.stop)))
    columns = np.flatnonzero(cells.any(axis=0))
    part = slice(columns[0], columns[-1] + 1) if len(columns) else slice(0, 0)
    made = _Hidden(part, cells[:, part].copy(), bool(cells.all())) if len(columns) else None
    if told is not None:
        known[place] = made
    return made
