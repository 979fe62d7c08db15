"""Features whose products stand for exp(q · k): what linear attention puts in place of softmax."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..path.axes import Array, PerHead
from ..path.described import like
from ..path.library import array_namespace

__all__ = ["Elu", "PositiveRandom"]


@dataclass(frozen=True)
class Elu:
    """elu(x) + 1: as many features as dimensions, all above 0. It is no approximation of softmax.

    Source: Katharopoulos et al. 2020, "Transformers are RNNs", equation 7.
    """

    def of_queries(self, q: PerHead) -> PerHead:
        """x + 1 above 0, exp(x) below, as a sum: x − low + exp(low) for low = min(x, 0), with the slope 1 at 0 too."""
        xp = array_namespace(q)
        zero = like(xp.zeros((1, 1), dtype=q.dtype), q)
        low = xp.minimum(q, zero)
        return q - low + xp.exp(low)

    of_keys = of_queries


@dataclass(frozen=True)
class PositiveRandom:
    """exp(w · x − |x|²/2) for random directions w: the mean of products of these features is exp(scale · q · k).

    n_features : how many directions; the error falls as 1/√n_features
    scale : of q · k;  seed : of the draw; directions are orthogonal in groups of d_head, which lowers the error

    Source: Choromanski et al. 2021, "Rethinking attention with Performers", lemma 1 and section 2.4.
    """

    n_features: int
    scale: float
    seed: int = 0

    def of_queries(self, q: PerHead) -> PerHead:
        """Each row times a number of its own, so that exp does not overflow: a row's weights do not change by it."""
        xp = array_namespace(q)
        power = self._power(q)
        return xp.exp(power - xp.max(power, axis=-1, keepdims=True))

    def of_keys(self, k: PerHead) -> PerHead:
        """All rows of a head times one number, so that exp does not overflow: no weight changes by it."""
        xp = array_namespace(k)
        power = self._power(k)
        return xp.exp(power - xp.max(power, axis=(-2, -1), keepdims=True))

    def _power(self, x: PerHead) -> PerHead:
        xp = array_namespace(x)
        x = x * math.sqrt(self.scale)
        w = xp.astype(like(directions(x.shape[-1], self.n_features, self.seed), x), x.dtype, copy=False)
        return x @ w - xp.sum(x * x, axis=-1, keepdims=True) / 2


def directions(d: int, n_features: int, seed: int) -> Array:
    """(d, n_features) normal draws in NumPy, orthogonal in groups of d, each as long as a normal draw would be.

    >>> bool(abs(directions(4, 4, 0).T @ directions(4, 4, 0) * (1 - __import__("numpy").eye(4))).max() < 1e-12)
    True
    """
    import numpy as np

    draw, groups = np.random.default_rng(seed), []
    for _ in range(-(-n_features // d)):
        turned, r = np.linalg.qr(draw.standard_normal((d, d)))
        lengths = np.linalg.norm(draw.standard_normal((d, d)), axis=0)
        groups.append(turned * np.sign(np.diag(r)) * lengths)
    return np.concatenate(groups, axis=1)[:, :n_features]
