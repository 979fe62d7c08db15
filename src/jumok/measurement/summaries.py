"""What every head does on the whole, from q and k in tiles: no n × n table, whatever the length.

>>> import numpy as np
>>> from jumok.trace import Trace
>>> trace = Trace(tokens=list("abc"), q=np.zeros((1, 3, 2)), k=np.zeros((1, 3, 2)), v=np.zeros((1, 3, 2)), rule="causal")
>>> table = summaries(trace)
>>> table.first.round(3).tolist(), table.previous.round(3).tolist()
([[0.611]], [[0.417]])
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..path import Steps
from ..trace import Floats, Reading, Trace, layers_of

__all__ = ["Summaries", "summaries"]

TILE_NUMBERS = 2**17  # of scores at a time: they stay in the processor's cache
UNSEEN = -1e30  # a masked score: e to that is 0, and 0 times it is 0 too


@dataclass(frozen=True, eq=False)
class Summaries:
    """One number a layer and head; means over the queries that may read something. NaN where a layer has fewer heads.

    entropy : (layer, head) of a row of weights, nats: 0 where one key has all, ln n where n keys share evenly
    first : (layer, head) weight on the first token (the attention sink of most models)
    previous : (layer, head) weight on the token before the query; the first query has none and is left out
    distance : (layer, head) Σ weight · |query − key|, tokens
    top : (layer) of (head, query, k) the keys with the largest weights, or () where they were not asked for
    top_weights : the same, their weights
    """

    entropy: Floats
    first: Floats
    previous: Floats
    distance: Floats
    top: tuple[npt.NDArray[np.int32], ...] = ()
    top_weights: tuple[Floats, ...] = ()


def summaries(record: Trace | Reading, top: int = 0) -> Summaries:
    """Entropy, weight on the first and on the previous token, and mean distance of every head, streamed in tiles.

    top : how many of each row's largest weights to keep besides: O(n · top) numbers a head

    Errors: ``InputError`` for a record without layers, or a ``top`` that is not from 0 to 64.
    """
    layers = layers_of(record)
    if not layers:
        raise InputError(en="the record has no layers to summarise.", ko="요약할 층이 없습니다.")
    if isinstance(top, bool) or not isinstance(top, int) or not 0 <= top <= 64:
        raise InputError(
            en=f"top expects 0 to 64, got {top!r}.", ko=f"top에는 0부터 64까지의 수가 필요한데 {top!r}입니다."
        )
    made = [_Layer(trace, top) for trace in layers]
    widest = max(trace.n_heads for trace in layers)
    tables = {name: np.full((len(layers), widest), np.nan) for name in ("entropy", "first", "previous", "distance")}
    for at, layer in enumerate(made):
        for name, table in tables.items():
            table[at, : len(getattr(layer, name))] = getattr(layer, name)
    return Summaries(
        **tables, top=tuple(one.top for one in made if top), top_weights=tuple(one.weights for one in made if top)
    )


class _Layer:
    """The sums of one layer, over its tiles."""

    def __init__(self, trace: Trace, top: int) -> None:
        n_heads, steps = trace.n_heads, trace.steps  # half precision widened
        self.sums = np.zeros((3, n_heads))  # entropy, first, distance
        self.before = np.zeros(n_heads)
        n_rows = n_before = 0
        n_top = min(top, trace.n_keys)
        self.top = np.zeros((n_heads, trace.n_queries if top else 0, n_top), dtype=np.int32)
        self.weights = np.zeros(self.top.shape, dtype=steps.q.dtype)
        sinks = None if trace.rule.sink is None else np.asarray(trace.rule.sink, dtype=np.float64)
        for rows, keys, allowed in _tiles(trace):
            may = allowed.any(axis=1)
            n_rows += int(may.sum())
            places = rows[:, None] - keys[None, :]
            previous = np.flatnonzero((places == 1).any(axis=1) & may)
            n_before += int(np.sum(may & (rows > 0)))
            for heads in _groups(trace):
                sink = None if sinks is None else sinks[heads]
                grown, share, entropy = _tile(steps, heads, rows, keys, allowed, sink)
                grown[:, ~may] = 0
                weights = grown * share[..., None]
                self.sums[0, heads] += np.where(may, entropy, 0).sum(axis=1)
                self.sums[1, heads] += weights[:, :, 0].sum(axis=1) if keys[0] == 0 else 0
                self.sums[2, heads] += np.einsum("hqk,qk->h", weights, np.abs(places).astype(weights.dtype))
                column = np.clip(rows[previous] - 1 - keys[0], 0, len(keys) - 1)
                self.before[heads] += weights[:, previous, column].sum(axis=1)
                if top:
                    self._keep(heads, rows, keys, weights, n_top)
        self.entropy, self.first, self.distance = self.sums / max(1, n_rows)
        self.previous = self.before / max(1, n_before)

    def _keep(self, heads: slice, rows: Any, keys: Any, weights: Floats, n_top: int) -> None:
        n = min(n_top, weights.shape[-1])
        at = np.argpartition(weights, -n, axis=-1)[..., -n:]
        largest = np.take_along_axis(weights, at, axis=-1)
        order = np.argsort(-largest, axis=-1, kind="stable")
        self.top[heads, rows[0] : rows[-1] + 1, :n] = keys[np.take_along_axis(at, order, axis=-1)]
        self.weights[heads, rows[0] : rows[-1] + 1, :n] = np.take_along_axis(largest, order, axis=-1)


def _tiles(trace: Trace) -> Iterator[tuple[Any, Any, npt.NDArray[np.bool_]]]:
    """Queries in order, with the keys that any of them may read, and which may read which."""
    every = np.arange(trace.n_keys)
    step = max(1, TILE_NUMBERS // max(1, trace.n_keys * (trace.n_heads // trace.n_kv_heads)))
    for start in range(0, trace.n_queries, step):
        rows = np.arange(start, min(start + step, trace.n_queries))
        allowed = np.broadcast_to(trace.rule.allowed.block(rows, every), (len(rows), len(every)))
        read = np.flatnonzero(allowed.any(axis=0))
        keys = every[read[0] : read[-1] + 1] if len(read) else every[:1]
        yield rows, keys, allowed[:, keys]


def _groups(trace: Trace) -> Iterator[slice]:
    """The query heads that share a key head."""
    group = trace.n_heads // trace.n_kv_heads
    return (slice(at * group, (at + 1) * group) for at in range(trace.n_kv_heads))


def _tile(
    steps: Steps, heads: slice, rows: Any, keys: Any, allowed: npt.NDArray[np.bool_], sinks: Floats | None
) -> tuple[Floats, Floats, Floats]:
    """e to the scores less their largest (head, query, key), 1 over their sum (head, query), entropy (head, query)."""
    q, k, rule = steps.q, steps.k, steps.rule
    kv = heads.start // (len(q) // len(k))
    scores = np.matmul(q[heads, rows[0] : rows[-1] + 1], k[kv, keys[0] : keys[-1] + 1].T)
    scores *= np.asarray(rule.scale_for(q.shape[-1]), dtype=scores.dtype)
    if rule.softcap is not None:
        scores = np.tanh(scores / rule.softcap) * np.asarray(rule.softcap, dtype=scores.dtype)
    if rule.bias is not None:
        bias = rule.bias.block(rows, keys)
        scores += (bias if len(bias) == 1 else bias[heads]).astype(scores.dtype)
    if not allowed.all():
        np.copyto(scores, UNSEEN, where=~allowed)
    most = scores.max(axis=-1)
    most = most if sinks is None else np.maximum(most, sinks[:, None].astype(scores.dtype))
    scores -= most[..., None]
    grown = np.exp(scores)
    total = grown.sum(axis=-1)
    share = 1 / np.maximum(
        total if sinks is None else total + np.exp(sinks[:, None] - most), np.finfo(scores.dtype).tiny
    )
    mean = np.einsum("hqk,hqk->hq", grown, scores) * share
    mass = total * share
    return grown, share.astype(scores.dtype), -(mean + mass * np.log(share))
