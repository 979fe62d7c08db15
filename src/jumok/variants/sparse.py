"""Sparse attention: each query reads the keys of a pattern, and only these are computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from array_api_compat import is_torch_array

from ..errors import InputError
from ..path import Rule
from ..path import axes as ax
from ..path.allowed import Allowed
from ..path.checked import count, flag
from ..path.described import like
from ..path.library import array_namespace
from ..path.output import mixed as weighted_sum
from ..path.parts import Places, counted
from ..path.patterns import Pattern, TopK
from ..path.products import known
from ..path.weights import softmax
from .asked import Asked
from .flash import Folded, farthest, finished, folded, joined, nothing_yet
from .spans import stretch

__all__ = ["sparse", "sparse_reference"]

TILE = 64


def sparse(
    q: ax.Q, k: ax.K, v: ax.V, rule: Any = None, *, pattern: Any = None, tile: int = TILE, flex: bool = False
) -> ax.Mixed:
    """Exactly what ``full`` gives under the rule and the pattern, computing only what the pattern lets be read.

    q : (…, head, query, d_head)
    k : (…, kv_head, key, d_head);  v : (…, kv_head, key, d_value)
    rule : a ``jumok.Rule``; a pattern may stand in it as the rule of who may read whom
    pattern : one of ``jumok.variants.patterns``, put on top of the rule; None: the rule alone, looked at tile by tile
    tile : queries of a tile, where the pattern has no blocks of its own
    flex : True for PyTorch's FlexAttention, which needs a compiler, compiles for each new length, and looks for its blocks in a
        table of all pairs (11 bytes each while it does)

    A query whose every key is forbidden is no mistake: its row is all 0.

    >>> import numpy as np
    >>> from jumok.variants import patterns
    >>> one = np.array([[[0.0], [1.0], [2.0]]])
    >>> sparse(one, one, one, pattern=patterns.streaming(n_sink=1, n_back=0)).round(3).tolist()
    [[[0.0], [0.731], [1.964]]]

    Errors: ``InputError`` for what is no pattern; ``TooLargeError`` where the table of ``flex`` would not fit.
    Source: the papers named at each pattern.
    """
    tile = count("tile", tile)
    if flag("flex", flex):
        return _by_flex(q, k, v, rule, pattern)
    if isinstance(pattern, TopK):
        asked = Asked.of(q, k, v, rule)
        return asked.given_back(_best(asked.wide, pattern.n_kept, tile))
    asked = Asked.of(q, k, v, with_pattern(rule, pattern))
    return asked.given_back(sparse_reference(asked.wide, tile))


def with_pattern(rule: Any, pattern: Any) -> Rule:
    """The rule, and a pattern on top of it where there is one."""
    made = Rule.of(rule)
    if pattern is None:
        return made
    if not isinstance(pattern, Allowed):
        raise InputError(
            en=f"pattern expects one of jumok.variants.patterns (big_bird, strided, streaming, blocks, top_k) or a rule of "
            f"jumok.allowed, got {type(pattern).__name__}.",
            ko=f"pattern에는 jumok.variants.patterns의 big_bird, strided, streaming, blocks, top_k나 jumok.allowed의 규칙이 "
            f"필요한데 {type(pattern).__name__}이(가) 왔습니다.",
        )
    return replace(made, allowed=made.allowed & pattern)


def _by_flex(q: ax.Q, k: ax.K, v: ax.V, rule: Any, pattern: Any) -> ax.Mixed:
    if isinstance(pattern, TopK) or not is_torch_array(q):
        what = "top_k" if isinstance(pattern, TopK) else type(q).__module__.partition(".")[0]
        raise InputError(
            en=f"flex=True is PyTorch's FlexAttention, for PyTorch's tensors and rules of positions, got {what}. Leave it out.",
            ko=f"flex=True는 PyTorch 텐서와 위치 규칙을 위한 FlexAttention인데 {what}이(가) 왔습니다. 빼고 다시 부르십시오.",
        )
    from . import fast_torch

    mixed: ax.Mixed = fast_torch.flex(Asked.of(q, k, v, with_pattern(rule, pattern)))
    return mixed


def sparse_reference(asked: Asked, tile: int) -> ax.Mixed:
    """The parts of the pattern one after another, each in tiles cut its own way, then put together row by row."""
    pattern = pattern_in(asked.rule.allowed)
    if pattern is None:
        return finished(_part(asked, _looked_at(asked, tile), asked.rule.allowed))[0]
    done: Folded | None = None
    for part in pattern.parts():
        allowed = asked.rule.allowed if part is pattern else asked.rule.allowed & part
        state = _part(asked, part.tiles(asked.n_queries, asked.n_keys, tile), allowed)
        done = state if done is None else joined(done, state)
        asked = replace(asked, rule=replace(asked.rule, sink=None))  # it takes its share once
    assert done is not None
    return finished(done)[0]


def pattern_in(allowed: Any) -> Pattern | None:
    """The pattern that a rule is, or that stands in it beside others that must allow too."""
    if isinstance(allowed, Pattern):
        return allowed
    if getattr(allowed, "kind", None) == "both":
        return pattern_in(allowed.first) or pattern_in(allowed.second)
    return None


def _part(asked: Asked, tiles: Iterator[tuple[Places, Places]], allowed: Allowed) -> Folded:
    """Every tile of queries folded with its keys; the rows in the order of the queries."""
    xp, done = array_namespace(asked.q), []
    order: list[int] = []
    for queries, wanted in tiles:
        keys = _reachable(wanted, stretch(allowed, queries[0], queries[-1], asked.n_keys))
        state = nothing_yet(asked, queries)
        if len(keys):
            state = folded(state, *asked.tile(queries, keys, allowed), asked.values(keys))
        order += queries
        done.append(state)
    place = sorted(range(len(order)), key=order.__getitem__)
    at = like(xp.asarray(place), asked.q)
    rows = (xp.concat([getattr(state, name) for state in done], axis=-2) for name in ("top", "total", "mixed"))
    return Folded(*(each if place == order else xp.take(each, at, axis=-2) for each in rows))


def _reachable(keys: Places, reach: range) -> Places:
    if not len(keys) or (keys[0] >= reach.start and keys[-1] < reach.stop):
        return keys
    return [key for key in keys if key in reach]


def _looked_at(asked: Asked, tile: int) -> Iterator[tuple[Places, Places]]:
    """Tiles of a rule that is no pattern: the keys that any query of the tile may read, found by asking the rule."""
    xp, allowed = array_namespace(asked.q), asked.rule.allowed
    for queries in counted(asked.n_queries, tile):
        keys = stretch(allowed, queries[0], queries[-1], asked.n_keys)
        if not keys:
            yield queries, keys
            continue
        block = allowed.block(asked.positions(queries), asked.positions(keys))
        read = xp.any(xp.reshape(block, (-1, len(keys))), axis=0)
        unknown = known(xp.sum(xp.astype(read, xp.int32))) is None  # inside jax.jit
        yield queries, keys if unknown else [key for at, key in enumerate(keys) if bool(read[at])]


def _best(asked: Asked, n_kept: int, tile: int) -> ax.Mixed:
    """Each tile of queries with its best keys: all scores are made, a tile at a time."""
    xp, done = array_namespace(asked.q), []
    for queries in counted(asked.n_queries, tile):
        keys = range(asked.n_keys)
        scaled, allowed = asked.tile(queries, keys)
        seen = xp.where(xp.expand_dims(allowed, axis=-3), scaled, -farthest(scaled))
        least = xp.sort(seen, axis=-1)[..., -min(n_kept, len(keys)), None]
        weights = softmax(xp.where(seen >= least, scaled, -farthest(scaled)), allowed, asked.sink)
        done.append(weighted_sum(weights, asked.values(keys), sure=True))
    return xp.concat(done, axis=-2)
