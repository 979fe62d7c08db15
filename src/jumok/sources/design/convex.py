"""The best W there is: a fit of the logarithms where that is exact, else Newton's method, with a proof of the distance.

The proof. For every table p′ whose rows sum to 1 and that has the moments of the wanted table,
leftᵀ p′ right = leftᵀ wanted right, and for every W, KL(wanted ‖ reached) = C(p′) + KL(p′ ‖ reached), where C(p′) does
not know W. So no W is better than the one at hand by more than KL(p′ ‖ reached) (the Pythagorean identity of
information geometry; p′ is a point of the dual problem). p′ = reached − covariance · (the scores of Newton's step) is
such a table where it is not negative, and it is near the reached one, so that the bound is tight and, a sum of small
terms that are not negative, exact to rounding. A step that is not quite exact leaves moments a little off; without a mask
left · rest · rightᵀ makes them good, as both sides are orthonormal. With a ridge ρ, moments may differ by g, at a price of ‖g + ρW‖²/2ρ.

Source: Boyd and Vandenberghe 2004, "Convex optimization", sections 5.1 and 9.5; Csiszár 1975 for the identity.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...trace import Floats
from .problem import TINY, Point, Problem, Tables, centred, covariance

__all__ = [
    "Found",
    "by_mean",
    "certificate",
    "conjugate_gradients",
    "goals",
    "nearest",
    "newton",
    "solve",
    "whole_hessian",
]

GAP = 4e-9  # nats: Newton's method stops here
NEAR = 1e-4  # nats that a step promises: below, the proof is tried
NEARER = 1e-7  # the same where the proof is dear
ROUNDING = 1e-11  # moments that differ by no more are equal
REPAIRED = 1e-6  # moments that differ by no more are made equal where that is simple
SILENCE = 0.5  # seconds: a step that takes longer tells of itself
MOST_STEPS = 100
MOST_PRODUCTS = 600  # of the Hessian, for one step
MANY_PRODUCTS = 30  # of the Hessian: with more, its inverse is made anew, and a better one
MOST_WHOLE = 512  # unknowns: of so many the Hessian is written out
MOST_WHOLE_STEEP = 2500  # the same with a ridge: wanted zeros make the Hessian steep here and flat there
MOST_ALONE = 3e8  # multiplications for which independent rows are inverted one by one
FLAT = 1e-13  # of the largest curvature: what is below is rounding
REACHED = 1e-11  # of a weight: a table this near needs no search
NEARLY = 0.1  # the root mean square of what a fit of logarithms leaves: with more, its table is far from the wanted one
CLOSE = 1e-4  # nats: a table this near may be one that can be reached
FLOOR = 1e-5  # what a wanted 0 counts as in the fit of the logarithms
FIRST = 0.1  # of the goal: how exact the first fit is


@dataclass(frozen=True)
class Found:
    """Where a search ended.

    at : w in white coordinates, what it reaches, and its loss in nats, ridge included
    gap : no w is better by more than this, in nats;  gradient : the norm of the gradient
    finished : False where it was stopped before the gap was small
    """

    at: Point
    gap: float
    gradient: float
    steps: int
    finished: bool = True

    @property
    def w(self) -> Floats:
        """In white coordinates."""
        return self.at.w

    @property
    def loss(self) -> float:
        """Nats, ridge included."""
        return self.at.loss


Progress = Callable[[int, float, float], None]  # step, loss, gap
Inverse = Callable[[Floats], Floats]  # of a symmetric map, or near it


def solve(problem: Problem, start: Floats | None = None, progress: Progress | None = None) -> Found:
    """The W that is nearest to the wanted table: the fit where it is exact, else what Newton's method finds.

    start : a w to continue from
    """
    zero = np.zeros(problem.shape)
    if not zero.size:  # nothing asks, or nothing can be told apart: there is one table
        return Found(problem.point(zero), 0.0, 0.0, 0)
    points = [] if start is None else [problem.point(zero), problem.point(start)]
    aims = goals(problem)
    closed = _closed_fit(problem, aims)
    fit = nearest(problem, aims) if closed is None and problem.roomy else closed
    if fit is not None and _fits(problem, aims, fit):
        points.append(problem.point(fit))
        if _off(problem, points[-1]) <= REACHED and not problem.ridge:
            return _reached(problem, points[-1], 0)
    smooth = [0.5 * (r.wanted + r.even) for r in problem.rows]
    inverse = as_it_is if problem.repairable else by_mean(problem, smooth)
    if start is None:
        points.append(problem.point(_first_fit(problem, smooth, inverse)))
    found = newton(problem, min(points, key=lambda point: point.loss), inverse, progress)
    return _closed_in(problem, aims, found) if closed is None and found.finished else found


def goals(problem: Problem) -> Tables:
    """(row, key) The scores to add that would make each row the wanted one, centred over its allowed keys."""
    return [centred(r, np.where(r.wanted > 0, r.logs, math.log(FLOOR)) - r.base) for r in problem.rows]


# fits: the w whose scores are nearest to the logarithms of the wanted table, up to a constant a row ----------


def _closed_fit(problem: Problem, aims: Tables) -> Floats | None:
    """Every cell counted alike: exact where the table can be reached at all. None where that has no closed form.

    It has one where every row may read every key of one sentence, and where the rows are independent, so that each is
    fitted alone.
    """
    if len(problem.rows) == 1 and not problem.masked:
        ((left, right),) = problem.key_blocks()
        return np.asarray(left.T @ aims[0] @ right / problem.scale)
    return _row_by_row(problem, aims) if problem.left.rank == problem.n_rows else None


def _first_fit(problem: Problem, smooth: Tables, inverse: Inverse) -> Floats:
    """Newton's first step from a table halfway from the wanted one to even rows, whose logarithms are tame.

    Source: McCullagh and Nelder 1989, "Generalized linear models", section 2.5: the start of iterated weighted fits.
    """
    moves = [
        covariance(p, centred(r, np.log(np.maximum(p, TINY)) - r.base)) + r.wanted - p
        for r, p in zip(problem.rows, smooth, strict=True)
    ]
    goal = problem.adjoint(moves)
    return conjugate_gradients(problem.hessian(smooth), goal, inverse, FIRST * norm(goal))[0]


def nearest(problem: Problem, aims: Tables, size: float = 0.0) -> Floats:
    """The w whose scores are nearest to aims (row, key; each row centred over its allowed keys), by least squares.

    size : what aims are a small rest of, as moments; what is rounding beside it is left
    """
    even = [r.even for r in problem.rows]
    goal = problem.adjoint([u * g for u, g in zip(even, aims, strict=True)])
    tolerance = max(1e-12 * size, 1e-15 * norm(goal))
    inverse = _by_whole(problem, even) if goal.size <= MOST_WHOLE else by_mean(problem, even)
    return conjugate_gradients(lambda v: problem.adjoint(_bent(problem, even, v)), goal, inverse, tolerance)[0]


def _bent(problem: Problem, weights: Tables, step: Floats) -> Tables:
    return [covariance(p, s) for p, s in zip(weights, problem.linear(step), strict=True)]


def _row_by_row(problem: Problem, aims: Tables) -> Floats:
    """Independent rows: what each needs, fitted alone, then joined (left is square and orthogonal)."""
    needed = []
    for r, goal, (_, right) in zip(problem.rows, aims, problem.key_blocks(), strict=True):
        patterns, which = np.unique(r.allowed, axis=0, return_inverse=True)
        rows = np.empty((len(goal), problem.right.rank))
        for at, allowed in enumerate(patterns):
            keys = right[allowed] - right[allowed].mean(axis=0)
            mine = np.flatnonzero(which.ravel() == at)
            rows[mine] = np.linalg.lstsq(keys, goal[mine][:, allowed].T, rcond=1e-13)[0].T
        needed.append(rows)
    left = problem.left.white
    return np.asarray(left.T @ np.concatenate(needed) / problem.scale)


def _fits(problem: Problem, aims: Tables, w: Floats) -> bool:
    """True where the scores of a fit come so near to the aims that its table is worth a look."""
    made = zip(problem.rows, aims, problem.linear(w), strict=True)
    return all(norm(goal - (centred(r, s) if r.masked else s)) <= NEARLY * math.sqrt(goal.size) for r, goal, s in made)


def _closed_in(problem: Problem, aims: Tables, found: Found) -> Found:
    """What Newton's method came so near to that it may be reached: fitted, where that is nearer."""
    if found.loss > CLOSE or problem.ridge:
        return found
    here = problem.point(found.w)
    left = [centred(r, a - s) for r, a, s in zip(problem.rows, aims, problem.linear(found.w), strict=True)]
    try:
        there = problem.point(found.w + nearest(problem, left))
    except KeyboardInterrupt:
        return found
    return _reached(problem, there, found.steps) if _off(problem, there) < min(CLOSE, _off(problem, here)) else found


def _off(problem: Problem, at: Point) -> float:
    """The largest difference of a weight from the wanted one."""
    return max(float(np.abs(p - r.wanted).max(initial=0.0)) for p, r in zip(at.reached, problem.rows, strict=True))


def _reached(problem: Problem, at: Point, steps: int) -> Found:
    return Found(at, at.loss, norm(problem.gradient(at)), steps)


# Newton -------------------------------------------------------------------------------------------


def newton(problem: Problem, best: Point, inverse: Inverse, progress: Progress | None = None) -> Found:
    """Newton's method with conjugate gradients and halved steps; stops at a gap of ``GAP``, or where rounding rules.

    A step is as exact as the last one lets expect that it is of use, and as the proof needs it where that is near.
    Ctrl-C ends the search with the best so far, ``finished`` False.

    inverse : something near the inverse of the Hessian
    """
    gradient = problem.gradient(best)
    bound, promised, at, n_products, finished = 0.0, math.inf, 0, 0, False  # no loss is less than 0
    enough, near = (0.3 * REPAIRED, NEAR) if problem.repairable else (0.3 * ROUNDING, NEARER)
    try:
        for at in range(MOST_STEPS):
            size = norm(gradient)
            if n_products > MANY_PRODUCTS:
                inverse = _better_inverse(problem, best.reached)
            tolerance = min(0.1, promised) * size if promised**2 > near else min(0.1 * size, enough)
            product = problem.hessian(best.reached)
            if progress is not None:
                product = _told(product, functools.partial(progress, at, best.loss, best.loss - bound))
            step, n_products = conjugate_gradients(product, gradient, inverse, tolerance)
            promised = 0.5 * float(np.vdot(gradient, step))
            if promised <= near and tolerance <= enough:
                proven = certificate(problem, best, gradient, step)
                bound = max(bound, best.loss - proven)
                if proven >= best.loss:  # weights so small that no moment can be made good: then all must be equal
                    enough = 0.3 * ROUNDING
            if progress is not None:
                progress(at, best.loss, best.loss - bound)
            move = _polished if best.loss - bound <= 2 * near else _downhill
            moved = move(problem, best, gradient, step) or move(problem, best, gradient, inverse(gradient))
            if moved is not None:
                best, gradient = moved
            finished = best.loss - bound <= GAP
            if finished or (moved is None and tolerance <= enough):
                break
            promised = promised if moved is not None else 0.0  # as near as rounding lets: what is left is the proof
    except KeyboardInterrupt:
        finished = False
    return Found(best, max(0.0, best.loss - bound), norm(gradient), at, finished)


def _told(product: Callable[[Floats], Floats], tell: Callable[[], None]) -> Callable[[Floats], Floats]:
    """The same map; now and then it tells, so that a step of many products can be stopped on its way."""
    last = time.monotonic()

    def telling(v: Floats) -> Floats:
        nonlocal last
        if time.monotonic() - last >= SILENCE:
            tell()
            last = time.monotonic()
        return product(v)

    return telling


def _polished(problem: Problem, best: Point, gradient: Floats, step: Floats) -> tuple[Point, Floats] | None:
    """A whole step, where it halves the gradient: the loss is too near its least for its differences to show."""
    moved = problem.point(best.w - step)
    there, size = problem.gradient(moved), norm(gradient)
    return (moved, there) if size > 1e-14 and norm(there) < 0.5 * size else None


def _downhill(problem: Problem, best: Point, gradient: Floats, step: Floats) -> tuple[Point, Floats] | None:
    """The first of 1, ½, ¼ … steps that is enough of a descent, and its gradient; None where rounding leaves none."""
    slope, size = float(np.vdot(gradient, step)), 1.0
    for _ in range(40):
        moved = problem.point(best.w - size * step)
        if moved.loss <= best.loss - 1e-4 * size * slope and moved.loss < best.loss:
            return moved, problem.gradient(moved)
        size /= 2
    return None


def certificate(problem: Problem, at: Point, gradient: Floats, step: Floats) -> float:
    """How much better than this point any other could be at most, in nats (see the top of this module)."""
    bend = _bent(problem, at.reached, step)
    if problem.repairable and (share := _repaired(problem, at, gradient, bend)).max() < 1:
        return min(at.loss, _divergence(at.reached[0], share))
    shares = [b / np.maximum(p, TINY) for p, b in zip(at.reached, bend, strict=True)]
    most = max(float(share.max()) for share in shares)
    size = 1.0 if most < 1 else 0.99 / most  # a table is not negative
    moments = gradient - size * problem.adjoint(bend)  # with the ridge's pull at w
    if not problem.ridge and norm(moments) > ROUNDING * max(1.0, problem.scale):
        return at.loss  # the wanted table is such a p′ itself
    divergence = sum(_divergence(p, size * share) for p, share in zip(at.reached, shares, strict=True))
    return min(at.loss, divergence + (problem.price(moments) if problem.ridge else 0.0))


def _repaired(problem: Problem, at: Point, gradient: Floats, bend: Tables) -> Floats:
    """(row, key) What the weights lose, as shares of them, where every moment is made good."""
    ((left, right),) = problem.key_blocks()
    rest = (gradient - problem.adjoint(bend)) / problem.scale
    return np.asarray((bend[0] + left.dot(rest).dot(right.T)) / np.maximum(at.reached[0], TINY))


def _divergence(p: Floats, share: Floats) -> float:
    """Σ KL(p · (1 − share) ‖ p), as a sum of terms that are not negative, for rows of equal sums."""
    return float(np.vdot(p, (1 - share) * np.log1p(-share) + share))


# linear algebra -----------------------------------------------------------------------------------


def as_it_is(v: Floats) -> Floats:
    """In white coordinates the Hessian of rows that may read every key is near a multiple of the identity."""
    return v


def by_mean(problem: Problem, weights: Tables) -> Inverse:
    """Near the inverse of the Hessian: the covariances of the keys under all rows are taken to be their mean."""
    total = sum(_KeyCovariances(p, right).total() for p, (_, right) in zip(weights, problem.key_blocks(), strict=True))
    mean = problem.scale**2 * np.asarray(total) / problem.n_rows
    floor = 1e-8 * float(np.trace(mean)) / len(mean) + problem.ridge_floor + 1e-300
    inverse = np.linalg.inv(mean + np.eye(len(mean)) * floor)
    return lambda v: np.asarray(v.dot(inverse))


def _better_inverse(problem: Problem, reached: Tables) -> Inverse:
    """The inverse of the Hessian Σ left_i left_iᵀ ⊗ B_i, B_i the covariance of the keys under row i, where it is affordable.

    Small ones are inverted whole; independent rows one by one (exact but for the ridge).
    """
    n_left, n_right = problem.shape
    if n_left * n_right <= (MOST_WHOLE_STEEP if problem.ridge else MOST_WHOLE):
        return _by_whole(problem, reached)
    if n_left == problem.n_rows and problem.n_rows * n_right**3 < MOST_ALONE:
        return _row_by_row_inverse(problem, reached)
    return by_mean(problem, reached)


def _row_by_row_inverse(problem: Problem, reached: Tables) -> Inverse:
    left = problem.left.white
    blocks = zip(reached, problem.key_blocks(), strict=True)
    each = problem.scale**2 * np.concatenate([_KeyCovariances(p, right).each() for p, (_, right) in blocks])
    width = each.shape[-1]
    floor = 1e-8 * np.trace(each, axis1=1, axis2=2)[:, None, None] / width + problem.ridge_floor + 1e-300
    inverses = np.linalg.inv(each + np.eye(width) * floor)
    return lambda v: np.asarray(left.T @ np.matmul(inverses, (left @ v)[:, :, None])[:, :, 0])


def whole_hessian(problem: Problem, weights: Tables) -> Floats:
    """(number of w, number of w) Σ left_i left_iᵀ ⊗ B_i, without the ridge, where rows have these weights."""
    n_left, n_right = problem.shape
    blocks = zip(weights, problem.key_blocks(), strict=True)
    each = np.concatenate([_KeyCovariances(p, right).each() for p, (_, right) in blocks])
    left = problem.left.white
    pairs = (left[:, :, None] * left[:, None, :]).reshape(len(left), -1)
    whole = (pairs.T @ (problem.scale**2 * each).reshape(len(each), -1)).reshape(n_left, n_left, n_right, n_right)
    return np.ascontiguousarray(whole.transpose(0, 2, 1, 3)).reshape(n_left * n_right, -1)


def _by_whole(problem: Problem, weights: Tables) -> Inverse:
    """By Cholesky, with the ridge, and a floor under directions that no row sees."""
    from scipy.linalg import cho_factor, cho_solve

    hessian = whole_hessian(problem, weights)
    diagonal = hessian.ravel()[:: len(hessian) + 1]
    floor = 1e-15 if problem.ridge else 1e-10  # a ridge is under every direction itself
    diagonal += problem.pull(np.ones(problem.shape)).ravel() + floor * diagonal.max() + 1e-300
    factor = cho_factor(hessian, lower=True, overwrite_a=True, check_finite=False)
    return lambda v: np.asarray(cho_solve(factor, v.ravel(), check_finite=False)).reshape(v.shape)


@dataclass(frozen=True)
class _KeyCovariances:
    """The covariances of white keys (key, direction) under each row's weights (row, key)."""

    weights: Floats
    right: Floats

    def each(self) -> Floats:
        """(row, direction, direction)."""
        means = self.weights @ self.right
        spread = np.matmul(self.right.T[None], self.weights[:, :, None] * self.right[None])
        return np.asarray(spread - means[:, :, None] * means[:, None, :])

    def total(self) -> Floats:
        """(direction, direction) their sum."""
        means = self.weights @ self.right
        return np.asarray(self.right.T @ (self.weights.sum(axis=0)[:, None] * self.right) - means.T @ means)


def conjugate_gradients(
    product: Callable[[Floats], Floats],
    goal: Floats,
    inverse: Inverse,
    tolerance: float,
    most: int = MOST_PRODUCTS,
) -> tuple[Floats, int]:
    """The x with product(x) = goal, and the number of products, by preconditioned conjugate gradients from 0.

    From 0, so that x has no part that the product takes to 0; ends where only such parts are left, which are rounding.
    """
    x, residual = np.zeros(goal.shape), goal.copy()
    ready = inverse(residual)
    direction = ready.copy()
    energy = inner(residual, ready)
    n_products, steepest, enough = 0, 0.0, tolerance**2
    while n_products < most and energy > 0 and (energy if ready is residual else inner(residual, residual)) > enough:
        bent = product(direction)
        curvature = inner(direction, bent)
        steep = curvature / inner(direction, direction)
        steepest = max(steepest, steep)
        if not steep > FLAT * steepest:
            break
        length = energy / curvature
        x += length * direction
        bent *= length
        residual -= bent
        ready = inverse(residual)
        energy, before = inner(residual, ready), energy
        direction *= energy / before
        direction += ready
        n_products += 1
    return x, n_products


def inner(a: Floats, b: Floats) -> float:
    """Σ a·b."""
    return float(a.ravel().dot(b.ravel()))


def norm(a: Floats) -> float:
    """√Σ a²."""
    return math.sqrt(inner(a, a))
