"""``jumok.design`` as a whole: the worked example, heads, sentences, odd sizes, and what is refused."""

import math
import unicodedata

import numpy as np
import pytest

import jumok
from design_tables import RULES, allowed_of, divergence, embeddings, reached_by, wanted
from jumok.errors import InputError, JumokError, MissingExtra, ShapeError, UnknownName
from jumok.sources.design.designed import balanced

STUDENT = jumok.load("student")
STUDIES = {"The": 0.02, "student": 0.20, "studies": 0.05, "deep learning": 0.55, "carefully": 0.18}
ASKED = 2 * np.log(np.array([0.20, 0.05, 0.55, 0.18]) / 0.02)  # √d_k · log ratios to The, whose key is 0
NAN = np.nan


# the worked example -------------------------------------------------------------------------------


def student(**options):
    return jumok.design(STUDENT.x, {"studies": STUDIES}, tokens=STUDENT.tokens, **options)


@pytest.mark.parametrize("options", [{"w_k": "identity", "near": "identity"}, {}, {"w_k": np.eye(4)}])
def test_the_query_of_the_worked_example_comes_out(options):
    found = student(**options)
    np.testing.assert_allclose(found.w_q[1], ASKED, atol=1e-9)
    assert [f"{a:.3f}" for a in found.w_q[1]] == ["4.605", "1.833", "6.628", "4.394"]
    np.testing.assert_allclose(np.delete(found.w_q, 1, axis=0), np.delete(np.eye(4), 1, axis=0), atol=1e-12)
    np.testing.assert_array_equal(found.w_k, np.eye(4))
    np.testing.assert_allclose(found.reached[0, 2], list(STUDIES.values()), atol=1e-12)
    assert found.exact
    assert found.reasons == ()
    assert found.gap < 1e-12


def test_with_the_query_side_given_the_keys_are_designed():
    found = student(w_q="identity")
    np.testing.assert_array_equal(found.w_q, np.eye(4))
    np.testing.assert_allclose(found.w_k[:, 1], ASKED, atol=1e-9)
    np.testing.assert_allclose(np.delete(found.w_k, 1, axis=1), np.delete(np.eye(4), 1, axis=1), atol=1e-12)
    assert found.exact
    assert found.fixed == "w_q"


def test_the_trace_of_a_design_is_the_worked_example_itself():
    found = student()
    trace = found.trace()
    np.testing.assert_allclose(trace.weights[0, [1, 3, 4]], jumok.attend(STUDENT).weights[0, [1, 3, 4]], atol=1e-12)
    assert trace.source.kind == "design"
    assert trace.source.details["design"]["exact"] is True
    np.testing.assert_allclose(found.row_error[0, 2], 0, atol=1e-12)
    assert np.isnan(found.row_error[0, [0, 1, 3, 4]]).all()


@pytest.mark.parametrize("d_k", [1, 2, 3, 8])
def test_one_row_needs_but_one_direction(d_k):
    found = student(d_k=d_k)
    assert found.exact
    assert (found.w_q.shape, found.w_k.shape, found.d_k) == ((4, d_k), (4, d_k), d_k)
    assert found.found[0].split == "balanced"


# sizes --------------------------------------------------------------------------------------------


def test_heads_are_designed_each_for_itself():
    rng = np.random.default_rng(0)
    x = embeddings(rng, 5, 5)
    tables = np.stack([wanted(rng, np.ones((5, 5), bool)) for _ in range(3)])
    found = jumok.design(x, tables, near=[np.eye(5), "zero", rng.standard_normal((5, 5))])
    assert found.n_heads == 3
    assert found.w_q.shape == found.w_k.shape == (5, 15)
    assert [head.split for head in found.found] == ["identity", "balanced", "balanced"]
    np.testing.assert_allclose(found.reached, tables, atol=1e-10)
    for head, table in enumerate(tables):
        alone = jumok.design(x, table)
        np.testing.assert_allclose(alone.reached[0], found.reached[head], atol=1e-10)
    again = jumok.attend(x=x, w_q=found.w_q, w_k=found.w_k, w_v=np.eye(5, 15), n_heads=3)
    np.testing.assert_allclose(again.weights, tables, atol=1e-10)


def test_heads_of_a_position_bias_have_each_their_own():
    rng = np.random.default_rng(1)
    rule = jumok.Rule(bias=jumok.positions.alibi([1.0, 0.1]))
    tables = np.stack([wanted(rng, np.ones((4, 4), bool)) for _ in range(2)])
    np.testing.assert_allclose(jumok.design(embeddings(rng, 4, 6), tables, rule=rule).reached, tables, atol=1e-10)


def test_sentences_share_one_w_whose_loss_is_the_sum():
    rng = np.random.default_rng(2)
    xs = [embeddings(rng, n, 3) for n in (5, 4, 6)]
    rules = [RULES["causal"](5), RULES["everything"](4), RULES["window"](6)]
    tables = [wanted(rng, allowed_of(rule, len(x))) for x, rule in zip(xs, rules, strict=True)]
    found = jumok.design(xs, tables, rule=rules, tokens=[list("abcde"), list("vwxy"), list("ghijkl")])
    form = found.w_q @ found.w_k.T
    total = sum(divergence(t, reached_by(x, form, r, 3)) for x, t, r in zip(xs, tables, rules, strict=True))
    assert found.found[0].loss == pytest.approx(total, rel=1e-9)
    assert [r.shape for r in found.reached] == [(1, 5, 5), (1, 4, 4), (1, 6, 6)]
    assert [len(t.tokens) for t in found.traces] == [5, 4, 6]


def test_sentences_that_agree_are_both_reached():
    xs = [np.eye(4)[:3], np.eye(4)[1:]]
    tables = [{"a": {"b": 0.6}}, {"c": {"d": 0.7}}]
    found = jumok.design(xs, tables, tokens=[list("abc"), list("bcd")])
    assert found.exact
    np.testing.assert_allclose([found.reached[0][0, 0, 1], found.reached[1][0, 1, 2]], [0.6, 0.7])


@pytest.mark.parametrize("scale", [0.01, 1.0, 7.0])
def test_a_scale_of_ones_own(scale):
    rng = np.random.default_rng(3)
    table = wanted(rng, np.ones((4, 4), bool))
    found = jumok.design(embeddings(rng, 4, 5), table, rule=jumok.Rule(scale=scale))
    np.testing.assert_allclose(found.reached[0], table, atol=1e-10)


def test_one_token_reads_itself():
    found = jumok.design([[1.0, 2.0]], [[1.0]])
    assert found.exact
    assert found.reached.tolist() == [[[1.0]]]
    np.testing.assert_allclose(found.w_q @ found.w_k.T, np.eye(2), atol=1e-15)


def test_where_all_embeddings_are_0_rows_are_uniform_and_nothing_is_moved():
    found = jumok.design(np.zeros((3, 2)), {"0": {"1": 0.8}})
    np.testing.assert_allclose(found.reached, 1 / 3)
    np.testing.assert_array_equal(found.w_q, np.eye(2))
    assert [reason.kind for reason in found.reasons] == ["zero-embedding", "equal-embeddings"]
    assert found.gap == 0
    assert jumok.design(np.zeros((3, 2)), np.full((3, 3), 1 / 3)).exact


def test_a_row_that_may_read_one_key_is_reached_as_it_is():
    rng = np.random.default_rng(4)
    table = np.full((4, 4), NAN)
    table[0] = [1, 0, 0, 0]
    found = jumok.design(embeddings(rng, 4, 4), table, rule="causal")
    assert found.exact
    np.testing.assert_allclose(found.w_q @ found.w_k.T, np.eye(4), atol=1e-12)


def test_a_wanted_0_is_told_with_the_size_of_w():
    found = jumok.design(np.eye(3), {"0": {"0": 0.5, "1": 0.5}})
    (reason,) = found.reasons
    assert reason.kind == "wanted-zero"
    assert 0 < reason.facts["largest"] < 1e-5
    assert reason.facts["size"] == pytest.approx(np.abs(found.w_q).max())
    assert found.found[0].ridge == reason.facts["ridge"] == 1e-8
    stronger = jumok.design(np.eye(3), {"0": {"0": 0.5, "1": 0.5}}, ridge=1e-4)
    assert stronger.reached[0, 0, 2] > found.reached[0, 0, 2]
    assert np.abs(stronger.w_q).max() < np.abs(found.w_q).max()


def test_a_part_of_the_memory_of_fifty_sentences_is_enough_for_the_tables_and_little_more():
    import tracemalloc

    rng = np.random.default_rng(5)
    xs = [rng.standard_normal((20, 32)) for _ in range(20)]
    tables = [wanted(rng, np.ones((20, 20), bool)) for _ in xs]
    tracemalloc.start()
    found = jumok.design(xs, tables)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.gap < 1e-8
    assert peak < 40e6  # a dense Hessian alone would take (32 · 32)² · 8 = 8.4 MB, one of each row 400 times that


def test_balanced_sides_have_equal_columns_and_fixed_signs():
    rng = np.random.default_rng(6)
    form = rng.standard_normal((5, 3)) @ rng.standard_normal((3, 5))
    q, k = balanced(form, 4)
    np.testing.assert_allclose(q @ k.T, form, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(q, axis=0), np.linalg.norm(k, axis=0), atol=1e-7)
    largest = np.abs(q).argmax(axis=0)
    assert np.all(q[largest, range(4)] >= 0)


def test_the_same_task_gives_the_same_weights():
    rng = np.random.default_rng(7)
    x, table = embeddings(rng, 6, 4), wanted(rng, np.ones((6, 6), bool))
    for options in ({}, {"d_k": 2}):
        one, other = jumok.design(x, table, **options), jumok.design(x, table, **options)
        np.testing.assert_array_equal(one.w_q, other.w_q)
        np.testing.assert_array_equal(one.w_k, other.w_k)


# refusals -----------------------------------------------------------------------------------------

X = np.eye(3)
T = np.full((3, 3), 1 / 3)
BAD = {
    "nothing wanted": (lambda: jumok.design(X, None), InputError, "expects what is wanted"),
    "every row free": (lambda: jumok.design(X, np.full((3, 3), NAN)), InputError, "every row is left free"),
    "d_k 0": (lambda: jumok.design(X, T, 0), InputError, "d_k expects a whole number of at least 1, got 0"),
    "d_k half": (lambda: jumok.design(X, T, 2.5), InputError, "got 2.5"),
    "d_k True": (lambda: jumok.design(X, T, True), InputError, "got True"),
    "soft cap": (lambda: jumok.design(X, T, rule=jumok.Rule(softcap=30)), InputError, "softcap"),
    "sink": (lambda: jumok.design(X, T, rule=jumok.Rule(sink=[0.0])), InputError, "sink"),
    "both sides given": (lambda: jumok.design(X, T, w_q=X, w_k=X), InputError, "nothing is left to design"),
    "w_k of another size": (lambda: jumok.design(X, T, w_k=np.eye(4)), ShapeError, "d_model=4"),
    "w_k beside another d_k": (lambda: jumok.design(X, T, 2, w_k=X), ShapeError, "1 head(s) and d_k = 2"),
    "w_k that heads cannot share": (lambda: jumok.design(X, [T, T], w_k=X), ShapeError, "2 head(s)"),
    "a d_k that nobody needs": (lambda: jumok.design(X, T, 10**30), InputError, "d_k is at most 4,096"),
    "x too large": (lambda: jumok.design(X * 1e200, T), InputError, "the largest number of x is"),
    "x too small": (lambda: jumok.design(X * 1e-200, T), InputError, "the largest number of x is"),
    "w_k too large": (lambda: jumok.design(X, T, w_k=X * 1e150), InputError, "the largest number of w_k is"),
    "near too large": (lambda: jumok.design(X, T, near=X * 1e200), InputError, "the largest number of near is"),
    "a start that is no pair": (lambda: jumok.design(X, T, start="x"), InputError, "start expects"),
    "half a start": (lambda: jumok.design(X, T, start=(X,)), InputError, "start expects"),
    "progress that is no function": (lambda: jumok.design(X, T, progress=5), InputError, "progress expects a function"),
    "the name of an example": (lambda: jumok.design("student"), InputError, "design(jumok.load('student'))"),
    "near of another shape": (lambda: jumok.design(X, T, near=np.eye(4)), ShapeError, "near is (4, 4)"),
    "near that is a word": (lambda: jumok.design(X, T, near="far"), InputError, "'far'"),
    "near of too few heads": (lambda: jumok.design(X, [T, T], near=[X]), ShapeError, "near has 1 parts"),
    "near that is not finite": (lambda: jumok.design(X, T, near=X * NAN), InputError, "near"),
    "a ridge of 0": (lambda: jumok.design(X, T, ridge=0), InputError, "ridge expects a number above 0"),
    "a ridge in words": (lambda: jumok.design(X, T, ridge="small"), InputError, "'small'"),
    "NaN in x": (lambda: jumok.design(X * NAN, T), InputError, "x"),
    "x with one axis": (lambda: jumok.design([1.0, 2.0], T), ShapeError, "x"),
    "a table of another size": (lambda: jumok.design(X, np.eye(4)), ShapeError, "(4, 4), but there are 3 tokens"),
    "tokens of another number": (lambda: jumok.design(X, T, tokens=["a"]), ShapeError, "token=3, but there are 1"),
    "a token that is not there": (lambda: jumok.design(X, {"z": {"a": 1}}, tokens=list("abc")), UnknownName, "'z'"),
    "fewer tables than sentences": (lambda: jumok.design([X, X], [T]), ShapeError, "2 sentences"),
    "sentences of other sizes": (lambda: jumok.design([X, np.eye(4)], [T, np.eye(4)]), ShapeError, "d_model=4"),
    "sentences of other scales": (
        lambda: jumok.design([X, X], [T, T], rule=[jumok.Rule(scale=1), jumok.Rule(scale=2)]), InputError, "scale"
    ),
    "sentences of other heads": (lambda: jumok.design([X, X], [np.stack([T, T]), T]), ShapeError, "heads=1"),
    "a mask of another size": (
        lambda: jumok.design(X, T, rule=jumok.allowed.table(np.ones((4, 4), bool))), JumokError, "4"
    ),
    "a row that the mask forbids": (
        lambda: jumok.design(X, T, rule=jumok.allowed.table(np.eye(3, k=-1, dtype=bool))), InputError, "read nothing"
    ),
    "a start of another size": (lambda: jumok.design(X, T, start=(np.eye(4), np.eye(4))), ShapeError, "start has W_Q"),
    "an unknown rule": (lambda: jumok.design(X, T, rule="casual"), UnknownName, "casual"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_designed_is_refused_in_two_languages(name):
    call, kind, phrase = BAD[name]
    with pytest.raises(kind) as caught:
        call()
    error = caught.value
    assert phrase in error.text("en")
    assert any("HANGUL" in unicodedata.name(letter, "") for letter in error.text("ko"))
    for lang in ("en", "ko"):
        assert "\n" not in error.text(lang)
        assert not error.text(lang).endswith("..")


def test_without_scipy_the_extra_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(MissingExtra, match="design"):
        jumok.design(X, T)


def test_the_result_says_what_it_is():
    assert "exact" in repr(student())
    off = jumok.design(np.zeros((2, 1)), {"0": {"1": 0.9}})
    assert "nats off" in repr(off)
    assert math.isclose(off.found[0].loss, float(np.nansum(off.row_error)), rel_tol=1e-12)


def test_what_is_reached_cannot_be_changed():
    found = jumok.design(X, T)
    with pytest.raises(ValueError, match="read-only"):
        found.reached[0, 0] = 5


@pytest.mark.parametrize("scale", [1e5, 1e6])
def test_a_loss_is_that_of_the_weights_that_are_given_and_a_miss_has_a_reason(scale):
    found = jumok.design(scale * np.eye(3), {0: {1: 0.8}})
    assert found.found[0].loss == pytest.approx(float(np.nansum(found.row_error)), rel=0.1, abs=1e-12)
    assert found.exact != bool(found.reasons)


def test_nearly_dependent_embeddings_are_not_said_to_be_dependent():
    rng = np.random.default_rng(0)
    left, _, right = np.linalg.svd(rng.standard_normal((6, 6)))
    for least in (1e-8, 1e-9, 1e-10):
        found = jumok.design((left * np.geomspace(1, least, 6)) @ right, rng.dirichlet(np.ones(6), 6))
        assert {reason.kind for reason in found.reasons} <= {"rounding"}
        assert found.exact != bool(found.reasons)


def test_one_of_a_thing_is_no_several():
    x = np.eye(3)
    even = np.full((3, 3), 1 / 3)
    assert repr(jumok.design(x, even)) == "Design(1 head, d_k 3, 1 sentence, exact)"
    assert repr(jumok.design([x, x], [[even, even]] * 2)) == "Design(2 heads, d_k 3, 2 sentences, exact)"
