"""The weights of a long text made small: each pixel the largest weight under it, never n × n at once.

>>> import numpy as np
>>> from jumok.trace import Trace
>>> one = np.ones((1, 4, 1))
>>> pooled(Trace(tokens="a b c d".split(), q=one, k=one, v=one, rule="causal"), 2)[0, 0].tolist()
[1.0, -1.0]
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..door import tiles
from ..trace import Trace

__all__ = ["NOTHING", "pooled", "starts"]

NOTHING = -1.0  # where no cell under a pixel may be read


def pooled(trace: Trace, most: int, heads: list[int] | None = None) -> npt.NDArray[np.float32]:
    """(head, row, column) at most ``most`` rows and columns; ``NOTHING`` where nothing is allowed."""
    rows, columns = starts(trace.n_queries, most), starts(trace.n_keys, most)
    n_heads = trace.n_heads if heads is None else len(heads)
    made = np.full((n_heads, len(rows), len(columns)), NOTHING, np.float32)
    row_of = np.repeat(np.arange(len(rows)), np.diff([*rows, trace.n_queries]))
    for queries in tiles(trace.n_queries, n_heads * trace.n_keys * 8):
        part = _by_columns(trace, queries, heads, columns)
        under = row_of[queries.start : queries.stop]
        first = np.flatnonzero(np.diff(under, prepend=-1))
        largest = np.maximum.reduceat(part, first, axis=1)
        made[:, under[first]] = np.maximum(made[:, under[first]], largest)  # a pixel may have rows of two tiles
    return made


def _by_columns(trace: Trace, queries: range, heads: list[int] | None, columns: list[int]) -> npt.NDArray[Any]:
    weights = trace.rows("weights", queries=queries, heads=heads)
    allowed = trace.rows("allowed", queries=queries)
    seen = np.where(allowed, weights, NOTHING).astype(np.float32)
    made: npt.NDArray[Any] = np.maximum.reduceat(seen, columns, axis=-1)
    return made


def starts(n: int, most: int) -> list[int]:
    """Where each of at most ``most`` neighbouring groups of n begins."""
    size = min(n, most)
    return [at * n // size for at in range(size)]
