"""Every reason: a task with exactly that fault gives exactly that reason, one with two faults gives both; none where
the table is reached; and what is said to lift a reason lifts it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jumok
from design_tables import RULES, allowed_of, embeddings, reached_by, wanted
from jumok.sources.design.reasons import KINDS, dependencies, equal

I4 = np.eye(4)
ABCD, ABCDE = list("abcd"), list("abcde")
ZERO = np.vstack([np.zeros(4), I4])
TWIN = np.vstack([I4, I4[1]])
SUM = np.vstack([I4, [1, 1, 0, 0]])
MEAN = np.vstack([I4, [0.5, 0.5, 0, 0]])

ONE_FAULT = {
    "zero embedding": ("zero-embedding", ZERO, {"a": {"a": 0.6, "b": 0.1}}, {}),
    "zero embedding beside a bias": (
        "zero-embedding", ZERO, {"a": {"a": 0.6, "b": 0.1}}, {"rule": jumok.Rule(bias=jumok.positions.alibi([0.5]))}
    ),
    "query taken to 0": ("zero-embedding", np.eye(5), {"a": {"a": 0.6}}, {"w_q": np.diag([0, 1, 1, 1, 1.0])}),
    "equal queries": ("equal-embeddings", TWIN, {"b": {"a": 0.6, "c": 0.2}, "e": {"a": 0.1, "c": 0.7}}, {}),
    "equal keys": ("equal-embeddings", TWIN, {"a": {"b": 0.6, "e": 0.2}}, {}),
    "equal projected keys": ("equal-embeddings", np.eye(5), {"a": {"b": 0.6, "c": 0.1}}, {"w_k": np.diag([1, 0, 0, 1, 1.0])}),
    "a query that is a sum": ("combination", SUM, {"a": {"a": 0.6}, "b": {"c": 0.5}, "e": {"d": 0.5}}, {}),
    "a key that is a mean": ("combination", MEAN, {"a": {"e": 0.6}}, {}),
    "a forbidden cell": ("forbidden", np.eye(5), {"b": {"b": 0.5, "c": 0.3}}, {"rule": "causal"}),
    "a wanted 0": ("wanted-zero", np.eye(5), {"a": {"b": 0.5, "c": 0.0}}, {}),
    "nothing remains": ("wanted-zero", np.eye(5), {"a": {"b": 0.5, "c": 0.5}}, {}),
    "too small a width": ("rank", np.eye(5), {"a": {"b": 0.6}, "b": {"c": 0.6}}, {"d_k": 1}),
    "too small a width, causal": ("rank", np.eye(5), {"c": {"b": 0.6}, "d": {"a": 0.6}}, {"d_k": 1, "rule": "causal"}),
}  # fmt: skip


def kinds(found):
    return [reason.kind for reason in found.reasons]


@pytest.mark.parametrize("name", ONE_FAULT)
def test_one_fault_is_one_reason(name):
    kind, x, table, options = ONE_FAULT[name]
    found = jumok.design(x, table, tokens=ABCDE, **options)
    assert not found.exact
    assert kinds(found) == [kind]
    (reason,) = found.reasons
    assert reason.kind in KINDS
    assert reason.lifts
    assert (reason.head, reason.sentence) == (0, None if kind == "rank" else 0)


TWO_FAULTS = {
    "zero query and equal keys": (
        np.vstack([np.zeros(4), I4, I4[1]]),
        {"a": {"b": 0.6}, "b": {"c": 0.5, "f": 0.2}},
        {},
        {"zero-embedding", "equal-embeddings"},
    ),
    "equal queries and a mean": (
        np.vstack([I4, I4[1], [0.5, 0, 0.5, 0]]),
        {"b": {"a": 0.5, "d": 0.2}, "e": {"a": 0.1, "d": 0.6}, "d": {"a": 0.2, "c": 0.2, "f": 0.5}},
        {},
        {"equal-embeddings", "combination"},
    ),
    "forbidden and zero": (
        np.eye(6),
        {"b": {"a": 0.5, "c": 0.3}, "d": {"a": 0.5, "b": 0.5}},
        {"rule": "causal"},
        {"forbidden", "wanted-zero"},
    ),
    "wanted 0 and equal keys": (
        np.vstack([np.eye(5), np.eye(5)[1]]),
        {"a": {"b": 0.5, "f": 0.2, "c": 0.0}},
        {},
        {"wanted-zero", "equal-embeddings"},
    ),
    "zero query and a small width": (
        np.vstack([np.zeros(5), np.eye(5)]),
        {"a": {"b": 0.6}, "b": {"c": 0.6}, "d": {"e": 0.6}},
        {"d_k": 1},
        {"zero-embedding", "rank"},
    ),
    "forbidden and a small width": (
        np.eye(6),
        {"c": {"b": 0.6, "f": 0.2}, "d": {"a": 0.6}},
        {"d_k": 1, "rule": "causal"},
        {"forbidden", "rank"},
    ),
    "a sum and a wanted 0": (
        np.vstack([np.eye(5), [1, 1, 0, 0, 0]]),
        {"a": {"a": 0.6}, "b": {"c": 0.5}, "f": {"d": 0.5}, "d": {"a": 0.0}},
        {},
        {"combination", "wanted-zero"},
    ),
}


@pytest.mark.parametrize("name", TWO_FAULTS)
def test_two_faults_are_two_reasons(name):
    x, table, options, both = TWO_FAULTS[name]
    found = jumok.design(x, table, tokens=list("abcdef"), **options)
    assert set(kinds(found)) == both
    assert len(found.reasons) == 2


def test_queries_of_two_sentences_that_contradict_each_other():
    found = jumok.design([I4, I4], [{"a": {"b": 0.7}}, {"a": {"c": 0.7}}], tokens=[ABCD, ABCD])
    (reason,) = found.reasons
    assert (reason.kind, reason.sentence, reason.tokens) == ("contradiction", None, ("a", "a"))
    assert reason.facts["sentences"] == [0, 1]
    assert reason.facts["shares"] == pytest.approx([0.7, 0.1])
    same = jumok.design([I4, I4], [{"a": {"b": 0.7}}, {"a": {"b": 0.7}}], tokens=[ABCD, ABCD])
    assert same.exact
    assert same.reasons == ()


def test_a_contradiction_beside_another_fault():
    found = jumok.design([I4, TWIN], [{"a": {"b": 0.7}}, {"a": {"b": 0.1, "e": 0.4}}], tokens=[ABCD, ABCDE])
    assert set(kinds(found)) == {"contradiction", "equal-embeddings"}


def test_reasons_name_their_head():
    found = jumok.design(
        TWIN,
        [{"a": {"b": 0.6, "e": 0.2}}, {"a": {"b": 0.3, "e": 0.3}}, {"b": {"a": 0.6}, "e": {"a": 0.1}}],
        tokens=ABCDE,
    )
    assert [(reason.kind, reason.head) for reason in found.reasons] == [
        ("equal-embeddings", 0),
        ("equal-embeddings", 2),
    ]
    assert [reason.facts["side"] for reason in found.reasons] == ["key", "query"]


def test_a_task_of_many_ties_says_one_thing_for_each_side():
    rng = np.random.default_rng(0)
    found = jumok.design(embeddings(rng, 12, 4), wanted(rng, np.ones((12, 12), bool)))
    assert kinds(found) == ["combination", "combination"]
    assert [reason.facts["side"] for reason in found.reasons] == ["query", "key"]
    assert [reason.facts["n_directions"] for reason in found.reasons] == [4, 4]


def test_ties_of_no_single_token_are_told_by_the_cell_that_is_worst():
    """A mask under which no dependency of rows or of keys is seen whole, and yet the cells are tied."""
    x = np.array([[2.0, 1], [1, 0], [0, -1], [-1, -1]])
    table = np.array([[1, 0, 0, 0], [1 / 7, 3 / 7, 0, 3 / 7], [0, 3 / 9, 4 / 9, 2 / 9], [0, 1 / 3, 1 / 3, 1 / 3]])
    found = jumok.design(x, table, rule=jumok.allowed.table(table > 0))
    (reason,) = found.reasons
    assert (reason.kind, reason.facts["side"], reason.tokens) == ("combination", "both", ("2", "1"))
    assert reason.facts["off"] > 0.1
    wider = with_own_dimensions(x, list("0123"), lifted(reason, "own-dimension").facts["tokens"])
    assert jumok.design(wider, table, rule=jumok.allowed.table(table > 0)).exact


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(RULES)), st.integers(2, 6), st.integers(1, 5))
def test_a_table_that_some_w_gives_is_reached_and_has_no_reason(seed, mask, n, d):
    """Dependent, equal and zero embeddings too: what they can do is no fault."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-1, 2, (n, d)).astype(float)
    rule = RULES[mask](n)
    table = reached_by(x, rng.standard_normal((d, d)), rule, d)
    found = jumok.design(x, table, rule=rule)
    assert found.exact
    assert found.reasons == ()


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(RULES)), st.integers(2, 7), st.integers(1, 4))
def test_a_table_that_is_not_reached_has_a_reason(seed, mask, n, d):
    rng = np.random.default_rng(seed)
    x = rng.integers(-1, 2, (n, d)).astype(float)
    rule = RULES[mask](n)
    table = wanted(rng, allowed_of(rule, n), least=0.02)
    table[rng.random(n) < 0.3] = np.nan
    if np.isnan(table).all():
        return
    found = jumok.design(x, table, rule=rule)
    assert found.exact == (found.reasons == ())
    if not found.exact and d > 1:
        assert found.found[0].loss > 1e-12


# what lifts a reason ------------------------------------------------------------------------------


def lifted(reason, kind):
    return next(lift for lift in reason.lifts if lift.kind == kind)


def with_own_dimensions(x, tokens, names):
    more = np.zeros((len(x), len(names)))
    more[[tokens.index(name) for name in names], range(len(names))] = 1
    return np.hstack([x, more])


OF_EMBEDDINGS = [
    name
    for name, (kind, _, _, options) in ONE_FAULT.items()
    if kind in ("equal-embeddings", "combination", "zero-embedding") and not {"w_q", "w_k"} & set(options)
]


@pytest.mark.parametrize("name", OF_EMBEDDINGS)
def test_a_dimension_of_its_own_lifts_what_embeddings_cannot_do(name):
    _, x, table, options = ONE_FAULT[name]
    (reason,) = jumok.design(x, table, tokens=ABCDE, **options).reasons
    wider = with_own_dimensions(x, ABCDE, lifted(reason, "own-dimension").facts["tokens"])
    assert jumok.design(wider, table, tokens=ABCDE, **options).exact


@pytest.mark.parametrize("rule", [None, "causal"])
def test_dimensions_of_their_own_lift_many_ties(rule):
    rng = np.random.default_rng(2)
    x = embeddings(rng, 9, 3)
    table = wanted(rng, allowed_of(jumok.Rule(allowed=rule), 9), least=0.01)
    found = jumok.design(x, table, rule=rule)
    names = sorted(
        {name for reason in found.reasons for name in lifted(reason, "own-dimension").facts["tokens"]}, key=int
    )
    wider = with_own_dimensions(x, [str(i) for i in range(9)], names)
    assert jumok.design(wider, table, rule=rule).exact


@pytest.mark.parametrize("name", [name for name, case in ONE_FAULT.items() if case[0] == "rank"])
def test_a_larger_width_lifts_the_rank(name):
    _, x, table, options = ONE_FAULT[name]
    (reason,) = jumok.design(x, table, tokens=ABCDE, **options).reasons
    enough = lifted(reason, "larger-d_k").facts["d_k"]
    assert enough > options["d_k"]
    assert jumok.design(x, table, tokens=ABCDE, **(options | {"d_k": enough})).exact


@pytest.mark.parametrize("name", ["a wanted 0", "nothing remains"])
def test_a_small_weight_lifts_a_wanted_0(name):
    _, x, table, options = ONE_FAULT[name]
    (reason,) = jumok.design(x, table, tokens=ABCDE, **options).reasons
    assert lifted(reason, "small-weight")
    query, *keys = reason.tokens
    told = {key: weight for key, weight in table[query].items() if weight > 0}
    scaled = {key: weight * (1 - 0.001 * len(keys)) for key, weight in told.items()}
    assert jumok.design(x, {query: scaled | dict.fromkeys(keys, 0.001)}, tokens=ABCDE, **options).exact


def test_another_rule_lifts_a_forbidden_cell():
    _, x, table, _ = ONE_FAULT["a forbidden cell"]
    assert jumok.design(x, table, tokens=ABCDE).exact


def test_places_lift_equal_embeddings():
    """A position code tells them apart."""
    _, x, table, _ = ONE_FAULT["equal queries"]
    placed = np.hstack([x, np.eye(5)])
    assert jumok.design(placed, table, tokens=ABCDE).exact


# evidence -----------------------------------------------------------------------------------------


def test_a_zero_embedding_says_what_it_gets_instead():
    (reason,) = jumok.design(ZERO, {"a": {"b": 0.7}}, tokens=ABCDE).reasons
    assert reason.facts["forced"] == pytest.approx(0.2)
    assert (reason.facts["key"], reason.facts["n_keys"], reason.facts["biased"]) == ("b", 5, False)
    rule = jumok.Rule(bias=jumok.positions.alibi([math.log(2)]))
    (reason,) = jumok.design(ZERO, {"a": {"a": 0.01}}, tokens=ABCDE, rule=rule).reasons
    assert reason.facts["biased"]
    assert reason.facts["forced"] == pytest.approx(16 / 31)


def test_equal_embeddings_share_where_both_may_read():
    """Under a causal rule two equal queries may read different keys: only ratios of what both may read are tied."""
    table = {"b": {"a": 0.9, "b": 0.1}, "e": {"a": 0.45, "b": 0.05, "c": 0.3, "d": 0.1, "e": 0.1}}
    x = np.vstack([np.eye(5)[:4], np.eye(5)[1]])
    found = jumok.design(x, table, tokens=ABCDE, rule="causal")
    assert kinds(found) == ["equal-embeddings"]  # of the keys b and e, in the row e
    assert found.reasons[0].facts["side"] == "key"


def test_a_position_bias_alone_may_tell_equal_keys_apart():
    rule = jumok.Rule(bias=jumok.positions.alibi([math.log(2)]))
    table = np.full((5, 5), np.nan)
    table[1] = np.array([2, 4, 2, 1, 0.5]) / 9.5  # b and e have one embedding; the bias halves with each step
    found = jumok.design(TWIN, table, tokens=ABCDE, rule=rule)
    assert found.exact
    assert found.reasons == ()


def test_equal_vectors_are_grouped():
    vectors = np.array([[1.0, 0], [0, 1], [1, 0], [1 + 1e-13, 0], [0.999, 0]])
    assert equal(vectors, [10, 11, 12, 13, 14]) == [[10, 12, 13], [11], [14]]
    assert equal(np.zeros((2, 3)), [0, 1]) == [[0, 1]]


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 4), st.integers(1, 4))
def test_dependent_vectors_are_their_mix_of_the_independent_ones(seed, n, d, rank):
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))
    independent, mixed = dependencies(vectors)
    assert len(independent) == np.linalg.matrix_rank(vectors, tol=1e-8)
    assert sorted([*independent, *(at for at, _ in mixed)]) == list(range(n))
    for at, shares in mixed:
        np.testing.assert_allclose(shares @ vectors[independent], vectors[at], atol=1e-7)


def test_equal_keys_are_one_reason_however_many():
    x = np.vstack([np.eye(4), np.eye(4)[[1, 1]]])  # tokens 1, 4 and 5 are alike
    found = jumok.design(x, {"0": {"1": 0.5, "4": 0.2, "5": 0.1}, "2": {"1": 0.3, "4": 0.3, "5": 0.3}})
    (reason,) = found.reasons
    assert (reason.kind, reason.tokens) == ("equal-embeddings", ("1", "4", "5"))
    assert (reason.facts["pair"], reason.facts["queries"]) == (["1", "5"], ["0"])
    wider = with_own_dimensions(x, list("012345"), lifted(reason, "own-dimension").facts["tokens"])
    assert jumok.design(wider, {"0": {"1": 0.5, "4": 0.2, "5": 0.1}}).exact


def test_equal_embeddings_are_held_against_each_other_where_a_mask_hides_the_first():
    x = np.vstack([np.eye(3), np.eye(3)[[0, 0]]])  # tokens 0, 3 and 4 are alike; 0 reads itself alone
    found = jumok.design(x, {"0": {"0": 1}, "3": {"1": 0.6, "2": 0.1}, "4": {"1": 0.1, "2": 0.6}}, rule="causal")
    assert ("3", "4") in [reason.tokens for reason in found.reasons if reason.kind == "equal-embeddings"]


def test_a_contradiction_is_lifted_by_a_dimension_that_differs_between_the_sentences():
    x = np.eye(4)
    wanted = [{"0": {"1": 0.7}}, {"0": {"2": 0.7}}]
    (reason,) = jumok.design([x, x], wanted).reasons
    assert reason.kind == "contradiction"
    assert lifted(reason, "context-dimension").facts["token"] == "0"
    marked = [np.hstack([x, mark * x[:, :1]]) for mark in (1, -1)]
    assert jumok.design(marked, wanted).exact


def test_a_search_that_was_stopped_gives_no_reason_that_it_has_not_found():
    x, wanted = np.random.default_rng(0).standard_normal((40, 8)), np.eye(40)

    def stop(*_):
        raise KeyboardInterrupt

    found = jumok.design(x, wanted, progress=stop)
    assert not found.finished
    assert "wanted-zero" not in {reason.kind for reason in found.reasons}
