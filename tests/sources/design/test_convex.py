"""The optimum and its proof: against an independent conic solver, and at points that are not finished."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jumok
from design_tables import RULES, Independent, allowed_of, bias_of, divergence, embeddings, reached_by, wanted
from jumok.sources.design import convex
from jumok.sources.design.convex import by_mean, certificate, conjugate_gradients, newton, solve
from jumok.sources.design.problem import Problem, Rows

MASKS = ["everything", "causal", "window", "documents", "alibi", "causal alibi"]


def task_of(rng, rule, n, d, least=1e-6, zeros=0.0, ridge=0.0):
    allowed, x = allowed_of(rule, n), embeddings(rng, n, d)
    base = np.where(allowed, x @ x.T / math.sqrt(d) + bias_of(rule, n), -np.inf)
    return Problem([Rows(x, x, base, wanted(rng, allowed, least, zeros))], 1 / math.sqrt(d), ridge)


# beside another solver ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(132))
def test_plain_tables_agree_with_a_conic_solver(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 9)), int(rng.integers(2, 4))
    rule = RULES[MASKS[seed % len(MASKS)]](n)
    allowed, x = allowed_of(rule, n), embeddings(rng, n, d)
    table = wanted(rng, allowed)
    if seed % 4 == 3:  # some rows are free
        table[rng.random(n) < 0.4] = np.nan
        table[0] = wanted(rng, allowed)[0]
    rows = ~np.isnan(table).any(axis=1)
    base = np.where(allowed, x @ x.T / math.sqrt(d) + bias_of(rule, n), -np.inf)
    least, change = Independent([(x[rows], x, base[rows], table[rows])], 1 / math.sqrt(d)).solve()
    found = jumok.design(x, table, rule=rule)
    agree(found, least)
    theirs = divergence(table, reached_by(x, np.eye(d) + change, rule, d))
    assert found.found[0].loss <= theirs + 1e-8


@pytest.mark.parametrize("seed", range(24))
def test_one_side_given_agrees_with_a_conic_solver(seed):
    rng = np.random.default_rng(1000 + seed)
    n, d, d_k = int(rng.integers(5, 8)), 3, int(rng.integers(1, 4))
    rule = RULES[MASKS[seed % 3]](n)
    allowed, x, side = allowed_of(rule, n), embeddings(rng, n, d), rng.standard_normal((d, d_k))
    table, near = wanted(rng, allowed), rng.standard_normal((d, d_k))
    fixed = ("w_k", "w_q")[seed % 2]
    left, right = (x, x @ side) if fixed == "w_k" else (x @ side, x)
    start = near if fixed == "w_k" else near.T
    base = np.where(allowed, left @ start @ right.T / math.sqrt(d_k), -np.inf)
    least, _ = Independent([(left, right, base, table)], 1 / math.sqrt(d_k)).solve()
    agree(jumok.design(x, table, rule=rule, near=near, **{fixed: side}), least)


@pytest.mark.parametrize("seed", range(24))
def test_sentences_that_share_weights_agree_with_a_conic_solver(seed):
    rng = np.random.default_rng(2000 + seed)
    d, lengths = 3, [int(n) for n in rng.integers(3, 7, 3)]
    rules = [RULES[MASKS[(seed + i) % 3]](n) for i, n in enumerate(lengths)]
    xs = [embeddings(rng, n, d) for n in lengths]
    tables = [wanted(rng, allowed_of(rule, len(x))) for x, rule in zip(xs, rules, strict=True)]
    rows = [
        (x, x, np.where(allowed_of(rule, len(x)), x @ x.T / math.sqrt(d), -np.inf), table)
        for x, rule, table in zip(xs, rules, tables, strict=True)
    ]
    least, _ = Independent(rows, 1 / math.sqrt(d)).solve()
    agree(jumok.design(xs, tables, rule=rules), least)


@pytest.mark.parametrize("seed", range(30))
def test_wanted_zeros_with_a_ridge_agree_with_a_conic_solver(seed):
    rng = np.random.default_rng(3000 + seed)
    n, d, ridge = int(rng.integers(4, 8)), int(rng.integers(2, 5)), float(10 ** rng.uniform(-4, -1))
    rule = RULES[MASKS[seed % 3]](n)
    allowed, x = allowed_of(rule, n), embeddings(rng, n, d)
    table = wanted(rng, allowed, zeros=0.3)
    table[-1] = np.where(np.arange(n) == n - 1, 1.0, 0.0)  # at least these zeros
    base = np.where(allowed, x @ x.T / math.sqrt(d), -np.inf)
    least, _ = Independent([(x, x, base, table)], 1 / math.sqrt(d), ridge).solve()
    agree(jumok.design(x, table, rule=rule, ridge=ridge), least)


def agree(found, least):
    (head,) = found.found
    assert head.finished
    assert 0 <= head.gap < 1e-8
    assert head.loss - head.gap <= least + 1e-7 * max(1, abs(least))
    assert head.loss == pytest.approx(least, abs=2e-6 * max(1.0, least))


# tables that can be reached -----------------------------------------------------------------------


@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 9),
    st.integers(0, 4),
    st.sampled_from(MASKS),
    st.sampled_from([None, 1e2, 9e2, 1e4, 1e6, 1e8]),
)
def test_tables_over_independent_embeddings_are_reached(seed, n, more, mask, condition):
    rng = np.random.default_rng(seed)
    rule = RULES[mask](n)
    x = embeddings(rng, n, n + more, condition)
    found = jumok.design(x, wanted(rng, allowed_of(rule, n)), rule=rule)
    near = 1e-10 if np.linalg.cond(x) < 1e3 else 1e-7
    assert found.row_difference.max() <= near
    assert found.exact
    assert found.reasons == ()
    assert found.gap < 1e-8


# the proof ----------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from(MASKS[:4]), st.sampled_from([0.0, 1e-6, 1e-2]), st.integers(0, 30))
def test_the_gap_is_never_less_than_the_distance_to_the_best(seed, mask, ridge, products):
    """At random points, at the whole Newton step and at steps that were cut short."""
    rng = np.random.default_rng(seed)
    task = task_of(rng, RULES[mask](7), 7, 3, zeros=0.2 if ridge else 0.0, ridge=ridge)
    best = solve(task)
    assert 0 <= best.gap < 1e-8
    w = best.w + 10 ** rng.uniform(-6, 0.5) * rng.standard_normal(task.shape)
    at = task.point(w)
    gradient = task.gradient(at)
    step, _ = conjugate_gradients(task.hessian(at.reached), gradient, lambda v: v, 1e-15, products)
    for scale in (0.0, 0.5, 1.0, 3.0):
        gap = certificate(task, at, gradient, scale * step)
        assert math.isfinite(gap)
        assert gap >= at.loss - best.loss - 1e-9
        assert gap >= 0


@pytest.mark.parametrize("ridge", [0.0, 1e-3])
@pytest.mark.parametrize("mask", MASKS[:4])
@pytest.mark.parametrize("away", [1e-2, 1e-3, 1e-4])
def test_the_gap_is_not_loose_where_the_step_is_short(mask, ridge, away):
    rng = np.random.default_rng(11)
    task = task_of(rng, RULES[mask](9), 9, 2, least=0.02, ridge=ridge)
    best = solve(task)
    at = task.point(best.w + away * rng.standard_normal(task.shape))
    gradient = task.gradient(at)
    step, _ = conjugate_gradients(task.hessian(at.reached), gradient, lambda v: v, 1e-13)
    distance = at.loss - best.loss
    assert 1e-11 < distance < 1e-3
    assert distance - 1e-12 <= certificate(task, at, gradient, step) <= 3 * distance


@pytest.mark.parametrize("ridge", [0.0, 1e-4])
@pytest.mark.parametrize("mask", MASKS[:4])
@pytest.mark.parametrize("steps", [1, 2, 3, 9])
def test_a_search_that_is_cut_short_says_how_far_it_may_be(monkeypatch, mask, ridge, steps):
    task = task_of(np.random.default_rng(steps), RULES[mask](9), 9, 2, zeros=0.1 if ridge else 0.0, ridge=ridge)
    best = solve(task)
    told = []
    monkeypatch.setattr(convex, "MOST_STEPS", steps)
    start = task.point(np.zeros(task.shape))
    found = newton(task, start, by_mean(task, start.reached), lambda *a: told.append(a))
    assert len(told) <= steps
    assert found.finished == (found.gap <= convex.GAP)
    assert found.finished or steps < 9
    for loss, gap in [*((loss, gap) for _, loss, gap in told), (found.loss, found.gap)]:
        assert gap >= loss - best.loss - 1e-12
        assert gap >= 0


def test_the_gap_is_small_only_where_the_gradient_is():
    task = task_of(np.random.default_rng(0), RULES["everything"](9), 9, 3)
    found = solve(task)
    assert found.gradient < 1e-6
    assert found.gap <= convex.GAP
    assert found.loss > 0.1


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("n", "d"), [(30, 16), (24, 20)])
def test_tables_that_are_nearly_one_hot_have_a_proof_too(n, d, seed):
    """Their best weights go down to 1e-100, where no moment can be made good."""
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.full(n, 0.05), n) + 1e-6
    found = jumok.design(rng.standard_normal((n, d)), table / table.sum(axis=1, keepdims=True))
    assert found.finished
    assert found.gap < 1e-8


# being stopped ------------------------------------------------------------------------------------


@pytest.mark.parametrize("zeros", [0.0, 0.2])
@pytest.mark.parametrize("at_step", [0, 2])
def test_ctrl_c_ends_with_the_best_so_far_and_its_gap(zeros, at_step):
    rng = np.random.default_rng(8)
    x = embeddings(rng, 12, 4)
    table = wanted(rng, np.ones((12, 12), bool), zeros=zeros)

    def stop(head, step, loss, gap):
        if step == at_step:
            raise KeyboardInterrupt

    stopped = jumok.design(x, table, progress=stop)
    best = jumok.design(x, table)
    assert best.finished
    assert not stopped.finished
    assert math.isfinite(stopped.gap)
    assert stopped.gap >= stopped.found[0].loss - best.found[0].loss - 1e-12
    assert stopped.found[0].loss > best.found[0].loss + 1e-9
    told = []
    again = jumok.design(x, table, start=stopped, progress=lambda *a: told.append(a))
    assert again.finished
    assert told[0][2] <= stopped.found[0].loss + 1e-9
    assert again.found[0].loss == pytest.approx(best.found[0].loss, abs=1e-9)
    np.testing.assert_allclose(again.reached, best.reached, atol=1e-6)


def test_a_long_step_tells_of_itself_and_can_be_stopped(monkeypatch):
    rng = np.random.default_rng(8)
    x, table = embeddings(rng, 12, 4), wanted(rng, np.ones((12, 12), bool))
    told = []

    def stop(*now):
        told.append(now)
        if len(told) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(convex, "SILENCE", 0.0)
    stopped = jumok.design(x, table, progress=stop)
    assert [step for _, step, _, _ in told] == [0, 0, 0]  # in the middle of the first step
    assert told[0] == told[2]
    assert not stopped.finished
    assert stopped.found[0].loss == told[0][2]


def test_a_start_at_the_best_needs_no_step():
    rng = np.random.default_rng(9)
    x, table = embeddings(rng, 12, 4), wanted(rng, np.tril(np.ones((12, 12), bool)))
    best = jumok.design(x, table, rule="causal")
    again = jumok.design(x, table, rule="causal", start=(best.w_q, best.w_k))
    assert again.found[0].steps <= 1
    assert again.gap < 1e-9


def test_conjugate_gradients_solve_a_system():
    rng = np.random.default_rng(10)
    a = rng.standard_normal((6, 6))
    a = a @ a.T + np.eye(6)
    goal = rng.standard_normal((2, 3))
    x, _ = conjugate_gradients(lambda v: (a @ v.ravel()).reshape(2, 3), goal, lambda v: v, 1e-12)
    np.testing.assert_allclose((a @ x.ravel()).reshape(2, 3), goal, atol=1e-10)
