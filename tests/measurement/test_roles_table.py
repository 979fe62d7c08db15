"""What every head is said to do: heads of one kind get their role, the sink is told apart, and shards merge to the same bits."""

import dataclasses

import numpy as np
import pytest
from scipy import stats

import jumok
from jumok import Rule, Token, Trace
from jumok.errors import InputError
from jumok.measurement.corpus.sentence import Sentence, Word
from jumok.measurement.roles.definitions import definition
from jumok.measurement.roles.evidence import Ratio, corrected, interval, p_values, resamples, t_tail
from jumok.measurement.roles.marked import marked
from jumok.measurement.roles.streamed import scores
from jumok.measurement.roles.table import ENOUGH, FALSE_SHARE, head_table
from jumok.measurement.roles.tally import N_GROUPS, Tally
from jumok.sources.example import load
from jumok.trace import Reading

WORDS = [*"abcdefgh"]


def sharp(table):
    """(query, key) q and k whose head reads where the table is 1, with most of its weight; even where it is 0."""
    n = len(table)
    return 8.0 * np.sqrt(n) * np.asarray(table, dtype=float)[None], np.eye(n)[None]


def trace_of(table, texts, rule=None):
    q, k = sharp(table)
    return Trace(texts, q, k, k, rule or Rule())


def sentences(n, seed=0, least=6, most=14):
    draw = np.random.default_rng(seed)
    return [["[CLS]", *draw.choice(WORDS, draw.integers(least, most)), "[SEP]"] for _ in range(n)]


def tallied(traces, known=None):
    made = None
    for at, trace in enumerate(traces):
        found = scores(trace, known[at] if known else marked(trace.tokens))
        made = made or Tally(found.n_heads)
        made.add(at, found)
    return made


def shifted(n, offset):
    return np.eye(n, k=offset)


def same(texts):
    return np.array([[a == b and i != j for j, b in enumerate(texts)] for i, a in enumerate(texts)])


def induced(texts):
    n = len(texts)
    return np.array([[0 < k < q and texts[k - 1] == texts[q] for k in range(n)] for q in range(n)])


HEADS = {
    "previous": lambda texts: shifted(len(texts), -1),
    "next": lambda texts: shifted(len(texts), 1),
    "self": lambda texts: shifted(len(texts), 0),
    "offset:-3": lambda texts: shifted(len(texts), -3),
    "first": lambda texts: np.eye(1, len(texts)).repeat(len(texts), 0),
    "separator": lambda texts: np.eye(1, len(texts), len(texts) - 1).repeat(len(texts), 0),
    "same-token": same,
    "induction": induced,
    "broad": lambda texts: np.zeros((len(texts), len(texts))),
}


@pytest.mark.parametrize("rule", [None, "causal"])
@pytest.mark.parametrize("role", HEADS)
def test_a_head_that_is_made_for_a_role_gets_it(role, rule):
    if rule == "causal" and role in ("next", "separator"):
        return  # these look ahead
    texts = sentences(30)
    table = head_table(tallied([trace_of(HEADS[role](one), one, rule) for one in texts]))
    found = table.role_of(0, 0)
    assert found.role == role
    assert found.low > 0
    assert found.low <= found.difference <= found.high
    assert found.q <= FALSE_SHARE


def test_a_head_of_one_place_is_positional_too():
    table = head_table(tallied([trace_of(shifted(len(one), -1), one) for one in sentences(30)]))
    rows = {row.role: row for row in table.of(0, 0)}
    assert rows["positional"].score == 1.0
    assert rows["positional"].baseline_rule == "threshold"
    assert rows["positional"].evidence
    assert not rows["next"].evidence


@pytest.mark.parametrize(
    ("example", "role"), [("previous-token", "previous"), ("first-token", "first"), ("same-token", "same-token")]
)
def test_designed_heads_of_the_gallery_get_their_role_on_shuffled_words(example, role):
    """Places stay where they are; words are put in another order and dropped, so that no two sentences are alike."""
    chosen, draw = load(example), np.random.default_rng(0)
    block, x, rule = chosen.layers[0], chosen.x, jumok.attend(chosen).rule
    traces = []
    for _ in range(40):
        order = np.arange(draw.integers(5, len(x) + 1))
        if role == "same-token":
            order = draw.permutation(len(x))
        texts = [Token(str(chosen.tokens[at])) for at in order]
        traces.append(jumok.attend(x=x[order], w_q=block.w_q, w_k=block.w_k, w_v=block.w_v, tokens=texts, rule=rule))
    found = head_table(tallied(traces)).role_of(0, 0)
    assert found.role == role
    assert found.low > 0


def test_an_annotated_relation_is_found_against_the_best_fixed_offset():
    traces, known = [], []
    draw = np.random.default_rng(0)
    for _ in range(40):
        n = int(draw.integers(7, 12))
        heads = [-1, *(int(draw.integers(0, at)) for at in range(1, n))]
        words = tuple(Word(f"w{at}", "X", head, "dep", (3 * at, 3 * at + 2)) for at, head in enumerate(heads))
        tokens = [Token("<s>"), *(Token(one.form, one.span) for one in words)]
        table = np.zeros((n + 1, n + 1))
        for at, head in enumerate(heads[1:], 1):
            table[at + 1, head + 1] = 1
        traces.append(trace_of(table, tokens))
        known.append(marked(tokens, Sentence(" ".join(one.form for one in words), words)))
    row = next(row for row in head_table(tallied(traces, known)).of(0, 0) if row.role == "dep:to-head")
    assert (row.score, row.evidence) == (1.0, True)
    assert row.baseline_rule == "offset:-1"
    assert 0.2 < row.baseline < 0.6
    assert row.low > 0.3


def test_too_few_sentences_are_no_evidence_whatever_the_score():
    table = head_table(tallied([trace_of(shifted(len(one), -1), one) for one in sentences(ENOUGH - 1)]))
    row = next(row for row in table.of(0, 0) if row.role == "previous")
    assert (row.score, row.evidence, row.p, row.q) == (1.0, False, None, None)


def test_the_sink_is_set_apart_and_both_are_told():
    """Half the weight on the first token, half on the one before: with the sink 0.5, without it all."""
    traces = []
    for one in sentences(12):
        table = shifted(len(one), -1)
        table[:, 0] = 1
        traces.append(trace_of(table, one))
    row = next(row for row in head_table(tallied(traces)).of(0, 0) if row.role == "previous")
    assert row.score == 1.0
    assert row.with_sink == pytest.approx(0.5, abs=0.01)
    assert row.without_sink == pytest.approx(1.0, abs=0.01)


def test_what_is_left_beside_the_sink_names_no_head():
    """All but a thousandth on the first token: the rest goes to the token before, and is told, but is not what it does."""
    traces = []
    for one in sentences(20):
        q, k = sharp(np.eye(1, len(one)).repeat(len(one), 0))
        q = q + 4.0 * np.sqrt(len(one)) * shifted(len(one), -1)
        traces.append(Trace(one, q, k, k))
    table = head_table(tallied(traces))
    row = next(row for row in table.of(0, 0) if row.role == "previous")
    assert (row.score, row.evidence, row.names_a_head) == (1.0, True, False)
    assert row.with_sink < 0.05 < 0.7 < row.without_sink
    assert table.role_of(0, 0).role == "first"


def test_layers_may_have_different_heads():
    def reading(texts):
        one = trace_of(shifted(len(texts), -1), texts)
        two = dataclasses.replace(
            one, q=np.concatenate([one.q, one.q * 0]), k=np.concatenate([one.k] * 2), v=np.concatenate([one.v] * 2)
        )
        return Reading((one, two))

    table = head_table(tallied([reading(one) for one in sentences(20)]))
    assert table.n_heads == (1, 2)
    assert {(row.layer, row.head) for row in table.rows} == {(0, 0), (1, 0), (1, 1)}
    assert table.role_of(1, 0).role == "previous"
    assert table.role_of(1, 1).role == "broad"
    assert table.best("previous").difference == max(row.difference for row in table.rows if row.role == "previous")
    assert table.best("separator") is None


# sums ---------------------------------------------------------------------------------------------


def parts():
    draw = np.random.default_rng(0)
    for texts in sentences(N_GROUPS + 10, least=3, most=6):
        q, k = draw.standard_normal((2, 2, len(texts), 4)).astype(np.float32)
        yield scores(Trace(texts, q, k, k), marked(Trace(texts, q, k, k).tokens))


def test_shards_merge_to_the_same_bits_in_any_order():
    every = list(parts())
    whole = Tally((2,))
    for at, one in enumerate(every):
        whole.add(at, one)
    shards = [Tally((2,)) for _ in range(5)]
    for at, one in enumerate(every):
        shards[at % 5].add(at, one)
    for order in ([0, 1, 2, 3, 4], [3, 1, 4, 0, 2]):
        merged = Tally((2,))
        for at in order:
            merged.merge(Tally.from_arrays(shards[at].to_arrays()))
        made, wanted = merged.to_arrays(), whole.to_arrays()
        assert made.keys() == wanted.keys()
        assert all(np.array_equal(made[name], wanted[name]) for name in wanted)
        assert head_table(merged).rows == head_table(whole).rows


def test_what_is_kept_is_the_sum_to_a_millionth():
    every = list(parts())
    whole = Tally((2,))
    for at, one in enumerate(every):
        whole.add(at, one)
    at = [one.roles.index("previous") for one in every]
    wanted = sum(one.sums[place] for one, place in zip(every, at, strict=True))
    np.testing.assert_allclose(whole.real("previous")["sums"].sum(axis=0), wanted, atol=1e-5)
    assert whole.real("previous")["n_sentences"].sum() == len(every)


@pytest.mark.parametrize("do", [lambda one: one.add(0, next(parts())), lambda one: one.merge(Tally((2, 2)))])
def test_another_model_is_refused(do):
    with pytest.raises(InputError, match="one table is of one model"):
        do(Tally((3,)))


def test_nothing_measured_is_refused():
    with pytest.raises(InputError, match="nothing was measured"):
        head_table(Tally((2,)))


# how sure -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("degrees", [1, 2, 3, 10, 127])
def test_the_tail_of_t_is_that_of_scipy(degrees):
    t = np.array([-np.inf, -3.0, -0.5, 0.0, 1.0, 2.3, 10.0, np.inf])
    np.testing.assert_allclose(t_tail(t, degrees), stats.t.sf(t, degrees), atol=1e-14)


def test_the_correction_is_that_of_scipy():
    p = np.random.default_rng(0).random(50) ** 3
    some = np.where(np.arange(50) % 7 == 3, np.nan, p)
    there = ~np.isnan(some)
    np.testing.assert_allclose(corrected(some)[there], stats.false_discovery_control(p[there]), atol=1e-15)
    assert np.isnan(corrected(some)[~there]).all()


def test_p_is_that_of_a_t_test_where_every_sentence_counts_the_same():
    draw = np.random.default_rng(0).random((30, 4))
    ones = np.ones_like(draw)
    found = p_values(Ratio(draw, ones), Ratio(0.4 * ones, ones), 1.0, np.array(30.0))
    np.testing.assert_allclose(found, stats.ttest_1samp(draw, 0.4, alternative="greater").pvalue, rtol=1e-9)


def test_sentences_that_are_all_alike_prove_no_more_than_their_number():
    ones = np.ones((10, 1))
    assert p_values(Ratio(ones, ones), Ratio(0.5 * ones, ones), 1.0, np.array(10.0)) == 2.0**-10
    assert p_values(Ratio(ones, ones), Ratio(ones, ones), 1.0, np.array(10.0)) == 0.5


def test_the_interval_is_that_of_scipy_and_covers():
    above, below = np.random.default_rng(0).random((2, 60)) + np.array([[0.0], [1.0]])
    base = Ratio(np.zeros((60, 1)), np.ones((60, 1)))
    low, high = interval(Ratio(above[:, None], below[:, None]), base, resamples(60, 4000, 0))
    wanted = stats.bootstrap(
        (above, below),
        lambda a, b, axis=-1: a.sum(axis) / b.sum(axis),
        paired=True,
        method="percentile",
        n_resamples=4000,
        rng=1,
    ).confidence_interval
    np.testing.assert_allclose([low[0], high[0]], wanted, atol=0.005)


def test_every_measured_role_is_defined():
    found = scores(trace_of(np.eye(6), list("ababcd")), marked(Trace(list("ababcd"), *[np.eye(6)[None]] * 3).tokens))
    assert all(definition(role).title("ko") for role in found.roles)
