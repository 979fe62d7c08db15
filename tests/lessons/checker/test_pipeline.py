"""The path with nothing wrong is jumok's own, and each wrong stage gives something else."""

import numpy as np
import pytest

import jumok
from jumok.lessons.checker.cases import CASES, case, problem, widths
from jumok.lessons.checker.layouts import Layout
from jumok.lessons.checker.pipeline import Path

QKV = (("q", "q", False), ("k", "k", False), ("v", "v", False))
ONE = (("x", "x", False), ("w_q", "w_q", False), ("w_k", "w_k", False), ("w_v", "w_v", False))
RAW = Layout("raw", QKV, 2)
MASKED = Layout("raw", (*QKV, ("mask", "mask", False)), 2, mask="table")
CAUSAL = Layout("raw", QKV, 2, causal=True)
HEADS = Layout("projected", (*ONE, ("w_o", "w_o", False), ("n_heads", "n_heads", False)), 2, "self", split=True)


def made(layout, name):
    one = case(name)
    return problem(layout, one, widths(layout, one.size))


@pytest.mark.parametrize("name", ["tiny", "different", "equal", "zeros", "extreme"])
def test_without_a_mistake_it_is_attention(name):
    given = made(RAW, name)
    trace = jumok.attend(q=given.xq[None], k=given.xk[None], v=given.xv[None])
    predicted = Path(given).predicted({})
    np.testing.assert_allclose(predicted.weights, trace.weights[0], atol=1e-12)
    np.testing.assert_allclose(predicted.returned, trace.mixed[0], atol=1e-12)


def test_a_mask_and_a_row_without_anything():
    given = made(MASKED, "empty")
    rule = jumok.Rule(allowed=jumok.allowed.table(given.given))
    trace = jumok.attend(q=given.xq[None], k=given.xk[None], v=given.xv[None], rule=rule)
    np.testing.assert_allclose(Path(given).predicted({"empty": "zero"}).returned, trace.mixed[0], atol=1e-12)
    assert np.isnan(Path(given).predicted({"empty": "nan"}).returned[1]).all()
    assert np.allclose(Path(given).predicted({"empty": "uniform"}).returned[1], given.xv.mean(axis=0))


def test_the_future_is_hidden():
    given = made(CAUSAL, "square")
    trace = jumok.attend(q=given.xq[None], k=given.xk[None], v=given.xv[None], rule="causal")
    np.testing.assert_allclose(Path(given).predicted({}).returned, trace.mixed[0], atol=1e-12)


@pytest.mark.parametrize("name", ["tiny", "different", "square"])
def test_heads_and_projections_are_those_of_attend(name):
    given = made(HEADS, name)
    w = {f"w_{role}": w for role, (w, _) in given.projections.items()}
    trace = jumok.attend(x=given.xq, n_heads=given.n_heads, **w)
    np.testing.assert_allclose(Path(given).predicted({}).returned, trace.output, atol=1e-12)


def test_shapes_that_do_not_fit_are_told_and_not_raised():
    assert Path(made(RAW, "different")).predicted({"scores": "no-transpose"}).returned is None
    assert Path(made(RAW, "equal")).predicted({"scores": "no-transpose"}).returned.shape == (4, 4)


def test_stages_are_shared_between_hypotheses():
    path = Path(made(RAW, "square"))
    assert path.predicted({"returned": "weights"}).returned is path.predicted({}).weights


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.name)
def test_cases_are_the_same_each_time(one):
    for layout in (RAW, MASKED, CAUSAL, HEADS):
        first, second = (problem(layout, one, widths(layout, one.size)) for _ in range(2))
        assert np.array_equal(first.xq, second.xq)
        assert np.array_equal(first.xv, second.xv)


def test_extreme_scores_are_near_ten_thousand_and_the_tiny_case_is_small():
    scores = Path(made(RAW, "extreme"))
    largest = np.abs(scores.scaled({**{"scores": "qk"}, **_defaults()})).max()
    assert 2_500 < largest <= 10_000
    assert made(RAW, "tiny").xq.shape == (3, 2)


def _defaults():
    from jumok.lessons.checker.pipeline import DEFAULTS

    return DEFAULTS


@pytest.mark.parametrize("mask", ["table", "keys"])
def test_an_uneven_mask_shows_and_hides_something_in_every_row(mask):
    layout = Layout("raw", (*QKV, ("mask", "mask", False)), 3, mask=mask)
    for name in ("tiny", "different", "square", "equal", "equal-5"):
        given = made(layout, name).given
        assert given.any(axis=-1).all()
        assert not given.all(axis=-1).any()
