"""scaled scores → weights: each row shared out so that it sums to 1."""

from __future__ import annotations

from .axes import Allowed, Scaled, Sink, Weights
from .library import array_namespace

__all__ = ["softmax"]


def softmax(scaled: Scaled, allowed: Allowed, sink: Sink | None = None) -> Weights:
    """exp of each allowed score over the sum of all allowed in its row.

    scaled : (head, query, key), finite
    allowed : (query, key) bool, True where the query may read the key
    sink : (head,) logits of a place that takes weight and hands over nothing, or None

    The largest score is taken off first, so exp never overflows; a row with nothing allowed is all 0.

    >>> import numpy as np
    >>> softmax(np.array([[[0.0, 0.0, 9.0]]]), np.array([[True, True, False]])).tolist()
    [[[0.5, 0.5, 0.0]]]

    Source: Vaswani et al. 2017, equation 1; sink: Agarwal et al. 2025 (gpt-oss), section 2.
    """
    xp = array_namespace(scaled)
    allowed = xp.expand_dims(allowed, axis=-3)
    least = -float(xp.finfo(scaled.dtype).max) / 2  # so far below every score that its exp is 0
    seen = xp.where(allowed, scaled, least)
    top = xp.max(seen, axis=-1, keepdims=True)
    nothing = top == least
    if sink is not None:
        sink = xp.astype(sink, scaled.dtype, copy=False)[:, None, None]
        top = xp.maximum(top, sink)
    exp = xp.exp(seen - top)
    total = xp.sum(exp, axis=-1, keepdims=True)
    if sink is not None:
        total = total + xp.exp(sink - top)
    return exp / xp.where(nothing, float("inf"), total)
