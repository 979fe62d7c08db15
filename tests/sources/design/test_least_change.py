"""Of all W that reach the same table, the nearest to the start: against a dense least-squares solution."""

import math

import numpy as np
import pytest

import jumok
from design_tables import RULES, allowed_of, bias_of, embeddings, reached_by, wanted
from jumok.sources.design import least_change as module
from jumok.sources.design.convex import solve
from jumok.sources.design.least_change import least_change
from jumok.sources.design.problem import Problem, Rows


def dense(left, right, allowed, scores, near):
    """The W nearest to ``near`` with the scores (row, key) that are given, up to a constant a row; by lstsq."""
    system, goal = [], []
    for i, row in enumerate(allowed):
        first, *others = np.flatnonzero(row)
        for j in others:
            system.append(np.outer(left[i], right[j] - right[first]).ravel())
            goal.append(scores[i, j] - scores[i, first])
    if not system:
        return near
    off = np.array(goal) - np.array(system) @ near.ravel()
    return near + np.linalg.lstsq(np.array(system), off, rcond=1e-10)[0].reshape(near.shape)


CASES = [(rule, n, d) for rule in ("everything", "causal", "window", "documents") for n, d in ((5, 7), (6, 6), (9, 4))]


@pytest.mark.parametrize("fixed", [None, "w_k", "w_q"])
@pytest.mark.parametrize(("rule", "n", "d"), CASES)
def test_the_change_is_the_least_there_is(rule, n, d, fixed):
    rng = np.random.default_rng(n)
    x, side = embeddings(rng, n, d), rng.standard_normal((d, d))
    allowed = allowed_of(RULES[rule](n), n)
    near = rng.standard_normal((d, d))
    given = {} if fixed is None else {fixed: side}
    found = jumok.design(x, wanted(rng, allowed), rule=RULES[rule](n), near=near, **given)
    form = found.w_q @ found.w_k.T
    scores = x @ form @ x.T
    if fixed is None:
        best, mine = dense(x, x, allowed, scores, near), form
    elif fixed == "w_k":
        best, mine = dense(x, x @ side, allowed, scores, near), found.w_q
    else:
        best, mine = dense(x @ side, x, allowed, scores, near.T).T, found.w_k
    np.testing.assert_allclose(mine, best, atol=1e-7 * max(1.0, np.abs(best).max()))


@pytest.mark.parametrize("rule", ["causal", "documents"])
def test_rows_left_free_leave_what_they_would_have_asked_as_it_was(rule):
    rng = np.random.default_rng(3)
    x = np.eye(6)
    table = wanted(rng, allowed_of(RULES[rule](6), 6))
    table[[0, 2, 5]] = np.nan
    found = jumok.design(x, table, rule=RULES[rule](6))
    np.testing.assert_allclose(found.w_q[[0, 2, 5]], np.eye(6)[[0, 2, 5]], atol=1e-12)


def test_without_a_mask_the_answer_is_one_whatever_the_search_began_with():
    rng = np.random.default_rng(4)
    x, table = embeddings(rng, 9, 4), wanted(rng, np.ones((9, 9), bool))
    best = jumok.design(x, table)
    start = rng.standard_normal((4, 4)), np.eye(4)
    np.testing.assert_allclose(jumok.design(x, table, start=start).w_q, best.w_q, atol=1e-4)


# the ways that large tasks go, forced on small ones -------------------------------------------------


def problem(rng, rule, n, d):
    allowed, x = allowed_of(rule, n), embeddings(rng, n, d)
    base = np.where(allowed, bias_of(rule, n), -np.inf)
    return Problem([Rows(x, x, base, wanted(rng, allowed))], 1 / math.sqrt(d))


@pytest.mark.parametrize("rule", ["causal", "window", "documents"])
@pytest.mark.parametrize(("n", "d"), [(5, 7), (6, 6), (9, 4), (8, 6)])
def test_large_tasks_are_solved_as_small_ones_are(monkeypatch, rule, n, d):
    task = problem(np.random.default_rng(n), RULES[rule](n), n, d)
    found = solve(task).at
    small = least_change(task, found)
    monkeypatch.setattr(module, "MOST_WHOLE", 0)
    large = least_change(task, found)
    np.testing.assert_allclose(task.as_weights(large.w), task.as_weights(small.w), atol=1e-7)
    np.testing.assert_allclose(large.reached[0], found.reached[0], atol=1e-10)


def test_a_window_over_many_dependent_tokens_is_reached_with_a_small_w():
    rng = np.random.default_rng(5)
    x = embeddings(rng, 80, 40)
    rule = RULES["window"](80)
    table = wanted(rng, allowed_of(rule, 80), least=0.01)
    found = jumok.design(x, table, rule=rule, near="zero")
    assert found.exact
    form = found.w_q @ found.w_k.T
    np.testing.assert_allclose(reached_by(x, form, rule, 40), table, atol=1e-7)
    other = solve_by_lstsq(x, allowed_of(rule, 80), table)
    assert np.linalg.norm(form) <= np.linalg.norm(other) * (1 + 1e-6)


def solve_by_lstsq(x, allowed, table):
    scores = math.sqrt(x.shape[1]) * np.log(np.where(allowed, table, 1.0))
    return dense(x, x, allowed, scores, np.zeros((x.shape[1], x.shape[1])))


def test_ctrl_c_leaves_w_as_it_is(monkeypatch):
    task = problem(np.random.default_rng(6), RULES["causal"](9), 9, 4)
    found = solve(task).at

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "MOST_WHOLE", 0)
    monkeypatch.setattr(module, "nearest", stop)
    assert least_change(task, found) is found
