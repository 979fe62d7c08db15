"""Random design tasks, and what is true of them, worked out without jumok's own solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from jumok import Rule, allowed, positions

RULES: dict[str, Any] = {
    "everything": lambda n: Rule(),
    "causal": lambda n: Rule(allowed="causal"),
    "window": lambda n: Rule(allowed=allowed.window(2, 1)),
    "documents": lambda n: Rule(allowed=allowed.document([i // 3 for i in range(n)])),
    "alibi": lambda n: Rule(bias=positions.alibi([0.5])),
    "causal alibi": lambda n: Rule(allowed="causal", bias=positions.alibi([0.25])),
}


def allowed_of(rule: Rule, n: int) -> np.ndarray:
    """(query, key) as plain True and False."""
    return np.array(np.broadcast_to(rule.allowed.block(np.arange(n), np.arange(n)), (n, n)))


def bias_of(rule: Rule, n: int) -> np.ndarray:
    """(query, key) of the first head."""
    if rule.bias is None:
        return np.zeros((n, n))
    return np.asarray(rule.bias.block(np.arange(n), np.arange(n)), dtype=np.float64)[0]


def embeddings(rng: np.random.Generator, n: int, d: int, condition: float | None = None) -> np.ndarray:
    """(token, d_model) random; with a condition number where one is given."""
    x = rng.standard_normal((n, d))
    if condition is None:
        return x
    left, sizes, right = np.linalg.svd(x, full_matrices=False)
    return left * np.geomspace(3, 3 / condition, len(sizes)) @ right


def wanted(rng: np.random.Generator, readable: np.ndarray, least: float = 1e-6, zeros: float = 0.0) -> np.ndarray:
    """(query, key) random rows over allowed keys, no cell below least, but a share of them 0."""
    table = rng.dirichlet(np.full(len(readable), 0.7), len(readable)) + least
    table = np.where(readable, table, 0.0)
    hidden = rng.random(table.shape) < zeros
    hidden[np.arange(len(table)), table.argmax(axis=1)] = False
    table[hidden] = 0.0
    table /= table.sum(axis=1, keepdims=True)
    return np.where(readable, table, 0.0)


def reached_by(x: np.ndarray, form: np.ndarray, rule: Rule, d_k: int) -> np.ndarray:
    """(query, key) what a form M gives, written out."""
    n = len(x)
    scores = rule.scale_for(d_k) * (x @ form @ x.T) + bias_of(rule, n)
    scores = np.where(allowed_of(rule, n), scores, -np.inf)
    grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    return grown / grown.sum(axis=1, keepdims=True)


def divergence(table: np.ndarray, reached: np.ndarray) -> float:
    """Σ KL(table ‖ reached) over the rows that are not NaN."""
    rows = ~np.isnan(table).any(axis=1)
    a, p = table[rows], reached[rows]
    seen = a > 0
    return float(np.sum(a[seen] * np.log(a[seen] / p[seen])))


@dataclass
class Independent:
    """The same convex problem, written for a conic solver: minimise Σ (t − a·s) with Σ exp(s − t) ≤ 1 in each row."""

    rows: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]  # left, right, base with −inf, wanted
    scale: float
    ridge: float = 0.0

    def solve(self) -> tuple[float, np.ndarray]:
        """The least Σ KL with the ridge's share, and the W (change from the start) that has it."""
        shape = self.rows[0][0].shape[1], self.rows[0][1].shape[1]
        change = cp.Variable(shape[0] * shape[1])
        total, entropy, limits = 0, 0.0, []
        for left, right, base, table in self.rows:
            i, j = np.nonzero(base > -np.inf)
            scores = (self.scale * (left[i][:, :, None] * right[j][:, None, :]).reshape(len(i), -1)) @ change + base[
                i, j
            ]
            top = cp.Variable(len(left))
            of_row = sp.csr_matrix((np.ones(len(i)), (i, np.arange(len(i)))), shape=(len(left), len(i)))
            limits.append(of_row @ cp.exp(scores - top[i]) <= 1)
            total += cp.sum(top) - table[i, j] @ scores
            entropy += float(-np.sum(table[table > 0] * np.log(table[table > 0])))
        if self.ridge:
            total += self.ridge / 2 * cp.sum_squares(change)
        task = cp.Problem(cp.Minimize(total), limits)
        task.solve(solver="CLARABEL")
        assert task.status == "optimal"
        return float(task.value) - entropy, change.value.reshape(shape)
