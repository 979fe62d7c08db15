"""Self-attention, all of it: softmax(Q Kᵀ / √d_k + mask) V. Works on any array library of the array API.

>>> import numpy as np
>>> x = np.eye(2)
>>> attend(x, x, x, x, rule="causal").weights[0].round(2).tolist()
[[1.0, 0.0], [0.33, 0.67]]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from . import axes as ax
from .described import like
from .library import array_namespace
from .output import joined, mixed, weighted_values
from .qkv import projected, split
from .rule import Rule
from .scores import dot, scaled
from .weights import softmax

__all__ = ["STAGES", "Rule", "Steps", "attend"]

STAGES = ("scores", "scaled", "allowed", "weights", "weighted_values", "mixed", "output")


def attend(
    x: ax.X, w_q: ax.Projection, w_k: ax.Projection, w_v: ax.Projection, w_o: ax.OutProjection | None = None,
    *, n_heads: int = 1, n_kv_heads: int | None = None, rule: Any = None,
) -> Steps:  # fmt: skip
    """From x to the output. x: (token, d_model); each w: (d_model, heads · d); rule: see ``Rule``."""
    q = split(projected(x, w_q), n_heads)  # what each token asks
    k = split(projected(x, w_k), n_kv_heads or n_heads)  # what each token offers
    v = split(projected(x, w_v), n_kv_heads or n_heads)  # what each token hands over
    return Steps(q, k, v, Rule.of(rule), w_o)


@dataclass(frozen=True, eq=False)
class Steps:
    """Every stage from q, k and v on, each made when it is first read."""

    q: ax.Q
    k: ax.K
    v: ax.V
    rule: Rule = Rule()  # noqa: RUF009 (frozen)
    w_o: ax.OutProjection | None = None
    b_o: ax.OutBias | None = None
    queries: ax.Queries | None = None  # where the queries stand; None: 0, 1, 2, …
    heads: tuple[int, ...] | None = None  # which heads these are; None: all

    @cached_property
    def scores(self) -> ax.Scores:
        return dot(self.q, self.k)

    @cached_property
    def scaled(self) -> ax.Scaled:
        return scaled(self.scores, self.rule.scale_for(self.q.shape[-1]), self.rule.softcap, self._bias)

    @cached_property
    def allowed(self) -> ax.Allowed:
        return self.rule.allowed.block(self._at("query"), self._at("key"))

    @cached_property
    def weights(self) -> ax.Weights:
        return softmax(self.scaled, self.allowed, self._of_heads(self.rule.sink, 0))

    @cached_property
    def weighted_values(self) -> ax.WeightedValues:
        return weighted_values(self.weights, self.v)

    @cached_property
    def mixed(self) -> ax.Mixed:
        return mixed(self.weights, self.v)

    @cached_property
    def output(self) -> ax.Output:
        return joined(self.mixed, self.w_o, self.b_o)

    def part(self, heads: Any = None, queries: Any = None) -> Steps:
        """The same for some heads and queries (lists of positions); the rest is never computed."""
        return _part(self, heads, queries)

    @cached_property
    def _bias(self) -> ax.Bias | None:
        if self.rule.bias is None:
            return None
        bias = self.rule.bias.block(self._at("query"), self._at("key"))
        return bias if bias.shape[-3] == 1 else self._of_heads(bias, -3)

    def _at(self, axis: str) -> ax.Array:
        if axis == "query" and self.queries is not None:
            return self.queries
        xp = array_namespace(self.q)
        return like(xp.arange((self.q if axis == "query" else self.k).shape[-2]), self.q)

    def _of_heads(self, array: Any, axis: int) -> Any:
        array = None if array is None else like(array, self.q)
        return array if array is None or self.heads is None else _taken(array, self.heads, axis)


def _part(steps: Steps, heads: Any, queries: Any) -> Steps:
    q, k, v, w_o, b_o, at = steps.q, steps.k, steps.v, steps.w_o, steps.b_o, steps.queries
    xp = array_namespace(q)
    kept_heads = steps.heads
    if heads is not None:
        chosen, group = [int(h) for h in heads], q.shape[-3] // k.shape[-3]
        kv = chosen if group == 1 else [h // group for h in chosen]
        if w_o is not None:  # the share of these heads in the output; the bias is nobody's share
            w_o = xp.reshape(w_o, (q.shape[-3], v.shape[-1], w_o.shape[-1]))
            w_o, b_o = xp.reshape(_taken(w_o, chosen, 0), (-1, w_o.shape[-1])), None
        q, k, v = _taken(q, chosen, -3), _taken(k, kv, -3), _taken(v, kv, -3)
        kept_heads = tuple(chosen if steps.heads is None else (steps.heads[h] for h in chosen))
    if queries is not None:
        wanted = [int(i) for i in queries]
        at = _taken(steps._at("query"), wanted, 0)
        q = _taken(q, wanted, -2)
    return Steps(q, k, v, steps.rule, w_o, b_o, at, kept_heads)


def _taken(array: Any, indices: Any, axis: int) -> Any:
    """Some entries along an axis: a view where they are neighbours, a copy otherwise."""
    first, n = (indices[0] if len(indices) else 0), len(indices)
    if list(indices) == list(range(first, first + n)):
        rest = (slice(None),) * (axis if axis >= 0 else array.ndim + axis)
        return array[(*rest, slice(first, first + n), ...)]
    xp = array_namespace(array)
    return xp.take(array, like(xp.asarray(list(indices)), array), axis=axis)
