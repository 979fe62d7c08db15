"""The best W of a given rank that was found: factors W = left rightᵀ of so many columns, refined from several starts.

With too few columns the problem is not convex, and no method is sure of the best. The starts are the full optimum cut
to the rank (in plain white coordinates, and in coordinates weighted by how much the scores matter), and a few seeded
random ones; each is refined by L-BFGS. The full optimum stays as a bound that is proven: no rank does better.

Source: Liu and Nocedal 1989 for L-BFGS (SciPy's).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...trace import Floats
from .problem import Problem, covariance

__all__ = ["low_rank", "rank_of"]

N_RANDOM = 6
MOST_STEPS = 2000


def rank_of(w: Floats, tolerance: float = 1e-9) -> int:
    """The number of singular values above a share of the largest."""
    sizes = np.linalg.svd(w, compute_uv=False)
    return int(np.sum(sizes > tolerance * max(sizes[0], 1e-300))) if len(sizes) else 0


def low_rank(problem: Problem, full: Floats, rank: int) -> Floats:
    """The w of at most this rank with the least loss that was found, from the full optimum and other starts."""
    from scipy.optimize import minimize

    n_left, n_right = problem.shape
    cut = n_left * rank

    def loss(flat: Floats) -> tuple[float, Floats]:
        a, b = flat[:cut].reshape(n_left, rank), flat[cut:].reshape(n_right, rank)
        at = problem.point(a @ b.T)
        slope = problem.gradient(at)
        return at.loss, np.concatenate([(slope @ b).ravel(), (slope.T @ a).ravel()])

    options = {"maxiter": MOST_STEPS, "maxfun": 2 * MOST_STEPS, "ftol": 1e-13, "gtol": 1e-9, "maxcor": 20}
    found = [
        minimize(loss, np.concatenate([a.ravel(), b.ravel()]), jac=True, method="L-BFGS-B", options=options)
        for a, b in _starts(problem, full, rank)
    ]
    best = min(found, key=lambda one: float(one.fun)).x
    return np.asarray(best[:cut].reshape(n_left, rank) @ best[cut:].reshape(n_right, rank).T)


def _starts(problem: Problem, full: Floats, rank: int) -> Iterator[tuple[Floats, Floats]]:
    yield _truncated(full, rank)
    reached = problem.point(full).reached
    matter = np.zeros((problem.right.rank, problem.right.rank))
    for p, (_, right) in zip(reached, problem.key_blocks(), strict=True):
        matter += right.T @ np.einsum("qk,qkd->kd", np.ones_like(p), _covariances(p, right))
    sizes, directions = np.linalg.eigh(matter)
    root = np.sqrt(np.maximum(sizes, 1e-6 * sizes.max(initial=1e-300)))
    a, b = _truncated(full @ (directions * root), rank)
    yield a, directions @ (b / root[:, None])
    random = np.random.default_rng(0)
    size = np.sqrt(np.linalg.norm(full) / max(1, rank)) / max(problem.shape) ** 0.5
    for _ in range(N_RANDOM):
        yield tuple(size * random.standard_normal((n, rank)) for n in problem.shape)


def _covariances(p: Floats, right: Floats) -> Floats:
    return np.stack([covariance(p, np.broadcast_to(column, p.shape)) for column in right.T], axis=-1)


def _truncated(w: Floats, rank: int) -> tuple[Floats, Floats]:
    """Factors of the nearest w of this rank, balanced."""
    left, sizes, right = np.linalg.svd(w, full_matrices=False)
    kept = min(rank, len(sizes))
    a, b = np.zeros((w.shape[0], rank)), np.zeros((w.shape[1], rank))
    a[:, :kept], b[:, :kept] = left[:, :kept] * np.sqrt(sizes[:kept]), right[:kept].T * np.sqrt(sizes[:kept])
    return a, b
