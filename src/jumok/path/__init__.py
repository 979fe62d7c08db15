"""Self-attention, all of it: softmax(Q Kᵀ / √d_k + mask) V. Works on any array library of the array API.

>>> import numpy as np
>>> x = np.eye(2)
>>> attend(x, x, x, x, rule="causal").weights[0].round(2).tolist()
[[1.0, 0.0], [0.33, 0.67]]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from . import axes as ax
from . import parts
from . import patterns as patterns  # loaded with the rules, for they can stand in a saved one
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
    sure: bool = False  # True where a record has seen that q · k and the mixed values fit their number type

    @cached_property
    def scores(self) -> ax.Scores:
        return dot(self.q, self.k, self.sure)

    @cached_property
    def scaled(self) -> ax.Scaled:
        return scaled(self.scores, self.rule.scale_for(self.q.shape[-1]), self.rule.softcap, parts.bias(self))

    @cached_property
    def allowed(self) -> ax.Allowed:
        return self.rule.allowed.block(parts.queries(self), parts.keys(self))

    @cached_property
    def weights(self) -> ax.Weights:
        return softmax(self.scaled, self.allowed, parts.sink(self))

    @cached_property
    def weighted_values(self) -> ax.WeightedValues:
        return weighted_values(self.weights, self.v)

    @cached_property
    def mixed(self) -> ax.Mixed:
        return mixed(self.weights, self.v, self.sure)

    @cached_property
    def output(self) -> ax.Output:
        return joined(self.mixed, self.w_o, self.b_o)

    def part(self, heads: Any = None, queries: Any = None) -> Steps:
        """The same for some heads and queries (lists of positions); the rest is never computed."""
        return replace(self, **parts.chosen(self, heads, queries))
