"""Low-rank attention: a few landmarks stand for all queries and keys, so that the table is a product of three thin ones."""

from __future__ import annotations

import itertools
from typing import Any

from ..errors import InputError
from ..path import Rule
from ..path import axes as ax
from ..path.checked import count
from ..path.library import array_namespace
from ..path.output import mixed as weighted_sum
from ..path.scores import dot, scaled
from ..path.weights import softmax
from .asked import Asked

__all__ = ["lowrank"]

MOST_STEPS = 1000


def lowrank(q: ax.Q, k: ax.K, v: ax.V, rule: Any = None, *, n_landmarks: int = 64, n_steps: int = 6) -> ax.Mixed:
    """softmax(q k̃ᵀ) · softmax(q̃ k̃ᵀ)⁺ · softmax(q̃ kᵀ) v with landmarks q̃, k̃: means of neighbouring queries and keys.

    q : (…, head, query, d_head)
    k : (…, kv_head, key, d_head);  v : (…, kv_head, key, d_value)
    rule : everything, with a scale and a soft cap
    n_landmarks : more than there are tokens is every token by itself
    n_steps : of the iteration that inverts the small table, 1,000 at most

    >>> import numpy as np
    >>> one = np.array([[[0.0], [1.0], [2.0]]])
    >>> lowrank(one, one, one, n_landmarks=3, n_steps=20).round(3).tolist()  # as full attention
    [[[1.0], [1.575], [1.851]]]

    Errors: ``InputError`` for a rule under which not everybody reads everything.
    Source: Xiong et al. 2021, "Nyströmformer", equations 13 and 14.
    """
    asked = Asked.of(q, k, v, rule)
    _refuse_other_rules(asked.rule)
    n_landmarks, n_steps, wide = count("n_landmarks", n_landmarks), _steps(n_steps), asked.wide
    few_q, few_k = _landmarks(wide.q, n_landmarks), _landmarks(wide.k, n_landmarks)
    to_landmarks = _weights(wide.q, few_k, wide)
    among = _weights(few_q, few_k, wide)
    of_landmarks = weighted_sum(_weights(few_q, wide.k, wide), wide.v)
    return asked.given_back(to_landmarks @ (_inverse(among, n_steps) @ of_landmarks))


def _steps(n_steps: Any) -> int:
    if count("n_steps", n_steps) > MOST_STEPS:
        raise InputError(
            en=f"n_steps expects at most {MOST_STEPS}, got {n_steps:,}: each step cubes what is missing, so that 20 are enough.",
            ko=f"n_steps에는 {MOST_STEPS} 이하의 수가 필요한데 {n_steps:,}이(가) 왔습니다. 걸음마다 모자란 몫이 세제곱으로 작아지므로 20이면 "
            f"충분합니다.",
        )
    return int(n_steps)


def _weights(q: ax.Q, k: ax.K, asked: Asked) -> ax.Weights:
    s = scaled(dot(q, k), asked.rule.scale_for(q.shape[-1]), asked.rule.softcap)
    xp = array_namespace(s)
    return softmax(s, xp.ones_like(s[..., 0, :, :], dtype=xp.bool))


def _landmarks(tokens: ax.PerHead, n_landmarks: int) -> ax.PerHead:
    """(…, head, landmark, d): the mean of each of so many stretches of neighbours, as even as can be."""
    xp, n = array_namespace(tokens), tokens.shape[-2]
    n_landmarks = min(n, n_landmarks)
    ends = [n * at // n_landmarks for at in range(n_landmarks + 1)]
    means = [xp.mean(tokens[..., a:b, :], axis=-2, keepdims=True) for a, b in itertools.pairwise(ends)]
    return xp.concat(means, axis=-2)


def _inverse(table: ax.Array, n_steps: int) -> ax.Array:
    """The pseudo-inverse of a table of weights by products alone; each step cubes what is still missing."""
    xp = array_namespace(table)
    turned, one = xp.matrix_transpose(table), xp.eye(table.shape[-2], dtype=table.dtype)
    size = xp.max(xp.sum(table, axis=-1, keepdims=True), axis=-2, keepdims=True)
    size = size * xp.max(xp.sum(turned, axis=-1, keepdims=True), axis=-2, keepdims=True)
    z = turned / size
    for _ in range(n_steps):
        az = table @ z
        z = z @ (13 * one - az @ (15 * one - az @ (7 * one - az))) / 4
    return z


def _refuse_other_rules(rule: Rule) -> None:
    wrong = (
        [] if getattr(rule.allowed, "kind", None) == "everything" else [repr(getattr(rule.allowed, "kind", "allowed"))]
    )
    wrong += [name for name in ("bias", "sink") if getattr(rule, name) is not None]
    if wrong:
        raise InputError(
            en=f"low-rank attention puts landmarks in place of all tokens, so every query must read every key; this rule has "
            f"{', '.join(wrong)}. Try jumok.variants.flash or window.",
            ko=f"저랭크 어텐션은 모든 토큰을 대표점 몇 개로 대신하므로 모든 쿼리가 모든 키를 볼 수 있어야 하는데, 이 규칙에는 "
            f"{', '.join(wrong)}도 있습니다. jumok.variants.flash나 window를 쓰십시오.",
        )
