"""Dense masks and biases, as a program supplies them, recognised as rules: causal, window, padding, document, ALiBi …"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...path import allowed as rules
from ...path import positions
from ...path.allowed import Allowed
from ...trace import Floats

__all__ = ["Recognised", "recognise_allowed", "recognise_bias"]

Table = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Recognised:
    """An ``Allowed`` or a ``PositionBias`` (None for no bias), and its bytes; ``kind`` is told in the record's source."""

    rule: Any
    kind: str
    held_bytes: int = 0


def recognise_allowed(table: Table | None) -> Recognised:
    """The rule of a table (query, key) of what may be read; None means everything."""
    if table is None or table.all():
        return Recognised(rules.everything(), "everything")
    n, m = table.shape
    later = m - n  # keys that stand before the first query, where there are more keys
    for offset in dict.fromkeys((max(0, later), 0)):
        lower = np.tril(np.ones((n, m), dtype=bool), offset)
        if np.array_equal(table, lower):
            return Recognised(rules.causal(offset), "causal")
        found = _window(table, offset)
        if found is not None:
            return Recognised(found, "window")
        for causal in (False, True):
            ids = _documents(table, offset, causal)
            if ids is not None:
                rule = rules.document(ids, offset)
                return Recognised(rule & rules.causal(offset) if causal else rule, "document", ids.nbytes)
    packed = np.ascontiguousarray(table)
    return Recognised(rules.table(packed), "table", packed.nbytes)


def _window(table: Table, offset: int) -> Allowed | None:
    """A band around the diagonal."""
    n, m = table.shape
    ahead = np.subtract.outer(-np.arange(n) - offset, -np.arange(m))  # key − query
    there = ahead[table]
    if not there.size:
        return None
    back, front = int(-there.min()), int(there.max())
    if back < 0 or front < 0 or not np.array_equal(table, (ahead >= -back) & (ahead <= front)):
        return None
    return rules.window(back, front, offset)


def _documents(table: Table, offset: int, causal: bool) -> npt.NDArray[np.int64] | None:
    """(key,) which document each key is of, where queries read their own document alone."""
    n, m = table.shape
    if n + offset != m or not table[np.arange(n), np.arange(n) + offset].all():
        return None
    first = table.argmax(axis=1)  # the first key that each query reads
    ids = np.concatenate([np.arange(offset), first]).astype(np.int64)
    ids[:offset] = first[0] if n else 0
    same = ids[offset:, None] == ids[None, :]
    if causal:
        same &= np.tril(np.ones((n, m), dtype=bool), offset)
    return np.unique(ids, return_inverse=True)[1].astype(np.int64) if np.array_equal(table, same) else None


def recognise_bias(bias: Floats, table: Table | None, offset: int) -> Recognised:
    """The rule of numbers (head or 1, query, key) that are added to scores, looked at only where a key may be read."""
    seen = np.ones(bias.shape[1:], dtype=bool) if table is None else table
    if not np.any(bias[:, seen]):
        return Recognised(None, "none")
    n, m = seen.shape
    ahead = np.arange(m)[None, :] - np.arange(n)[:, None] - offset
    reach = int(max(-ahead.min(), ahead.max()))
    vector = np.zeros((len(bias), 2 * reach + 1), dtype=bias.dtype)
    where = ahead[seen] + reach
    vector[:, where] = bias[:, seen]
    if np.array_equal(vector[:, where], bias[:, seen]):
        slopes = _slopes(vector, where, reach)
        if slopes is not None:
            return Recognised(positions.alibi(slopes, offset), "alibi", slopes.nbytes)
        return Recognised(positions.relative(vector, offset), "relative", vector.nbytes)
    by_key = _by_key(bias, seen, offset)
    if by_key is not None:
        return Recognised(positions.alibi(by_key, offset), "alibi, up to a constant a row", by_key.nbytes)
    kept = np.where(seen, bias, 0)
    return Recognised(positions.table(kept), "table", kept.nbytes)


def _slopes(vector: Floats, where: npt.NDArray[np.int64], reach: int) -> Floats | None:
    """(head,) where the bias falls by the same number with each token of distance."""
    offsets = np.unique(where)
    far = np.abs(offsets - reach)
    if far.max() == 0:
        return None
    at = int(far.argmax())
    slopes = -vector[:, offsets[at]] / far[at]
    close = np.abs(vector[:, offsets] + slopes[:, None] * far) <= 1e-6 * np.abs(slopes[:, None] * far[at])
    return np.asarray(slopes) if close.all() and np.all(slopes >= 0) else None


def _by_key(bias: Floats, seen: Table, offset: int) -> Floats | None:
    """(head,) slopes of a bias that grows with the place of the key alone and is causal: ALiBi, up to a constant a row."""
    n, m = seen.shape
    if np.any(seen & (np.arange(m)[None, :] > np.arange(n)[:, None] + offset)):
        return None
    last = bias[:, -1]
    if not np.array_equal(np.where(seen, bias, 0), np.where(seen, last[:, None, :], 0)) or m < 2:
        return None
    slopes = (last[:, -1] - last[:, 0]) / (m - 1)
    line = last[:, :1] + slopes[:, None] * np.arange(m)
    return np.asarray(slopes) if np.all(np.abs(last - line) <= 1e-5 * np.abs(line).max()) else None
