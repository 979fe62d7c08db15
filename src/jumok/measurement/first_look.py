"""A first look at a model's heads: where their weight goes by place, and the strongest arrows between words.

>>> import jumok
>>> trace = jumok.attend(q=[[[9.0], [9.0], [9.0]]], k=[[[0.0], [1.0], [0.0]]], v=[[[1.0]] * 3])
>>> arrows(trace, n=1)[0].key, round(arrows(trace, n=1)[0].weight, 3)
(1, 1.0)
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..door import tiles
from ..layer_numbers import layer_numbers
from ..trace import Floats, Reading, Trace, layers_of

__all__ = ["Arrow", "HeadLook", "PLACES", "arrows", "head_looks", "some_queries"]

MOST_WEIGHTS = 200_000_000  # all rows are looked at up to here: some seconds

PLACES = {"itself": 0, "previous": -1, "next": 1}


@dataclass(frozen=True)
class HeadLook:
    """Where the weight of one head goes by place, means over the tokens.

    layer : its number in the program (``layer_numbers``)
    first : on the first token, which in many models takes what a head has no use for (an attention sink)
    itself, previous, next : of the weight that is on the other tokens, the share on the token itself and its neighbours
    """

    layer: int
    head: int
    first: float
    itself: float
    previous: float
    next: float


@dataclass(frozen=True)
class Arrow:
    """One weight of one head: how much ``query`` attends to ``key``; the layer by its number in the program."""

    layer: int
    head: int
    query: int
    key: int
    weight: float


def some_queries(record: Trace | Reading, most: int = MOST_WEIGHTS) -> list[int] | None:
    """Queries spread evenly over a text whose rows have, over all heads, at most so many weights; None where all do."""
    layers = layers_of(record)
    row = sum(layer.n_heads * layer.n_keys for layer in layers)
    n_queries = min((layer.n_queries for layer in layers), default=0)
    n = max(2, most // max(1, row))
    return None if n >= n_queries else sorted({int(at) for at in np.linspace(0, n_queries - 1, n)})


def head_looks(record: Trace | Reading, queries: Sequence[int] | None = None) -> tuple[HeadLook, ...]:
    """One ``HeadLook`` a head, layer by layer; no n × n table is made.

    queries : the rows to look at; None for all. Cross-attention has no first token nor neighbours, and is left out.
    """
    found: list[HeadLook] = []
    for at, layer in zip(layer_numbers(record), layers_of(record), strict=True):
        if layer.key_tokens is not None or layer.n_queries != layer.n_keys:
            continue
        first = np.zeros(layer.n_heads)
        places = np.zeros((len(PLACES), layer.n_heads))
        others = np.zeros(layer.n_heads)
        looked = range(layer.n_queries) if queries is None else queries
        for some in tiles(len(looked), layer.n_heads * layer.n_keys * 8):
            rows = [looked[place] for place in some]
            weights = layer.rows("weights", queries=rows)
            first += weights[:, :, 0].sum(axis=1)
            others += weights[:, :, 1:].sum(axis=(1, 2), dtype=np.float64)
            places += _by_place(weights, np.array(rows))
        shares = np.divide(places, others, out=np.zeros_like(places), where=others > 0)
        found += [
            HeadLook(at, head, float(first[head] / len(looked)), *(float(share) for share in shares[:, head]))
            for head in range(layer.n_heads)
        ]
    return tuple(found)


def _by_place(weights: Floats, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """(place, head) the weight of some queries on themselves and their neighbours, but not on the first token."""
    sums = np.zeros((len(PLACES), len(weights)))
    for place, step in enumerate(PLACES.values()):
        keys = rows + step
        there = (keys >= 1) & (keys < weights.shape[2])
        sums[place] = weights[:, np.flatnonzero(there), keys[there]].sum(axis=1)
    return sums


def arrows(
    record: Trace | Reading, n: int = 8, layer: int | None = None, head: int | None = None, apart: Collection[int] = (),
    near: bool = True, queries: Sequence[int] | None = None,
) -> Sequence[Arrow]:  # fmt: skip
    """The n largest weights, the largest first.

    layer, head : only of these;  apart : positions that are not counted, neither as query nor as key
    near : False to leave out a token's weight on itself and on its neighbours;  queries : whose rows; None for all
    """
    found: list[Arrow] = []
    for at, trace in zip(layer_numbers(record), layers_of(record), strict=True):
        if layer is not None and at != layer:
            continue
        heads = list(range(trace.n_heads)) if head is None else [head]
        out = [position for position in apart if position < trace.n_keys] if trace.key_tokens is None else []
        looked = range(trace.n_queries) if queries is None else queries
        for some in tiles(len(looked), len(heads) * trace.n_keys * 8):
            rows = [looked[place] for place in some]
            weights = trace.rows("weights", queries=rows, heads=heads)
            weights[:, :, out] = 0
            weights[:, [place for place, row in enumerate(rows) if row in apart]] = 0
            if not near and trace.key_tokens is None:
                keys = np.arange(trace.n_keys)
                weights[:, np.abs(keys[None, :] - np.array(rows)[:, None]) <= 1] = 0
            least = found[-1].weight if len(found) == n else 0.0
            found += _largest(weights, at, heads, rows, n, least)
            found = sorted(found, key=lambda arrow: -arrow.weight)[:n]
    return tuple(found)


def _largest(weights: Floats, layer: int, heads: list[int], rows: list[int], n: int, least: float) -> list[Arrow]:
    """The n largest of some queries that are larger than the least that would be kept."""
    flat = weights.reshape(-1)
    some = np.flatnonzero(flat > least)
    some = some[np.argpartition(-flat[some], n)[:n]] if len(some) > n else some
    places = zip(*np.unravel_index(some, weights.shape), some, strict=True)
    return [
        Arrow(layer, heads[int(head)], rows[int(query)], int(key), float(flat[at])) for head, query, key, at in places
    ]
