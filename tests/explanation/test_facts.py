"""Facts: the arithmetic in them adds up, and where a row is special they say so and why."""

import json
import math

import numpy as np
import pytest

import jumok
from jumok.explanation.facts import MOST_TERMS, Fact, facts_of
from jumok.sources import example
from jumok.words import fill


def of(trace: jumok.Trace, token: int | str, kind: str) -> list[Fact]:
    return [fact for fact in facts_of(trace, trace.index(token)) if fact.kind == kind]


def kinds(trace: jumok.Trace, token: int | str, start: str = "row.") -> set[str]:
    return {fact.kind for fact in facts_of(trace, trace.index(token)) if fact.kind.startswith(start)}


def some_traces() -> list[jumok.Trace]:
    made = []
    for name in example.names():
        attended = jumok.attend(jumok.load(name))
        made += [attended] if isinstance(attended, jumok.Trace) else list(attended)
    rng = np.random.default_rng(1)
    x, w = rng.normal(size=(5, 12)), {name: rng.normal(size=(12, 24)) for name in ("w_q", "w_k", "w_v")}
    made.append(jumok.attend(x=x, **w, n_heads=2, rule="causal"))
    made.append(jumok.attend(x=x, **w, n_heads=2, rule=jumok.Rule(softcap=1.5, bias=jumok.positions.alibi([0.5, 0.1]))))
    wide = rng.normal(size=(1, 30, 64))
    made.append(jumok.attend(q=wide, k=wide, v=wide))
    return made


@pytest.mark.parametrize(
    "trace", some_traces(), ids=lambda t: f"{t.source.name}-{t.n_heads}-{t.n_queries}-{t.source.layer}"
)
def test_the_arithmetic_of_every_fact_adds_up(trace: jumok.Trace) -> None:
    weights, output = trace.weights, trace.output
    for query in range(trace.n_queries):
        facts = facts_of(trace, query)
        json.dumps([fact.to_json() for fact in facts], allow_nan=False)
        for fact in facts:
            data = fact.data
            if "terms" in data:
                total = math.fsum(b if name is None else a * b for name, a, b in data["terms"])
                value = data["score"] if "score" in data else data["value"]
                assert total == pytest.approx(value, abs=1e-11)
            if fact.kind == "weight":
                assert data["exp"] == pytest.approx(math.exp(data["scaled"] - data["top"]), rel=1e-12)
                assert data["exp"] / data["total"] == pytest.approx(data["weight"], rel=1e-12)
            if fact.kind == "value":
                assert [data["weight"] * v for v in data["value"]] == pytest.approx(data["product"])
            if fact.kind == "weights.sum":
                assert data["sum"] == pytest.approx(1)
        for head in range(trace.n_heads):
            told = math.fsum(f.data["weight"] for f in facts if f.kind in ("weight", "weights.rest") and f.head == head)
            assert told == pytest.approx(float(weights[head, query].sum()), abs=1e-12)
        said = next(f.data for f in facts if f.kind in ("output.named", "output.numbers", "output.zero"))
        if "vector" in said:
            assert said["vector"] == pytest.approx(output[query])
        elif "dims" in said:
            assert math.fsum(a for _, a in said["dims"]) == pytest.approx(float(output[query].sum()))


def test_the_student_comes_out_as_written_in_the_textbook() -> None:
    trace = jumok.attend(jumok.load("student"))
    weights = [round(fact.data["weight"], 6) for fact in of(trace, "studies", "weight")]
    assert weights == [0.020003, 0.200013, 0.050018, 0.549980, 0.179986]
    (ranking,) = of(trace, "studies", "ranking")
    assert [name for name, _ in ranking.data["ranked"]] == ["deep learning", "student", "carefully", "studies", "The"]
    (reading,) = of(trace, "studies", "conclusion.reading")
    assert reading.data["names"] == ["Knowledge", "Person", "Method"]
    (change,) = of(trace, "studies", "change.gained")
    assert change.data["before"] == ["Action"]
    assert {name for name, _ in change.data["gained"]} == {"Person", "Knowledge", "Method"}


EYE = np.eye(3)
A, B, C = EYE


@pytest.mark.parametrize(
    ("x", "w_q", "rule", "token", "expected"),
    [
        ([[0, 0, 0], A, B], EYE, None, 0, {"row.uniform.zero_query"}),
        ([A, A, A], EYE, None, 0, {"row.uniform.same_keys"}),
        ([A, B, C], np.ones((3, 3)), None, 0, {"row.uniform.equal"}),
        ([A, B, B], 2 * EYE, None, 0, {"row.tied.same_keys"}),
        ([A, B, C], 2 * EYE, None, 0, {"row.tied.nothing"}),
        ([A, B, C], np.array([[0, 2, 2], [0, 0, 0], [0, 0, 0]]), None, 0, {"row.tied.equal"}),
        ([A, B, C], 9 * EYE, None, 0, {"row.tied.nothing", "row.dominated"}),
        ([A, B, C], EYE, "causal", 0, {"row.hidden", "row.single"}),
        ([A, B, C], EYE, jumok.allowed.table([[False] * 3, [True] * 3, [True] * 3]), 0, {"row.nothing"}),
        ([A, B, C], np.diag([1.0, 2, 3]), None, 0, {"row.tied.nothing"}),
        ([A, [1, 2, 0], [2, 0, 1]], EYE, None, 1, set()),
    ],
)  # fmt: skip
def test_special_rows_are_named_with_their_reason(
    x: object, w_q: object, rule: object, token: int, expected: set[str]
) -> None:
    trace = jumok.attend(x=x, w_q=w_q, w_k=EYE, w_v=EYE, rule=rule, dimensions=["a", "b", "c"])
    assert kinds(trace, token) == expected


def test_a_position_bias_takes_the_place_of_the_other_reasons() -> None:
    trace = jumok.attend(x=[A, A, A], w_q=EYE, w_k=EYE, w_v=EYE, rule=jumok.Rule(bias=jumok.positions.alibi([0.5])))
    assert kinds(trace, 1) == {"row.tied.equal"}


def test_w_k_is_read_through_where_it_is_not_the_identity() -> None:
    swap = EYE[[1, 0, 2]]
    trace = jumok.attend(x=[A, B, C], w_q=EYE, w_k=swap, w_v=EYE, dimensions=["a", "b", "c"])
    (fact,) = of(trace, 0, "query.looks_for")
    assert fact.data["dims"] == [["b", 1.0]]


def test_several_layers_show_what_one_cannot() -> None:
    tired, soft = (jumok.attend(jumok.load(name)) for name in ("it-tired", "it-soft"))
    facts = {f.kind: f.data for f in jumok.explain(tired, "it", pair=soft).facts if f.section == "layers"}
    assert (facts["limit.first"]["a"], facts["limit.first"]["b"]) == ("cat", "mat")
    assert facts["limit.first"]["ratio"] == facts["limit.pair"]["other"] == 1
    assert facts["limit.last"]["ratio"] > 10
    assert facts["limit.pair_last"]["other"] < 0.1
    assert facts["limit.taken_in"]["key"] == "tired"
    assert facts["limit.taken_in"]["dims"][0][0] == "AnimalTrait"


def test_a_long_text_is_explained_in_bounded_time_and_text() -> None:
    rng = np.random.default_rng(0)
    q, k, v = (rng.normal(size=(1, 50_000, 32)).astype(np.float32) for _ in range(3))
    explanation = jumok.explain(jumok.attend(q=q, k=k, v=v, rule="causal"), 49_999)
    assert len(str(explanation)) < 20_000
    (rest,) = [fact for fact in explanation.facts if fact.kind == "weights.rest"]
    assert rest.data["n"] == 50_000 - 12


def test_facts_hold_no_words_of_a_language() -> None:
    """Only texts of tokens and names of dimensions, besides numbers."""
    trace = jumok.attend(jumok.load("student"))
    own = {token.text for token in trace.tokens} | set(trace.dimensions or ()) | {"root", "scale", "softcap", "bias"}

    def texts(value: object) -> list[str]:
        if isinstance(value, str):
            return [value]
        if isinstance(value, (list, tuple)):
            return [text for part in value for text in texts(part)]
        return []

    for query in range(5):
        for fact in facts_of(trace, query):
            assert set(texts(list(fact.data.values()))) <= own


def test_a_sink_has_its_own_term_in_the_sum() -> None:
    q = np.random.default_rng(0).normal(size=(1, 2, 3))
    trace = jumok.attend(q=q, k=q, v=q, rule=jumok.Rule(softcap=2.0, sink=[3.0]))
    (intro,) = of(trace, 0, "weights.intro.sink")
    terms = [fact.data["exp"] for fact in of(trace, 0, "weight")]
    assert math.fsum([*terms, intro.data["sink_exp"]]) == pytest.approx(intro.data["total"], rel=1e-12)
    assert intro.data["sink_exp"] == math.exp(3.0 - intro.data["top"])
    assert "→ 2·tanh(… ÷ 2) (soft cap)" in str(jumok.explain(trace, 0))


def test_what_is_left_is_summed_so_that_no_rounding_is_told() -> None:
    q = np.random.default_rng(0).normal(size=(1, 40, 16))
    trace = jumok.attend(q=q, k=q, v=q, rule=jumok.Rule(allowed="causal", sink=[-60.0]))
    for query in range(12):
        ((rest,), (sink,)) = of(trace, query, "weights.rest"), of(trace, query, "weights.sink")
        (intro,) = of(trace, query, "weights.intro.sink")
        assert rest.data["weight"] == 0
        assert sink.data["share"] == pytest.approx(
            math.exp(-60 - intro.data["top"]) / intro.data["total"], rel=1e-12, abs=0
        )
    w = np.random.default_rng(1).normal(size=(16, 16)) * np.repeat([1, 1e-9], 8)  # the last 8 products are tiny
    trace = jumok.attend(q=w[None], k=w[None], v=w[None])
    (first, *_) = of(trace, 0, "score")
    assert first.data["terms"][-1][0] is None
    assert first.data["terms"][-1][2] == pytest.approx(float((w[0, 8:] ** 2).sum()), rel=1e-12, abs=0)


def test_what_is_hidden_is_not_counted_as_asked() -> None:
    trace = jumok.attend(jumok.load("student"), rule="causal")
    assert not of(trace, "carefully", "analogy.classroom")
    (masked,) = of(trace, "studies", "analogy.classroom.masked")
    assert (masked.data["n_allowed"], masked.data["n"]) == (3, 5)
    (definition,) = of(trace, "studies", "definition")
    assert definition.data["n"] == 3


def test_cross_attention_never_speaks_of_itself() -> None:
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(1, 2, 3)), rng.normal(size=(1, 4, 3))
    trace = jumok.attend(q=q, k=k, v=k, tokens=["a", "b"], key_tokens=["w", "x", "y", "z"])
    text = str(jumok.explain(trace, "b"))
    for wrong in ("itself included", "included", "each other", "self-attention", "Self-attention"):
        assert wrong not in text


def test_even_rows_and_ties_name_no_favourite() -> None:
    trace = jumok.attend(jumok.load("student"))
    assert kinds(trace, "The", "analogy.l") == {"analogy.listens.even", "analogy.library.even"}
    (tie,) = of(jumok.attend(jumok.load("it-tired"))[0], "it", "conclusion.most.alike")
    assert tie.data["n_alike"] == 9
    assert not of(jumok.attend(jumok.load("it-tired"))[0], "it", "conclusion.most")


def test_several_heads_are_spoken_of_by_their_mean_everywhere() -> None:
    rng = np.random.default_rng(1)
    q, k = rng.normal(size=(2, 5, 4)), rng.normal(size=(2, 5, 4))
    trace = jumok.attend(q=3 * q, k=k, v=k)
    (most,) = of(trace, 0, "conclusion.most") or of(trace, 0, "conclusion.itself")
    (listens,) = of(trace, 0, "analogy.listens")
    assert (most.data["key"], most.data["weight"]) == (listens.data["key"], listens.data["weight"])


def test_far_above_the_others_no_capped_ratio_is_told() -> None:
    trace = jumok.attend(x=EYE, w_q=1e4 * EYE, w_k=EYE, w_v=EYE)
    (far,) = of(trace, 0, "row.dominated.far")
    assert "ratio" not in far.data


def test_one_token_alone_comes_out_as_it_went_in() -> None:
    trace = jumok.attend(x=[[1.0, 0]], w_q=np.eye(2), w_k=np.eye(2), w_v=np.eye(2), dimensions=["a", "b"])
    assert kinds(trace, 0, "change.") == {"change.none"}


def test_what_was_taken_in_is_what_that_key_handed_over() -> None:
    text = (
        "dimensions: [a, b, c]\ntokens: [{p: {a: 1}}, {q: {b: 1}}, {r: {c: 1}}]\n"
        "layers: [{residual: true}, {residual: true}]\n"
    )
    reading = jumok.attend(example.parse(text))
    facts = [fact for fact in jumok.explain(reading, "p").facts if fact.kind == "limit.taken_in"]
    (fact,) = facts
    weights = reading[0].weights[0, 0]
    assert fact.data["key"] == "q"
    assert fact.data["dims"] == [["b", pytest.approx(weights[1])]]


def test_of_many_unnamed_dimensions_the_largest_are_told_by_number() -> None:
    """A real model's head: which of its dimensions make the score, and how much the others do."""
    rng = np.random.default_rng(0)
    trace = jumok.Trace(
        tokens=["a", "b"], q=rng.normal(size=(1, 2, 32)), k=rng.normal(size=(1, 2, 32)), v=np.ones((1, 2, 3))
    )
    fact = next(one for one in facts_of(trace, 0) if one.kind == "score" and one.data["key"] == "b")
    products = trace.q[0, 0] * trace.k[0, 1]
    largest = sorted(np.argsort(-np.abs(products))[:MOST_TERMS].tolist())
    assert [name for name, *_ in fact.data["terms"][:-1]] == largest
    said = fill("{terms:terms}", fact.data, "en")
    assert all(f"dim {at + 1} " in said for at in largest)
    assert "(24 more: " in said
    assert "차원 " in fill("{terms:terms}", fact.data, "ko")
