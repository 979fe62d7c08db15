"""x → q, k, v: what each token asks, offers and hands over."""

from __future__ import annotations

from .axes import Array, Joined, PerHead, Projection, X
from .library import array_namespace
from .products import added, matmul

__all__ = ["projected", "split"]


def projected(x: X, w: Projection, b: Array | None = None) -> Joined:
    """Each token's embedding through one projection: ``x W + b``.

    x : (token, d_model)
    w : (d_model, heads · d)
    b : (heads · d,), optional

    >>> import numpy as np
    >>> projected(np.array([[1.0, 2.0]]), np.array([[1.0, 0.0], [0.0, 3.0]])).tolist()
    [[1.0, 6.0]]

    Errors: ``OverflowRefused`` where a sum would not fit the number type.
    Source: Vaswani et al. 2017, "Attention is all you need", section 3.2.2.
    """
    return added(matmul(x, w, "x · W"), b, "the bias of x · W")


def split(joined: Joined, n_heads: int) -> PerHead:
    """The columns dealt to the heads, in order: (token, heads · d) → (head, token, d).

    >>> import numpy as np
    >>> split(np.array([[1, 2, 3, 4]]), 2).tolist()
    [[[1, 2]], [[3, 4]]]

    Source: Vaswani et al. 2017, section 3.2.2; the axes are transposed, never only reshaped.
    """
    xp = array_namespace(joined)
    *lead, n_tokens, width = joined.shape
    parts = xp.reshape(joined, (*lead, n_tokens, n_heads, width // n_heads))
    axes = list(range(parts.ndim))
    axes[-3], axes[-2] = axes[-2], axes[-3]
    return xp.permute_dims(parts, tuple(axes))
