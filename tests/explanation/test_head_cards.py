"""What is said of a head: its role or that there is none, beside the best trivial rule, in both languages."""

import re
import string
from dataclasses import replace

import numpy as np
import pytest

from jumok.errors import InputError
from jumok.explanation.head_cards import OVERVIEW, PHRASES, card, cards, overview, rule_name
from jumok.measurement.roles.definitions import definition
from jumok.measurement.roles.table import ENOUGH
from jumok.measurement.running.measured import Copied
from jumok.words import LANGS, number, percent
from small_measured import ROLES, alone, measured, silent


def kinds(one):
    return [fact.kind for fact in one.facts]


@pytest.mark.parametrize(("place", "role"), ROLES.items())
def test_a_head_that_is_made_for_a_role_is_named_by_it(place, role):
    one = card(measured(), *place)
    assert one.role.role == one.told.role == role
    assert one.kind == "named"
    assert definition(role).title("en") in one.sentences("en")[0]
    assert definition(role).title("ko") in one.sentences("ko")[0]


def test_the_numbers_are_those_of_the_table_beside_the_best_trivial_rule():
    one = card(measured(), 1, 1)
    row = next(row for row in measured().table.of(1, 1) if row.role == "same-token")
    said = " ".join(one.sentences("en"))
    assert f"{percent(row.score)} of {row.n_cases:,} cases ({row.n_sentences:,} sentences)" in said
    assert f"{rule_name(row.baseline_rule, False, 'en')}, gets {percent(row.baseline)}" in said
    assert f"Difference: {number(row.difference)}, 95% interval from {number(row.low)} to {number(row.high)}" in said
    assert number(row.q) in said
    assert percent(row.without_sink) in said


def test_no_evidence_is_said_plainly_with_what_came_nearest():
    one = card(silent(), 0, 0)
    assert kinds(one)[:2] == ["none", "nearest"]
    assert one.role is None
    assert one.told.q == min(row.q for row in one.rows if row.q is not None)
    first, second, *_ = one.sentences("en")
    assert first == f"Layer 0, head 0: no evidence for any of the {len(one.rows)} roles that were measured."
    assert second.endswith("and that may be chance.")
    assert "근거가 있는 것이 없습니다" in one.text("ko")


def changed(place, **fields):
    """The card of a head whose rows are changed."""
    whole = measured()
    rows = tuple(replace(row, **fields) for row in whole.table.of(*place))
    return card(replace(whole, table=replace(whole.table, rows=rows)), *place)


def test_of_too_few_sentences_nothing_is_said():
    one = changed((0, 0), p=None, q=None, evidence=False, n_sentences=4)
    assert kinds(one) == ["few"]
    assert one.told is None
    assert f"in {ENOUGH} sentences" in one.text("en")
    assert "has 4." in one.text("en")


def test_one_case_in_one_sentence_is_told_as_one():
    one = changed((0, 0), n_cases=1, n_sentences=1)
    assert "1 case" in one.text("en")
    assert "1 cases" not in one.text("en")
    assert "1 sentences" not in one.text("en")
    assert "1 sentence (1 token) of" in " ".join(overview(replace(measured(), n_sentences=1, n_tokens=1), "en"))


@pytest.mark.parametrize("lang", LANGS)
def test_the_copying_score_is_told_of_each_head_and_of_the_highest(lang):
    one = replace(measured(), copied=Copied({(0, 0): -0.25, (1, 1): 0.875}))
    assert f"{number(-0.25)}" in card(one, 0, 0).text(lang)
    assert "copying" in kinds(card(one, 1, 1))
    assert "copying" not in kinds(card(one, 0, 1))
    assert any("1.1" in line and "0.875" in line for line in overview(one, lang))
    assert not any("copying" in line for line in overview(measured(), lang))


def test_why_there_is_no_copying_score_is_told():
    one = replace(measured(), copied=Copied(why=("small has none.", "small에는 없습니다.")))
    assert overview(one, "en")[-1] == "No copying scores: small has none."
    assert overview(one, "ko")[-1] == "복사 점수(copying score)는 없습니다. small에는 없습니다."


def test_a_head_without_a_case_is_told_as_that():
    whole = measured()
    bare = replace(whole, table=replace(whole.table, rows=()))
    assert kinds(card(bare, 0, 0)) == ["unmeasured"]


@pytest.mark.parametrize(
    ("fields", "why"),
    [({"way": 0.05}, "a tenth of the way"), ({"way": 0.5, "with_sink": 0.05, "role": "self"}, "a tenth of its weight")],
)
def test_evidence_of_too_little_names_no_head(fields, why):
    one = changed((0, 0), evidence=True, q=0.001, p=0.0001, **fields)
    assert one.kind == "trace"
    assert one.role is None
    assert why in one.sentences("en")[0]


def test_rows_of_too_few_sentences_come_last_however_high_their_score():
    whole = measured()
    rows = [
        replace(row, p=None, q=None, evidence=False, way=1.0) if row.role == "near" else row
        for row in whole.table.of(0, 0)
    ]
    one = card(replace(whole, table=replace(whole.table, rows=tuple(rows))), 0, 0)
    assert one.rows[-1].role == "near"


def test_the_sink_is_told_where_it_takes_much():
    sunk = measured(heads=((_half,),), n=12)
    one = card(sunk, 0, 0)
    assert one.role.role == "previous"
    assert "sink" in kinds(one)
    assert "sink" not in kinds(card(measured(), 0, 1))


def _half(texts):
    table = np.eye(len(texts), k=-1)
    table[:, 0] = 1
    return table


def test_examples_are_of_what_is_told():
    one = card(measured(), 0, 1)
    assert [example.role for example in one.examples] == ["next"] * 3


def test_all_cards_come_layer_by_layer():
    assert [(one.layer, one.head) for one in cards(measured())] == [(at, of) for at in range(3) for of in range(2)]
    assert [card(measured(), one.layer, one.head).text() for one in cards(measured())] == [
        one.text() for one in cards(measured())
    ]


@pytest.mark.parametrize("place", [(0, 1), (1, 0), (-1, 0), (0, "x")])
def test_a_head_that_is_not_there_is_refused(place):
    with pytest.raises(InputError):
        card(alone(), *place)


@pytest.mark.parametrize("lang", LANGS)
def test_the_overview_counts_the_heads(lang):
    said = " ".join(overview(measured(), lang))
    found = [one.kind for one in cards(measured())]
    assert found.count("named") >= 5
    for count in (30, measured().n_tokens, measured().table.n_tested, found.count("named")):
        assert f"{count:,}" in said
    assert "small.txt" in said


def test_rules_are_told_in_the_unit_of_the_role():
    assert rule_name("offset:+0", True, "en") == "always the word itself"
    assert rule_name("offset:+2", True, "en") == "always the word 2 ahead"
    assert rule_name("offset:-1", False, "ko") == "늘 1칸 앞의 토큰"
    assert rule_name("even", False, "ko") == "고른 가중치"


@pytest.mark.parametrize("phrases", [PHRASES, OVERVIEW])
def test_both_languages_ask_for_the_same_facts(phrases):
    def names(template):
        return {"unit" if name == "read" else name for _, name, _, _ in string.Formatter().parse(template) if name}

    for en, ko in phrases.values():
        assert names(en) == names(ko)
        assert bool(re.search("[가-힣]", ko))
        assert not re.search("[가-힣]", en)
