"""Flash attention: the table is never made. Tiles of it are folded, one after another, into what is known of a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..path import axes as ax
from ..path.checked import count, flag
from ..path.library import array_namespace
from ..path.output import mixed as weighted_sum
from ..path.parts import Places, counted
from .asked import Asked
from .spans import stretch

__all__ = ["Folded", "farthest", "finished", "flash", "flash_reference", "folded", "joined", "key_tiles", "nothing_yet"]

TILE = 256  # queries and keys of a tile: a tile of scores stays in the processor's cache


@dataclass(frozen=True, eq=False)
class Folded:
    """What is known of some queries after some keys.

    top : (…, head, query, 1) the largest score so far
    total : (…, head, query, 1) Σ exp(score − top) so far
    mixed : (…, head, query, d_value) Σ exp(score − top) · value so far
    """

    top: ax.Array
    total: ax.Array
    mixed: ax.Mixed


def flash(
    q: ax.Q, k: ax.K, v: ax.V, rule: Any = None, *, tile: int = TILE, return_lse: bool = False, fast: bool = True
) -> Any:
    """Exactly what ``full`` gives, for every rule, in memory that grows with n instead of n².

    q : (…, head, query, d_head)
    k : (…, kv_head, key, d_head);  v : (…, kv_head, key, d_value)
    rule : how scores become weights, see ``jumok.Rule``
    tile : queries and keys of a tile (NumPy's fast way takes twice as many keys); a larger one than there are tokens is all
    return_lse : True gives (mixed, lse) with lse (…, head, query) = log Σ exp(score), −∞ where nothing is read
    fast : False for these lines themselves, whatever the library has of its own (``jumok.variants.route`` tells which)

    >>> import numpy as np
    >>> one = np.array([[[0.0], [1.0], [2.0]]])
    >>> flash(one, one, one, "causal", tile=2).round(3).tolist()
    [[[0.0], [0.731], [1.851]]]

    Errors: ``InputError`` for a tile below 1 and for numbers that are not finite.
    Source: Dao et al. 2022, "FlashAttention", algorithm 1; Milakov and Gimelshein 2018, "Online normalizer".
    """
    from . import routes

    asked, tile = Asked.of(q, k, v, rule), count("tile", tile)
    way = routes.of_flash(asked, return_lse).name if flag("fast", fast) else "reference"
    if way == "sdpa":
        return _torch().fused(asked)
    run = {"recomputed": _recomputed, "threads": _threads, "reference": flash_reference}[way]
    mixed, lse = run(asked.wide, tile)
    mixed = asked.given_back(mixed)
    return (mixed, lse) if return_lse else mixed


def flash_reference(asked: Asked, tile: int) -> tuple[ax.Mixed, ax.Array]:
    """(mixed, lse), tile by tile."""
    done = []
    for queries in counted(asked.n_queries, tile):
        state = nothing_yet(asked, queries)
        for keys in key_tiles(asked, queries, tile):
            state = folded(state, *asked.tile(queries, keys), asked.values(keys))
        done.append(finished(state))
    xp = array_namespace(asked.q)
    return xp.concat([mixed for mixed, _ in done], axis=-2), xp.concat([lse for _, lse in done], axis=-1)


def _torch() -> Any:
    from . import fast_torch

    return fast_torch


def _recomputed(asked: Asked, tile: int) -> tuple[ax.Mixed, ax.Array]:
    mixed: tuple[ax.Mixed, ax.Array] = _torch().recomputed(asked, tile)
    return mixed


def _threads(asked: Asked, tile: int) -> tuple[ax.Mixed, ax.Array]:
    from . import fast_numpy

    return fast_numpy.flash(asked, tile)


def key_tiles(asked: Asked, queries: range, tile: int) -> Iterator[range]:
    """The tiles of keys that some neighbouring queries may read, as far as the rule itself tells."""
    reach = stretch(asked.rule.allowed, queries[0], queries[-1], asked.n_keys)
    return (keys for keys in counted(asked.n_keys, tile) if keys[-1] >= reach.start and keys[0] < reach.stop)


def nothing_yet(asked: Asked, queries: Places) -> Folded:
    """Before the first key: only the sink, where the rule has one, has taken its share."""
    xp, q = array_namespace(asked.q), asked.q[..., : len(queries), :]
    none = xp.zeros_like(q[..., :1])
    mixed = none + xp.zeros_like(asked.v[..., :1, :1, :])
    if asked.sink is None:
        return Folded(none - farthest(q), none, mixed)
    return Folded(none + asked.sink[:, None, None], none + 1, mixed)


def folded(state: Folded, scaled: ax.Scaled, allowed: ax.Allowed, v: ax.V) -> Folded:
    """The same after some keys more: where a larger score turns up, what was summed so far is scaled down to it."""
    xp = array_namespace(scaled)
    seen = xp.where(xp.expand_dims(allowed, axis=-3), scaled, -farthest(scaled))
    top = xp.maximum(state.top, xp.max(seen, axis=-1, keepdims=True))
    rescale = xp.exp(state.top - top)
    exp = xp.exp(seen - top)
    total = state.total * rescale + xp.sum(exp, axis=-1, keepdims=True)
    return Folded(top, total, state.mixed * rescale + weighted_sum(exp, v, sure=True))


def joined(one: Folded, other: Folded) -> Folded:
    """What is known of the same queries after the keys of both; no key may be in both."""
    xp = array_namespace(one.top)
    top = xp.maximum(one.top, other.top)
    a, b = xp.exp(one.top - top), xp.exp(other.top - top)
    return Folded(top, one.total * a + other.total * b, one.mixed * a + other.mixed * b)


def finished(state: Folded) -> tuple[ax.Mixed, ax.Array]:
    """(mixed, lse) after the last key; a row that read nothing is all 0."""
    xp = array_namespace(state.top)
    nothing = state.top == -farthest(state.top)
    lse = xp.where(nothing, -float("inf"), state.top + xp.log(xp.where(nothing, 1.0, state.total)))
    return state.mixed / xp.where(nothing, float("inf"), state.total), lse[..., 0]


def farthest(array: ax.Array) -> float:
    """So far below every score that its exp is 0, and yet finite."""
    return float(array_namespace(array).finfo(array.dtype).max) / 2
