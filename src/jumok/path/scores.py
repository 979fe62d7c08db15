"""q, k → scores: how well each query and key fit, and what the rule then does to the number."""

from __future__ import annotations

from .axes import Bias, K, Q, Scaled, Scores
from .library import array_namespace
from .products import ceiling, matmul, refuse_beyond

__all__ = ["dot", "scaled"]


def dot(q: Q, k: K, sure: bool = False) -> Scores:
    """Every query with every key of its head: ``q · k``.

    q : (head, query, d_head)
    k : (kv_head, key, d_head); with fewer key heads, neighbouring query heads share one
    sure : True where somebody has seen that q · k fits its number type

    >>> import numpy as np
    >>> dot(np.array([[[1.0, 2.0]]]), np.array([[[3.0, 4.0], [0.0, 1.0]]])).tolist()
    [[[11.0, 2.0]]]

    Errors: ``OverflowRefused`` where q · k would not fit the number type.
    Source: Vaswani et al. 2017, equation 1; shared keys: Ainslie et al. 2023, "GQA".
    """
    xp = array_namespace(q, k)
    *lead, n_heads, n_queries, d_head = q.shape
    n_kv_heads, n_keys = k.shape[-3], k.shape[-2]
    if n_kv_heads == n_heads:
        return matmul(q, xp.matrix_transpose(k), "q · k", sure)
    together = (*lead, n_kv_heads, n_heads // n_kv_heads * n_queries, d_head)
    scores = matmul(xp.reshape(q, together), xp.matrix_transpose(k), "q · k", sure)
    return xp.reshape(scores, (*lead, n_heads, n_queries, n_keys))


def scaled(scores: Scores, scale: float, softcap: float | None = None, bias: Bias | None = None) -> Scaled:
    """The score made comparable: times the scale, bent under the soft cap, plus the position bias.

    scores : (head, query, key)
    scale : 1/√d_head as a rule
    softcap : c in c · tanh(score / c), or None
    bias : (head or 1, query, key), added last, or None

    >>> import numpy as np
    >>> scaled(np.array([[[4.0, 2.0]]]), 0.5).tolist()
    [[[2.0, 1.0]]]

    Errors: ``OverflowRefused`` where a scaled score would not fit the number type.
    Source: Vaswani et al. 2017, section 3.2.1; soft cap: Gemma 2 report 2024, section 2.
    """
    growth = scale / min(1.0, softcap or 1.0)
    if growth > 1:
        refuse_beyond(ceiling(scores) / growth, scores, "scores × scale")
    s = scores * scale
    if softcap is not None:
        s = softcap * array_namespace(s).tanh(s / softcap)
    if bias is None:
        return s
    refuse_beyond(ceiling(s), bias, "position bias")
    return s + array_namespace(s).astype(bias, s.dtype, copy=False)
