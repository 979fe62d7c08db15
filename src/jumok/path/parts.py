"""Some heads, queries and keys: what is not asked for is never computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import axes as ax
from .described import like
from .library import array_namespace

__all__ = ["Places", "bias", "chosen", "counted", "keys", "queries", "sink", "taken"]

Places = Sequence[int]  # positions of queries or of keys; a range where they are neighbours


def chosen(steps: Any, heads: Any, queries_wanted: Any) -> dict[str, Any]:
    """What changes in ``Steps`` where only some heads and queries are wanted (lists of positions, or None for all).

    Of the output, the chosen heads give their share: their rows of ``w_o``, without ``b_o``, which is nobody's.
    """
    changed: dict[str, Any] = {} if heads is None else _of_heads(steps, [int(head) for head in heads])
    if queries_wanted is not None:
        wanted = [int(query) for query in queries_wanted]
        changed["queries"] = taken(queries(steps), wanted, 0)
        changed["q"] = taken(changed.get("q", steps.q), wanted, -2)
    return changed


def _of_heads(steps: Any, heads: list[int]) -> dict[str, Any]:
    q, k, v, w_o = steps.q, steps.k, steps.v, steps.w_o
    group = q.shape[-3] // k.shape[-3]
    shared = heads if group == 1 else [head // group for head in heads]
    changed: dict[str, Any] = {"q": taken(q, heads, -3), "k": taken(k, shared, -3), "v": taken(v, shared, -3)}
    changed["heads"] = tuple(heads if steps.heads is None else (steps.heads[head] for head in heads))
    if w_o is not None:
        xp = array_namespace(w_o)
        by_head = xp.reshape(w_o, (q.shape[-3], v.shape[-1], w_o.shape[-1]))
        changed["w_o"], changed["b_o"] = xp.reshape(taken(by_head, heads, 0), (-1, w_o.shape[-1])), None
    return changed


def queries(steps: Any) -> ax.Queries:
    """Where the queries stand."""
    return _counted(steps.q) if steps.queries is None else steps.queries


def keys(steps: Any) -> ax.Keys:
    """Where the keys stand: 0, 1, 2, …"""
    return _counted(steps.k)


def _counted(array: ax.Array) -> ax.Array:
    return like(array_namespace(array).arange(array.shape[-2]), array)


def bias(steps: Any) -> ax.Bias | None:
    """The rule's position bias for these heads and queries, or None."""
    if steps.rule.bias is None:
        return None
    block = like(steps.rule.bias.block(queries(steps), keys(steps)), steps.q)
    return block if steps.heads is None or block.shape[-3] == 1 else taken(block, steps.heads, -3)


def sink(steps: Any) -> ax.Sink | None:
    """The rule's sink logits of these heads, or None."""
    if steps.rule.sink is None:
        return None
    logits = like(steps.rule.sink, steps.q)
    return logits if steps.heads is None else taken(logits, steps.heads, 0)


def taken(array: ax.Array, indices: Any, axis: int) -> ax.Array:
    """Some entries along an axis: a view where they are neighbours, a copy otherwise."""
    first, n = (indices[0] if len(indices) else 0), len(indices)
    if list(indices) == list(range(first, first + n)):
        rest = (slice(None),) * (axis if axis >= 0 else array.ndim + axis)
        return array[(*rest, slice(first, first + n), ...)]
    xp = array_namespace(array)
    return xp.take(array, like(xp.asarray(list(indices)), array), axis=axis)


def counted(n: int, tile: int) -> list[range]:
    """0 … n − 1 in tiles of neighbours; the last may be smaller.

    >>> counted(5, 2)
    [range(0, 2), range(2, 4), range(4, 5)]
    """
    return [range(first, min(n, first + tile)) for first in range(0, n, tile)]
