"""The convex problem behind a design: which bilinear form W makes softmax(scale · left W rightᵀ + base) the wanted table.

``left`` is what asks (x, or x W_Q where W_Q is given), ``right`` what is read (x, or x W_K). The sum of
KL(wanted ‖ reached) over the wanted rows is convex in W, for a score is linear in W and log-sum-exp is convex.

Everything is solved in coordinates in which left and right have orthonormal columns: there the condition number of
the embeddings is gone, and W is as small as what can be told apart. Means of keys are taken off first: what all keys
of a sentence share adds the same to every score of a row, and softmax does not see it.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ...trace import Floats

__all__ = [
    "NOTHING",
    "TINY",
    "Basis",
    "Point",
    "Problem",
    "Rows",
    "Tables",
    "basis",
    "centred",
    "covariance",
    "softmax",
    "without_rounding",
]

Tables = Sequence[Floats]  # one (row, key) table a sentence
LEAST = np.finfo(float).min  # the lowest finite score
TINY = 1e-300  # stands for 0 where something is divided by it, or its logarithm is taken
RANK_TOLERANCE = 1e-11  # of the largest singular value: directions below it are rounding
NOTHING = 1e-12  # of the largest entry: what is below is rounding
TALL = 1.5  # times as many vectors as directions
EVEN = 1e-3  # of the largest squared singular value: with none below, no digit that counts is lost in the squares


@dataclass(frozen=True)
class Rows:
    """The wanted rows of one sentence.

    left : (row, d_left) what asks;  right : (key, d_right) what is read
    base : (row, key) scaled scores of the starting point, position bias and all; −inf where a key may not be read
    wanted : (row, key) each row sums to 1, and is 0 where a key may not be read
    """

    left: Floats
    right: Floats
    base: Floats
    wanted: Floats

    @cached_property
    def allowed(self) -> npt.NDArray[np.bool_]:
        """(row, key) True where the key may be read."""
        return self.base > -np.inf

    @cached_property
    def masked(self) -> bool:
        """True where some row may not read every key."""
        return not self.allowed.all()

    @cached_property
    def logs(self) -> Floats:
        """(row, key) log wanted, finite also at 0."""
        return np.asarray(np.log(np.maximum(self.wanted, TINY)))

    @cached_property
    def even(self) -> Floats:
        """(row, key) The same weight on every key that may be read."""
        return np.asarray(self.allowed / self.allowed.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Basis:
    """The directions that vectors have, and how far they reach: vectors = white · diag(sizes) · directionsᵀ.

    white : (vector, direction) orthonormal columns;  sizes : (direction,);  directions : (d, direction)
    """

    white: Floats
    sizes: Floats
    directions: Floats

    @property
    def rank(self) -> int:
        """The number of directions."""
        return len(self.sizes)


def basis(vectors: Floats) -> Basis:
    """The directions of some vectors (vector, d), without those that are only rounding.

    Of many vectors that differ well in every direction, by their d × d products: squared sizes lose nothing there.
    """
    if len(vectors) > TALL * vectors.shape[1]:
        squares, directions = np.linalg.eigh(vectors.T.dot(vectors))
        if squares[0] > EVEN * squares[-1]:
            sizes = np.sqrt(squares)
            return Basis(vectors.dot(directions / sizes), sizes, directions)
    white, sizes, directions = np.linalg.svd(vectors, full_matrices=False)
    rank = np.count_nonzero(sizes > RANK_TOLERANCE * sizes.max(initial=TINY))
    return Basis(white[:, :rank], sizes[:rank], directions[:rank].T)


@dataclass(frozen=True)
class Point:
    """One w, the tables it reaches, and its loss: Σ KL(wanted ‖ reached) in nats, with the ridge's share."""

    w: Floats
    reached: Tables
    loss: float


class Problem:
    """Wanted rows of one or several sentences under one W, in white coordinates.

    ``w`` below is always (direction of left, direction of right). ridge : ρ in ρ/2 · ‖W − start‖², Frobenius, in the
    coordinates of the embeddings; 0 where every allowed cell is wanted above 0. masked : True where some row may not
    read every key of its sentence.
    """

    def __init__(self, rows: Sequence[Rows], scale: float, ridge: float = 0.0) -> None:
        self.rows = list(rows)
        self.scale = scale
        self.ridge = ridge
        self.left = basis(np.concatenate([r.left for r in rows]))
        self.right = basis(np.concatenate([r.right - r.right.sum(axis=0) / len(r.right) for r in rows]))
        self._lefts = _split(self.left.white, [len(r.left) for r in rows])
        self._rights = _split(self.right.white, [len(r.right) for r in rows])
        self._sides = [
            (scale * left, right, scale * left.T, right.T)
            for left, right in zip(self._lefts, self._rights, strict=True)
        ]
        self._ones = np.ones(max(self.right.rank, *(len(r.right) for r in rows)))
        self.masked = any(r.masked for r in rows)
        self.entropy = -sum(float(np.vdot(r.wanted, r.logs)) for r in rows)  # 0·log 0 = 0

    @property
    def shape(self) -> tuple[int, int]:
        """The axes of w."""
        return self.left.rank, self.right.rank

    @property
    def n_rows(self) -> int:
        """The number of wanted rows."""
        return len(self.left.white)

    @cached_property
    def _stretch(self) -> Floats:
        """(direction of left, direction of right) What ‖·‖² in the coordinates of the embeddings makes of each square of w."""
        return np.asarray(1 / np.outer(self.left.sizes, self.right.sizes) ** 2)

    @property
    def roomy(self) -> bool:
        """True where w has at least as many numbers as rows have ratios: then most tables can be reached."""
        return sum(int(r.allowed.sum()) for r in self.rows) - self.n_rows <= self.left.rank * self.right.rank

    @property
    def repairable(self) -> bool:
        """True where every moment can be made good alone: one sentence of which every row may read every key."""
        return len(self.rows) == 1 and not self.masked and not self.ridge

    def linear(self, w: Floats) -> Tables:
        """(row, key) What w adds to the scaled scores."""
        return [left.dot(w).dot(right_t) for left, _, _, right_t in self._sides]

    def adjoint(self, tables: Tables) -> Floats:
        """The transpose of ``linear``: ⟨tables, linear(w)⟩ = ⟨adjoint(tables), w⟩."""
        parts = (left_t.dot(table.dot(right)) for (_, right, left_t, _), table in zip(self._sides, tables, strict=True))
        return functools.reduce(operator.iadd, parts)

    def point(self, w: Floats) -> Point:
        """What w reaches, and how far that is from the wanted table."""
        loss = -self.entropy + 0.5 * self.ridge * (float(np.sum(self._stretch * w**2)) if self.ridge else 0.0)
        reached: list[Floats] = []
        for r, scores in zip(self.rows, self.linear(w), strict=True):
            scores += r.base
            scores -= scores.max(axis=1)[:, None]
            grown = np.exp(scores)
            total = grown.dot(self._ones[: grown.shape[1]])
            grown /= total[:, None]
            reached.append(grown)
            if self.masked:
                np.maximum(scores, LEAST, out=scores)  # −inf times a wanted 0 is 0
            loss += float(np.log(total).sum() - np.vdot(r.wanted, scores))
        return Point(w, reached, max(0.0, loss))

    def gradient(self, at: Point) -> Floats:
        """Of the loss at a point."""
        off = [p - r.wanted for p, r in zip(at.reached, self.rows, strict=True)]
        return self.adjoint(off) + self.pull(at.w) if self.ridge else self.adjoint(off)

    def pull(self, w: Floats) -> Floats:
        """The gradient of the ridge's share; as a map also its Hessian."""
        return self.ridge * self._stretch * w

    def price(self, off: Floats) -> float:
        """‖off‖²/2ρ in the coordinates of the embeddings: what moments that are off by so much cost in the bound."""
        return 0.5 * float(np.sum(off**2 / self._stretch)) / self.ridge

    @property
    def ridge_floor(self) -> float:
        """The least curvature that the ridge gives."""
        return self.ridge * float(self._stretch.min(initial=0.0))

    def hessian(self, reached: Tables) -> Callable[[Floats], Floats]:
        """The Hessian of ``loss`` at what is reached, as a map of steps: where nearly all the time goes."""
        parts = [(*sides, p, p.dot(sides[1])) for sides, p in zip(self._sides, reached, strict=True)]
        ones = self._ones[: self.right.rank]

        def bent(step: Floats) -> Floats:
            total: Any = self.pull(step) if self.ridge else 0.0
            for left, right, left_t, right_t, p, mean in parts:
                asked = left.dot(step)
                moved = asked.dot(right_t)
                moved *= p
                covariance = moved.dot(right)
                asked *= mean
                covariance -= asked.dot(ones)[:, None] * mean
                total += left_t.dot(covariance)
            return np.asarray(total)

        return bent

    def as_weights(self, w: Floats) -> Floats:
        """(d_left, d_right) w in the coordinates of the embeddings."""
        inner = w / np.outer(self.left.sizes, self.right.sizes)
        return self.left.directions @ inner @ self.right.directions.T

    def from_weights(self, weights: Floats) -> Floats:
        """The w of a (d_left, d_right) form: the inverse of ``as_weights``."""
        inner = self.left.directions.T @ weights @ self.right.directions
        return np.asarray(inner * np.outer(self.left.sizes, self.right.sizes))

    def key_blocks(self) -> list[tuple[Floats, Floats]]:
        """(row, direction) and (key, direction): the white vectors of each sentence."""
        return list(zip(self._lefts, self._rights, strict=True))


def softmax(scores: Floats) -> Floats:
    """(row, key) Rows that sum to 1; 0 where the score is −inf."""
    grown = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(grown / grown.sum(axis=-1, keepdims=True))


def centred(rows: Rows, table: Floats) -> Floats:
    """(row, key) Less the mean over the keys that the row may read, and 0 elsewhere: what softmax sees of scores."""
    if not rows.masked:
        return np.asarray(table - table.sum(axis=1, keepdims=True) / table.shape[1])
    kept = np.where(rows.allowed, table, 0.0)
    mean = kept.sum(axis=1, keepdims=True) / rows.allowed.sum(axis=1, keepdims=True)
    return np.where(rows.allowed, kept - mean, 0.0)


def covariance(weights: Floats, table: Floats) -> Floats:
    """(row, key) (diag(p) − p pᵀ) times each row of a table: how weights move when scores do."""
    moved = weights * table
    return np.asarray(moved - weights * moved.sum(axis=-1, keepdims=True))


def without_rounding(matrix: Floats) -> Floats:
    """A matrix with 0 where an entry is nothing beside the largest."""
    size = np.abs(matrix)
    nothing = size <= NOTHING * size.max(initial=0.0)
    return np.where(nothing, 0.0, matrix) if matrix[nothing].any() else matrix


def _split(stacked: Floats, lengths: Sequence[int]) -> list[Floats]:
    ends = itertools.accumulate(lengths)
    return [np.ascontiguousarray(stacked[end - length : end]) for end, length in zip(ends, lengths, strict=True)]
