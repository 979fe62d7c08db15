"""Why this query: the steps from wanted weights to the query, their numbers, and what is said where it is not so."""

import copy
import re

import numpy as np
import pytest

import jumok
from golden import same_as_golden
from jumok.explanation.explanation import explain, why
from jumok.explanation.facts import SECTIONS, Fact
from jumok.explanation.why_query import wanted_row
from jumok.trace import Source
from wished import WANTED, wished, wished_traces

TRACES = wished_traces()


def facts(trace: jumok.Trace, query: int = 2) -> dict[str, Fact]:
    return {fact.kind: fact for fact in why(trace, query).facts}


def numbers(pairs: list[list[object]]) -> list[float]:
    return [float(a) for _, a in pairs]  # type: ignore[arg-type]


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_golden(lang: str) -> None:
    same_as_golden(f"why.student.studies.{lang}.txt", str(why(jumok.attend(jumok.load("student")), "studies", lang)))


def test_the_worked_example_shows_the_numbers_of_the_book() -> None:
    told = facts(jumok.attend(jumok.load("student")))
    assert numbers(told["why.wanted"].data["weights"]) == [0.02, 0.2, 0.05, 0.55, 0.18]
    assert [round(a, 3) for a in numbers(told["why.shift.forced"].data["shifted"])] == [0, 2.303, 0.916, 3.314, 2.197]
    assert [round(a, 3) for a in numbers(told["why.root"].data["needed"])] == [0, 4.605, 1.833, 6.628, 4.394]
    assert dict(told["why.query"].data["dims"]) == {
        "Person": 4.605,
        "Action": 1.833,
        "Knowledge": 6.628,
        "Method": 4.394,
    }
    assert told["why.shift.forced"].data["key"] == "The"
    assert told["why.rounded"].data["off"] < 3e-5
    text = str(why(jumok.attend(jumok.load("student")), "studies"))
    assert "The 0, student 2.303, studies 0.916, deep learning 3.314, carefully 2.197" in text
    assert "The 0, student 4.605, studies 1.833, deep learning 6.628, carefully 4.394" in text


@pytest.mark.parametrize("name", TRACES)
def test_the_steps_lead_from_the_wanted_weights_to_the_scores_that_softmax_turns_back(name: str) -> None:
    trace = TRACES[name]
    for head in range(trace.n_heads):
        told = {fact.kind: fact.data for fact in why(trace, 2).facts if fact.head == head}
        weights = np.array(numbers(told["why.wanted"]["weights"]))
        assert weights.sum() == pytest.approx(1)
        if "why.zero" in told:
            assert {kind for kind in told if kind.startswith("why.")} == {"why.wanted", "why.zero"}
            continue
        assert np.exp(numbers(told["why.logs"]["logs"])) == pytest.approx(weights)
        (shift,) = [data for kind, data in told.items() if kind.startswith("why.shift.")]
        shares = np.exp(numbers(shift["shifted"]))
        assert shares / shares.sum() == pytest.approx(weights)
        needed = np.array(numbers((told.get("why.root") or told["why.scale"])["needed"]))
        allowed = np.flatnonzero(trace.rows("allowed", queries=[2])[0])
        if "why.missed" not in told:
            scores = trace.rows("scores", heads=[head], queries=[2])[0, 0, allowed]
            assert needed == pytest.approx(scores, abs=2e-3)


KINDS = {
    "exact": {"why.shift.forced", "why.root", "why.keys.identity", "why.query", "why.rows"},
    "rounded": {"why.rounded", "why.query"},
    "missed": {"why.missed"},
    "free": {"why.shift.free", "why.keys.identity", "why.query"},
    "through W_K": {"why.shift.free", "why.keys", "why.query.numbers"},
    "without names": {"why.query.numbers"},
    "scaled": {"why.scale", "why.query"},
    "biased": {"why.shift.biased", "why.bias", "why.query"},
    "biased and free": {"why.shift.free", "why.bias", "why.query"},
    "zero": {"why.zero"},
    "partial": {"why.missed"},
    "two heads": {"why.query.numbers", "head"},
    "equal tokens": {"why.shift.forced", "why.query"},
    "masked": {"why.missed"},
}


@pytest.mark.parametrize("name", TRACES)
def test_what_is_so_is_told_and_nothing_else(name: str) -> None:
    told = facts(TRACES[name]).keys() | ({"head"} if TRACES[name].n_heads > 1 else set())
    assert told >= KINDS[name]
    ends = {"why.query", "why.query.numbers", "why.missed", "why.zero"}
    assert len(told & ends) == 1
    assert ("why.rounded" in told) == (name == "rounded")
    assert ("why.bias" in told) == ("biased" in name)


def test_keys_through_another_w_k_are_not_read_in_names_of_the_embedding() -> None:
    told = [fact for fact in why(TRACES["through W_K"], 2).facts if fact.kind == "why.key"]
    assert len(told) == 5
    assert all(isinstance(name, int) for fact in told for name, _, _ in fact.data["terms"])


def test_equal_tokens_are_numbered_as_they_are_found_again() -> None:
    told = facts(TRACES["equal tokens"])
    names = ["the#1", "cat", "the#2", "é#1", "é#2"]
    assert [name for name, _ in told["why.wanted"].data["weights"]] == names
    assert {fact.data["token"] for fact in told.values()} == {"the#2"}
    text = str(why(TRACES["equal tokens"], 2))
    assert "row of 'the#2': the#1 0.02, cat 0.2, the#2 0.05, é#1 0.55, é#2 0.18." in text


def test_what_a_row_leaves_out_shares_what_remains() -> None:
    row = wanted_row(TRACES["partial"], 2, 0)
    assert row is not None
    assert row.tolist() == [0.125, 0.125, 0.125, 0.5, 0.125]
    assert numbers(facts(TRACES["partial"])["why.wanted"].data["weights"]) == row.tolist()


def test_a_forbidden_wish_is_dropped_and_the_rest_made_whole() -> None:
    row = wanted_row(wished([{"2": {"0": 0.1, "1": 0.4, "4": 0.5}}], rule="causal"), 2, 0)
    assert row is not None
    assert row == pytest.approx([0.2, 0.8, 0, 0, 0])


@pytest.mark.parametrize(
    "wanted",
    [
        [],
        [{}],
        [{"2": {}}],
        [{"2": 1}],
        [{"2": {"9": 1.0}}],
        [{"2": {"x": 1.0}}],
        [{"2": {"-1": 1.0}}],
        [{"2": {"0": "much"}}],
        [{"2": {"0": -0.1}}],
        [{"2": {"0": 0.9, "1": 0.9}}],
        [{"2": {"0": True}}],
        [{"2": {"٣": 0.5}}],
        [{"studies": {"0": 1.0}}],
        [WANTED, WANTED, WANTED][:2],
    ],
)
def test_what_is_no_wish_is_passed_over(wanted: list[object]) -> None:
    """A saved file may say anything of its source."""
    trace = wished(wanted)
    sections = {section.name for section in explain(trace, 2).sections()}
    assert ("why" in sections) == (wanted == [WANTED, WANTED])


def test_only_the_layer_that_was_meant_is_told() -> None:
    trace = wished()
    for layer, details, is_meant in [
        (0, {"n_layers": 2}, False),
        (1, {"n_layers": 2}, True),
        (0, {"n_layers": 2, "design": {"exact": True}}, True),
        (None, {}, True),
    ]:
        source = Source(layer=layer, details={"wanted": [WANTED], **details})
        other = copy.copy(trace)
        object.__setattr__(other, "source", source)
        assert bool(why(other, 2).facts) == is_meant


def test_a_row_of_which_nothing_is_wanted_and_a_long_one_are_not_told() -> None:
    assert not why(wished(), 1).facts
    x = np.eye(13)
    same = {"w_q": x, "w_k": x, "w_v": x}
    long = jumok.attend(x=x, **same, source=Source(details={"wanted": [{"0": {"1": 0.9}}]}))
    assert not why(long, 0).facts
    few = jumok.attend(x=x[:12], **same, source=Source(details={"wanted": [{"0": {"1": 0.9}}]}))
    assert why(few, 0).facts


@pytest.mark.parametrize("rule", [jumok.Rule(softcap=5.0), jumok.Rule(sink=[0.0])])
def test_a_rule_that_cannot_be_read_backwards_is_passed_over(rule: jumok.Rule) -> None:
    assert not why(wished(rule=rule), 2).facts


def test_the_section_stands_in_the_explanation_before_what_is_said_of_layers() -> None:
    names = [section.name for section in explain(jumok.attend(jumok.load("student")), "studies").sections()]
    assert names == [name for name in SECTIONS if name != "layers"]
    assert "why" not in [section.name for section in explain(jumok.attend(jumok.load("student")), "The").sections()]


@pytest.mark.parametrize("name", TRACES)
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_every_sentence_is_whole(name: str, lang: str) -> None:
    text = str(why(TRACES[name], 2, lang))
    assert not re.search(r"\{|\}|\bnan\b|\binf\b|None|  - :", text)
    assert bool(re.search("[가-힣]", text)) == (lang == "ko")
