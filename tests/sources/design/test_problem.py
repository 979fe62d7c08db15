"""The convex problem: derivatives against differences, white coordinates against the embeddings' own."""

import numpy as np
import pytest

from design_tables import RULES, allowed_of, divergence, embeddings, wanted
from jumok.sources.design.problem import Problem, Rows, basis, centred, covariance, softmax


def problem(rule="everything", n=6, d=4, seed=0, ridge=0.0, sentences=1):
    rng = np.random.default_rng(seed)
    allowed = allowed_of(RULES[rule](n), n)
    rows = []
    for _ in range(sentences):
        x = embeddings(rng, n, d)
        rows.append(Rows(x, x, np.where(allowed, x @ x.T / 2, -np.inf), wanted(rng, allowed)))
    return Problem(rows, 0.5, ridge)


CASES = [problem(), problem("causal"), problem("window", ridge=0.1), problem("causal", sentences=3)]


@pytest.mark.parametrize("task", CASES)
def test_gradient_and_hessian_are_those_of_the_loss(task):
    rng = np.random.default_rng(1)
    w, step = rng.standard_normal(task.shape), rng.standard_normal(task.shape)
    h = 1e-5
    here, ahead, behind = task.point(w), task.point(w + h * step), task.point(w - h * step)
    slope = (ahead.loss - behind.loss) / (2 * h)
    assert np.vdot(task.gradient(here), step) == pytest.approx(slope, rel=1e-6)
    bend = (task.gradient(ahead) - task.gradient(behind)) / (2 * h)
    np.testing.assert_allclose(task.hessian(here.reached)(step), bend, atol=1e-7)


@pytest.mark.parametrize("task", CASES)
def test_adjoint_is_the_transpose_of_linear(task):
    rng = np.random.default_rng(2)
    w = rng.standard_normal(task.shape)
    tables = [rng.standard_normal(r.wanted.shape) for r in task.rows]
    moved = sum(np.vdot(a, b) for a, b in zip(tables, task.linear(w), strict=True))
    assert np.vdot(task.adjoint(tables), w) == pytest.approx(moved, rel=1e-12)


@pytest.mark.parametrize("task", CASES)
def test_a_form_in_white_coordinates_gives_the_tables_of_the_embeddings(task):
    form = np.random.default_rng(3).standard_normal((4, 4))
    reached = task.point(task.from_weights(form)).reached
    for r, table in zip(task.rows, reached, strict=True):
        np.testing.assert_allclose(table, softmax(r.base + 0.5 * r.left @ form @ r.right.T), atol=1e-12)
    again = task.as_weights(task.from_weights(form))
    np.testing.assert_allclose(again, form, atol=1e-12)


def test_loss_is_the_divergence_and_the_ridge_is_in_the_embeddings_coordinates():
    task = problem(ridge=0.2)
    form = np.random.default_rng(4).standard_normal((4, 4))
    at = task.point(task.from_weights(form))
    assert at.loss == pytest.approx(divergence(task.rows[0].wanted, at.reached[0]) + 0.1 * np.sum(form**2), rel=1e-12)


def test_a_basis_leaves_out_what_is_only_rounding():
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((7, 2)) @ rng.standard_normal((2, 5))
    found = basis(vectors)
    assert found.rank == 2
    np.testing.assert_allclose(found.white * found.sizes @ found.directions.T, vectors, atol=1e-12)
    assert basis(np.zeros((3, 4))).rank == 0
    assert basis(np.zeros((0, 4))).rank == 0


@pytest.mark.parametrize("least", [0.5, 1e-1, 1e-3, 1e-9])
def test_a_basis_of_many_vectors_is_as_exact_as_of_few(least):
    rng = np.random.default_rng(8)
    sizes = np.geomspace(1, least, 5)
    vectors = np.linalg.qr(rng.standard_normal((40, 5)))[0] * sizes @ np.linalg.qr(rng.standard_normal((5, 5)))[0]
    found = basis(vectors)
    np.testing.assert_allclose(found.white.T @ found.white, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(np.sort(found.sizes), np.sort(sizes), rtol=1e-6)
    np.testing.assert_allclose(found.white * found.sizes @ found.directions.T, vectors, atol=1e-14)


def test_centred_rows_are_what_softmax_sees():
    task = problem("causal")
    table = np.random.default_rng(6).standard_normal((6, 6))
    seen = centred(task.rows[0], table)
    np.testing.assert_allclose(seen.sum(axis=1), 0, atol=1e-14)
    hidden = ~task.rows[0].allowed
    assert np.all(seen[hidden] == 0)
    masked = np.where(hidden, -np.inf, table)
    np.testing.assert_allclose(softmax(np.where(hidden, -np.inf, seen)), softmax(masked), atol=1e-15)


def test_covariance_moves_weights_as_softmax_does():
    rng = np.random.default_rng(7)
    scores, step, h = rng.standard_normal((3, 5)), rng.standard_normal((3, 5)), 1e-6
    moved = (softmax(scores + h * step) - softmax(scores - h * step)) / (2 * h)
    np.testing.assert_allclose(covariance(softmax(scores), step), moved, atol=1e-9)
