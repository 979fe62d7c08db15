"""Of all W that reach the same table, the one nearest to the starting point (Frobenius).

Where every row may read every key there is only one in the span of left ⊗ right, and it is the nearest. A mask hides
part of a table: W may then change without a change of what is seen. The nearest is found within what is hidden, by
least squares, so that no score that is seen moves.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...trace import Floats
from .convex import MOST_WHOLE, conjugate_gradients, nearest, whole_hessian
from .problem import RANK_TOLERANCE, Point, Problem, Tables, centred, covariance

__all__ = ["least_change"]

HIDDEN = 1e-10  # of the largest eigenvalue: what is below is not seen
TOLERANCE = 1e-13
MOST_PRODUCTS = 1000


def least_change(problem: Problem, at: Point) -> Point:
    """The point with the scores of this one, up to a constant a row, whose W is least in the embeddings' coordinates.

    With many unknowns, Ctrl-C leaves the point as it is.
    """
    if not at.w.size or not problem.masked or problem.ridge:
        return at
    if at.w.size <= MOST_WHOLE:
        return problem.point(_by_null_space(problem, at.w))
    least = _within if problem.left.rank == problem.n_rows else _grown
    try:
        return problem.point(least(problem, at.w))
    except KeyboardInterrupt:
        return at


def _by_null_space(problem: Problem, w: Floats) -> Floats:
    sizes, directions = np.linalg.eigh(whole_hessian(problem, [r.even for r in problem.rows]))
    hidden = directions[:, sizes <= HIDDEN * sizes[-1]]
    if not hidden.shape[1]:
        return w
    stretch = 1 / np.outer(problem.left.sizes, problem.right.sizes).ravel()
    moved = np.linalg.lstsq(stretch[:, None] * hidden, stretch * w.ravel(), rcond=1e-13)[0]
    return np.asarray(w - (hidden @ moved).reshape(w.shape))


def _hidden_by_rows(problem: Problem) -> Callable[[Floats], Floats]:
    """The part of a change that no row sees, where rows are independent: each row's own, joined."""
    seen = np.empty((problem.n_rows, problem.right.rank, problem.right.rank))  # a projection for each row
    allowed_rows = (
        (allowed, right)
        for r, (_, right) in zip(problem.rows, problem.key_blocks(), strict=True)
        for allowed in r.allowed
    )
    before, projection = None, np.zeros(seen.shape[1:])
    for at, (allowed, right) in enumerate(allowed_rows):
        if before is None or before[1] is not right or not np.array_equal(before[0], allowed):
            keys = right[allowed] - right[allowed].mean(axis=0)
            directions, sizes, _ = np.linalg.svd(keys.T, full_matrices=False)
            span = directions[:, sizes > RANK_TOLERANCE]
            projection, before = span @ span.T, (allowed, right)
        seen[at] = projection
    left = problem.left.white

    def hidden(v: Floats) -> Floats:
        asked = left @ v
        return np.asarray(left.T @ (asked - np.matmul(seen, asked[:, :, None])[:, :, 0]))

    return hidden


def _within(problem: Problem, w: Floats) -> Floats:
    """Independent rows: the least w + change with the change in what is hidden, by conjugate gradients."""
    hidden = _hidden_by_rows(problem)
    stretch = 1 / np.outer(problem.left.sizes, problem.right.sizes) ** 2
    change, _ = conjugate_gradients(
        lambda v: hidden(stretch * v),
        hidden(stretch * w),
        lambda v: hidden(v / stretch),
        TOLERANCE * float(np.linalg.norm(stretch * w)),
        MOST_PRODUCTS,
    )
    return w - hidden(change)


def _grown(problem: Problem, w: Floats) -> Floats:
    """Dependent rows: what is seen of w, fitted from 0 in the embeddings' coordinates, where such a fit stays least.

    What embeddings that are nearly dependent leave unfitted is fitted in white coordinates, so that no score moves.
    """
    even = [r.even for r in problem.rows]
    sizes = np.outer(problem.left.sizes, problem.right.sizes)
    sizes /= sizes.max()

    def bent(v: Floats) -> Floats:
        moved = [covariance(u, s) for u, s in zip(even, problem.linear(v), strict=True)]
        return problem.adjoint(moved)

    goal = sizes * bent(w)
    tolerance = TOLERANCE * float(np.linalg.norm(goal))
    grown, _ = conjugate_gradients(lambda v: sizes * bent(sizes * v), goal, lambda v: v, tolerance, MOST_PRODUCTS)
    least = sizes * grown
    return least + nearest(problem, _seen(problem, problem.linear(w - least)), float(np.linalg.norm(bent(w))))


def _seen(problem: Problem, tables: Tables) -> Tables:
    return [centred(r, table) for r, table in zip(problem.rows, tables, strict=True)]
