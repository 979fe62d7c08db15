"""A width that is too small: above the proven bound, near the best of many random starts, and the rank that is needed."""

import numpy as np
import pytest
from scipy.optimize import minimize

import jumok
from design_tables import RULES, allowed_of, bias_of, divergence, embeddings, wanted
from jumok.sources.design.low_rank import rank_of

FIXED = [
    (rule, n, d, d_k)
    for rule in ("everything", "causal", "causal alibi")
    for n, d, d_k in ((6, 6, 1), (8, 4, 1), (6, 4, 2))
]


def best_of_restarts(x, table, rule, d_k, n_starts=50):
    """The least Σ KL that L-BFGS finds from random factors."""
    rng = np.random.default_rng(0)
    n, d = x.shape
    scale, base = rule.scale_for(d_k), np.where(allowed_of(rule, n), bias_of(rule, n), -np.inf)
    entropy = float(np.sum(table[table > 0] * np.log(table[table > 0])))

    def loss(flat):
        q, k = flat[: d * d_k].reshape(d, d_k), flat[d * d_k :].reshape(d, d_k)
        scores = scale * (x @ q) @ (x @ k).T + base
        scores -= scores.max(axis=1, keepdims=True)
        grown = np.exp(scores)
        total = grown.sum(axis=1, keepdims=True)
        off = scale * (x.T @ (grown / total - table) @ x)
        value = entropy + float(np.log(total).sum() - np.sum(table * np.maximum(scores, -1e9)))
        return value, np.concatenate([(off @ k).ravel(), (off.T @ q).ravel()])

    starts = (rng.standard_normal(2 * d * d_k) for _ in range(n_starts))
    options = {"maxiter": 400}
    return min(float(minimize(loss, start, jac=True, method="L-BFGS-B", options=options).fun) for start in starts)


@pytest.mark.parametrize(("mask", "n", "d", "d_k"), FIXED)
def test_between_the_proven_bound_and_the_best_of_fifty_restarts(mask, n, d, d_k):
    rng = np.random.default_rng(n * d)
    rule, x = RULES[mask](n), embeddings(rng, n, d)
    table = wanted(rng, allowed_of(rule, n))
    found = jumok.design(x, table, d_k=d_k, rule=rule)
    (head,) = found.found
    whole = jumok.design(x, table, rule=jumok.Rule(scale=rule.scale_for(d_k), allowed=rule.allowed, bias=rule.bias))
    assert head.limited
    assert head.bound == pytest.approx(whole.found[0].loss, abs=1e-7)
    assert head.loss >= head.bound
    assert head.gap == head.loss - head.bound
    assert head.loss <= 1.05 * best_of_restarts(x, table, rule, d_k)
    assert head.loss == pytest.approx(divergence(table, found.reached[0]), abs=1e-7)
    assert found.w_q.shape == (d, d_k)
    assert rank_of(found.w_q @ found.w_k.T) <= d_k


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rank", [1, 2, 4])
def test_the_needed_rank_is_that_of_the_centred_logarithms(seed, rank):
    """Complete tables over independent rows: r is exact, at most n − 1, and it is enough."""
    rng = np.random.default_rng(seed)
    n = 6
    logs = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, n))
    table = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
    centred = np.log(table) - np.log(table).mean(axis=1, keepdims=True)
    needed = int(np.linalg.matrix_rank(centred, tol=1e-9))
    x = embeddings(rng, n, n + seed)
    if needed > 1:
        found = jumok.design(x, table, d_k=needed - 1)
        (reason,) = found.reasons
        assert (reason.kind, reason.facts["needed"]) == ("rank", needed)
        assert not found.exact
    assert jumok.design(x, table, d_k=needed).exact


def test_a_full_table_needs_one_less_than_its_tokens():
    rng = np.random.default_rng(7)
    x, table = embeddings(rng, 5, 8), wanted(rng, np.ones((5, 5), bool), least=0.01)
    (reason,) = jumok.design(x, table, d_k=3).reasons
    assert reason.facts["needed"] == 4
    assert jumok.design(x, table, d_k=4).exact


def test_with_a_mask_the_reason_is_the_proven_gap_and_no_rank():
    rng = np.random.default_rng(8)
    x, rule = embeddings(rng, 6, 6), RULES["causal"](6)
    found = jumok.design(x, wanted(rng, allowed_of(rule, 6)), d_k=1, rule=rule)
    (reason,) = found.reasons
    assert reason.kind == "rank"
    assert reason.facts["needed"] is None
    assert reason.facts["gap"] == found.gap > 0
    assert jumok.design(x, found.wanted[0], d_k=reason.facts["enough"], rule=rule).exact


def test_the_bound_holds_for_a_ridge_around_another_start():
    """A start that a small width cannot keep: what is reached and what is proven are of the same ridge problem."""
    rng = np.random.default_rng(9)
    x, table = embeddings(rng, 6, 4), wanted(rng, np.ones((6, 6), bool), zeros=0.3)
    kept = jumok.design(x, table, d_k=2, near=20 * np.eye(4), ridge=1e-3).found[0]
    free = jumok.design(x, table, d_k=2, near="zero", ridge=1e-3).found[0]
    assert kept.loss == pytest.approx(free.loss, rel=1e-6)
    assert kept.bound == pytest.approx(free.bound, rel=1e-6)


def test_a_width_beyond_the_embeddings_is_filled_with_zeros():
    rng = np.random.default_rng(10)
    x, table = embeddings(rng, 4, 4), wanted(rng, np.ones((4, 4), bool))
    found = jumok.design(x, table, d_k=7)
    assert found.exact
    assert found.w_q.shape == (4, 7)
    assert not found.w_q[:, 4:].any()


def test_rank_of():
    assert rank_of(np.diag([3.0, 1e-3, 1e-12])) == 2
    assert rank_of(np.zeros((3, 2))) == 0
    assert rank_of(np.zeros((0, 2))) == 0
