"""What flash and linear attention do for one query, step by step, as plain numbers: the record behind the explanations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..path import axes as ax
from ..path.checked import count
from ..path.described import as_lists
from ..path.parts import counted
from ..path.products import known
from .asked import Asked
from .flash import Folded, farthest, finished, folded, nothing_yet
from .linear import features_of, recurrence

__all__ = ["FlashSteps", "Fold", "LinearStep", "few_tiles", "flash_steps", "linear_steps"]

MOST_TILES = 8  # that a reader steps through where nobody says how large a tile is


@dataclass(frozen=True)
class Fold:
    """One tile of keys, folded into what is known of the row.

    keys : the positions of the tile;  read : those of them that the query may read
    scores : the scaled score of each key that is read
    top_before, top : the largest score before and after the tile (None: none yet)
    rescale : exp(top_before − top), by which what was summed before is multiplied; 0 where there was nothing
    total_before, added, total : Σ exp(score − top) before, of this tile, and after
    mixed : Σ exp(score − top) · value after the tile, not yet divided by the total
    """

    keys: range
    read: tuple[int, ...]
    scores: tuple[float, ...]
    top_before: float | None
    top: float | None
    rescale: float
    total_before: float
    added: float
    total: float
    mixed: tuple[float, ...]


@dataclass(frozen=True)
class FlashSteps:
    """All tiles of one row. ``mixed`` is the result, ``lse`` the log-sum-exp (None where nothing is read)."""

    query: int
    head: int
    sink: float | None
    folds: tuple[Fold, ...]
    mixed: tuple[float, ...]
    lse: float | None


def flash_steps(
    q: ax.Q, k: ax.K, v: ax.V, rule: Any = None, *, query: int = 0, head: int = 0, tile: int = 2
) -> FlashSteps:
    """How flash attention comes to one row of one head, tile by tile; q, k, v and rule as for ``flash``, without a batch.

    query, head : whose row, positions;  tile : keys of a tile

    >>> import numpy as np
    >>> steps = flash_steps(np.array([[[1.0]]]), np.array([[[0.0], [2.0]]]), np.array([[[4.0], [8.0]]]), tile=1)
    >>> [(fold.top, round(fold.rescale, 3), round(fold.total, 3)) for fold in steps.folds]
    [(0.0, 0.0, 1.0), (2.0, 0.135, 1.135)]

    Errors: ``InputError`` for a batch axis and positions that are not there.
    """
    asked = _one_sequence(q, k, v, rule).wide
    query, head = _position("query", query, asked.n_queries), _position("head", head, asked.q.shape[-3])
    mine, folds = range(query, query + 1), []
    state = nothing_yet(asked, mine)
    sink = _top(state, head)
    for keys in counted(asked.n_keys, count("tile", tile)):
        scaled, allowed = asked.tile(mine, keys)
        after = folded(state, scaled, allowed, asked.values(keys))
        folds.append(_fold(keys, scaled, allowed, state, after, head))
        state = after
    mixed, lse = finished(state)
    whole = None if _top(state, head) is None else _number(lse[head, 0])
    return FlashSteps(query, head, sink, tuple(folds), tuple(as_lists(mixed[head, 0, :])), whole)


def few_tiles(n_keys: int) -> int:
    """A tile's size, a power of two from 2 on, of which eight are enough for these keys.

    >>> few_tiles(5), few_tiles(16), few_tiles(17), few_tiles(1000)
    (2, 2, 4, 128)
    """
    return max(2, 1 << (-(-n_keys // MOST_TILES) - 1).bit_length())


@dataclass(frozen=True)
class LinearStep:
    """One query of the recurrent form.

    query : its position;  features : φ(q) of the query
    keys : Σ φ(k) of all that was read;  values : Σ φ(k) ⊗ v, (feature, d_value)
    total : φ(q) · Σ φ(k);  mixed : φ(q) Σ φ(k) ⊗ v, divided by the total
    """

    query: int
    features: tuple[float, ...]
    keys: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]
    total: float
    mixed: tuple[float, ...]


def linear_steps(
    q: ax.Q, k: ax.K, v: ax.V, rule: Any = "causal",
    *, head: int = 0, features: str = "elu", n_features: int = 8, seed: int = 0,
) -> tuple[LinearStep, ...]:  # fmt: skip
    """What the memory of linear attention holds at each query, and what the query reads from it; without a batch.

    >>> import numpy as np
    >>> one = np.array([[[0.0], [1.0]]])
    >>> [(step.keys, step.total, step.mixed) for step in linear_steps(one, one, one)]
    [((1.0,), 1.0, (0.0,)), ((3.0,), 6.0, (0.6666666666666666,))]

    Errors: as ``linear``; ``InputError`` for a batch axis and a head that is not there.
    """
    asked = _one_sequence(q, k, v, rule)
    head = _position("head", head, asked.q.shape[-3])
    q, k, v, offset = features_of(asked, features, n_features, seed)
    kv_head, of_group = divmod(head, q.shape[-3])
    steps = []
    for at, memory in recurrence(q, k, v, offset):
        mine, keys = q[kv_head, of_group, at, :], memory.keys[kv_head, :, 0]
        values, row = memory.values[kv_head, ...], mine[None, :]
        total = _number((row @ keys[:, None])[0, 0])
        mixed = [number / total if total else 0.0 for number in as_lists((row @ values)[0, :])]
        table = tuple(tuple(line) for line in as_lists(values))
        steps.append(LinearStep(at, tuple(as_lists(mine)), tuple(as_lists(keys)), table, total, tuple(mixed)))
    return tuple(steps)


def _fold(keys: range, scaled: ax.Scaled, allowed: ax.Allowed, before: Folded, after: Folded, head: int) -> Fold:
    scores, may = as_lists(scaled[head, 0, :]), as_lists(allowed[0, :])
    read = [at for at in range(len(keys)) if may[at]]
    top_before, top = _top(before, head), _top(after, head)
    rescale = 0.0 if top_before is None or top is None else math.exp(top_before - top)
    total_before, total = (_total(state, head) for state in (before, after))
    added = (
        sum(math.exp(scores[at] - top) for at in read) if top is not None else 0.0
    )  # as a difference it would lose digits
    return Fold(
        keys, tuple(keys[at] for at in read), tuple(scores[at] for at in read),
        top_before, top, rescale, total_before, added, total, _mixed(after, head),
    )  # fmt: skip


def _top(state: Folded, head: int) -> float | None:
    """The largest score of one head so far; None before the first."""
    top = _number(state.top[head, 0, 0])
    return None if top == -farthest(state.top) else top


def _total(state: Folded, head: int) -> float:
    return 0.0 if _top(state, head) is None else _number(state.total[head, 0, 0])


def _mixed(state: Folded, head: int) -> tuple[float, ...]:
    row = as_lists(state.mixed[head, 0, :])
    return tuple(0.0 for _ in row) if _top(state, head) is None else tuple(row)


def _number(value: ax.Array) -> float:
    return float(known(value) or 0.0)


def _one_sequence(q: ax.Q, k: ax.K, v: ax.V, rule: Any) -> Asked:
    asked = Asked.of(q, k, v, rule)
    if asked.q.ndim != 3 or asked.by_batch:
        raise InputError(
            en=f"steps are told of one sequence, q (head, query, d_head) without a batch axis, got shape {tuple(asked.q.shape)}.",
            ko=f"단계는 배치 축이 없는 q (헤드, 쿼리, d_head) 하나에 대해 보여 주는데 모양이 {tuple(asked.q.shape)}입니다.",
        )
    return asked


def _position(name: str, value: Any, n: int) -> int:
    position = count(name, value, 0)
    if position >= n:
        raise InputError(
            en=f"{name} expects a position from 0 to {n - 1}, got {position}.",
            ko=f"{name}에는 0부터 {n - 1}까지의 위치가 필요한데 {position}이(가) 왔습니다.",
        )
    return position
