"""weights, v → output: what each token takes home."""

from __future__ import annotations

from .axes import Mixed, OutBias, OutProjection, Output, V, WeightedValues, Weights
from .library import array_namespace
from .products import added, matmul

__all__ = ["joined", "mixed", "weighted_values"]


def weighted_values(weights: Weights, v: V) -> WeightedValues:
    """Each weight times the value it is for, before they are summed.

    weights : (head, query, key)
    v : (kv_head, key, d_value)

    >>> import numpy as np
    >>> weighted_values(np.array([[[0.5, 0.5]]]), np.array([[[2.0], [4.0]]])).tolist()
    [[[[1.0], [2.0]]]]
    """
    xp = array_namespace(weights, v)
    shared = xp.repeat(v, weights.shape[-3] // v.shape[-3], axis=-3)
    return weights[..., None] * shared[..., None, :, :]


def mixed(weights: Weights, v: V, sure: bool = False) -> Mixed:
    """The values summed by weight: one vector a query and head.

    weights : (head, query, key)
    v : (kv_head, key, d_value); with fewer value heads, neighbouring query heads share one
    sure : True where somebody has seen that the values fit their number type

    >>> import numpy as np
    >>> mixed(np.array([[[0.5, 0.5]]]), np.array([[[2.0], [4.0]]])).tolist()
    [[[3.0]]]

    Source: Vaswani et al. 2017, equation 1.
    """
    xp = array_namespace(weights, v)
    *lead, n_heads, n_queries, n_keys = weights.shape
    n_kv_heads, d_value = v.shape[-3], v.shape[-1]
    together = (*lead, n_kv_heads, n_heads // n_kv_heads * n_queries, n_keys)
    y = matmul(xp.reshape(weights, together), v, "weights · v", sure)
    return xp.reshape(y, (*lead, n_heads, n_queries, d_value))


def joined(mixed: Mixed, w_o: OutProjection | None = None, b_o: OutBias | None = None) -> Output:
    """The heads side by side, through ``w_o`` where there is one.

    mixed : (head, query, d_value)
    w_o : (heads · d_value, d_model), or None: the joined heads are the output
    b_o : (d_model,), or None

    >>> import numpy as np
    >>> joined(np.array([[[1.0]], [[2.0]]])).tolist()
    [[1.0, 2.0]]

    Source: Vaswani et al. 2017, section 3.2.2.
    """
    xp = array_namespace(mixed)
    *lead, n_heads, n_queries, d_value = mixed.shape
    axes = list(range(mixed.ndim))
    axes[-3], axes[-2] = axes[-2], axes[-3]
    y = xp.reshape(xp.permute_dims(mixed, tuple(axes)), (*lead, n_queries, n_heads * d_value))
    if w_o is not None:
        y = matmul(y, w_o, "mixed · W_O")
    return added(y, b_o, "b_o")
