"""What came of a training run, in sentences: each is said only where the measurements say so, with their numbers."""

import json
import re
import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jumok
from jumok.explanation.emerged import PHRASES, learned, outcome, place, row
from jumok.picture.learned import Run, pack_run
from jumok.sources.learn.emerged import _carrier, _shared
from jumok.words import LANGS, number, percent
from runs import emerged, history, run

TWO = [["cat", "mat", "it", "tired"], ["cat", "mat", "it", "soft"]]
FLAT = [0.25, 0.25, 0.25, 0.25]


def kinds(found, section="emerged"):
    return [fact.kind for fact in found.facts if fact.section == section]


def two_sentences(tired, soft, n_layers=1, n_heads=1):
    """The row of "it" at the start, and at the end in the last layer."""
    flat = [FLAT] * n_heads
    rows = [[[flat] * n_layers, [flat] * (n_layers - 1) + [[end] * n_heads]] for end in (tired, soft)]
    return history(rows, TWO, [(0,), (1,)], query=2)


def repeated(n_layers=2):
    """a b c … then a again: what is asked for stands after the first a."""
    n = 6
    return history([[[[[1 / n] * n]] * n_layers] * 2], [["a", "b", "c", "d", "e", "a"]], [(1,)], answer="b")


@pytest.mark.parametrize("name", PHRASES)
def test_both_languages_say_the_same_facts(name):
    fields = [{field for _, field, *_ in string.Formatter().parse(text) if field} for text in PHRASES[name]]
    assert fields[0] == fields[1]
    assert PHRASES[name][0] == PHRASES[name][1] or re.search("[가-힣]", PHRASES[name][1])


def test_every_sentence_of_a_real_run_has_its_numbers():
    found, told = run("previous", 60), {}
    for lang in LANGS:
        told[lang] = re.sub(r"\s+", " ", jumok.explain(found, lang=lang).text())
        assert percent(found.emerged["accuracy"]) in told[lang]
        assert percent(found.emerged["without"][0][0]) in told[lang]
        assert number(found.history.loss[0]) in told[lang]
        assert "{" not in told[lang]
    assert found.task.title["ko"] in told["ko"]
    assert "Head 0 of layer 0 carries it" in told["en"]
    assert kinds(jumok.explain(found))[:2] == ["carrier", "reads.position"]


def test_facts_and_sentences_are_plain_json():
    told = jumok.explain(run("previous", 60)).to_json()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert told["text"].keys() == set(LANGS)


def test_another_w_that_gives_the_same_row():
    found = run("student", 600)
    (apart,) = (fact.data for fact in jumok.explain(found).facts if fact.kind == "form.apart")
    (same,) = (fact.data for fact in jumok.explain(found).facts if fact.kind == "form.same")
    heads, given = found.history.trace().heads, found.task.trace
    assert apart["w_q"] == pytest.approx(np.abs(heads.w_q - given.heads.w_q).max())
    assert apart["w_q"] > 1 > 1e-3 > same["off"]
    assert {"form.asked.same", "form.elsewhere", "form.moved"} <= set(kinds(jumok.explain(found), "form"))


def test_a_row_that_is_not_there_yet_is_not_called_the_same():
    assert {"form.other", "form.asked.other"} <= set(kinds(jumok.explain(run("student", 5)), "form"))


# one row ------------------------------------------------------------------------------------------


def test_a_row_turns_where_one_word_makes_it_read_another_token():
    found = outcome(two_sentences([0.9, 0.04, 0.03, 0.03], [0.1, 0.8, 0.05, 0.05], n_layers=2))
    assert kinds(found, "row") == ["row", "row.reads", "pair.turns"]
    assert "With soft in place of tired the row turns: cat 90.0% and mat 4.0% become 10.0% and 80.0%." in found.text()


def test_a_row_that_keeps_its_ratio_does_not_turn_and_one_layer_cannot():
    found = outcome(two_sentences([0.4, 0.2, 0.2, 0.2], [0.6, 0.3, 0.05, 0.05]))
    assert kinds(found, "row") == ["row.only", "row.reads", "pair.stays", "pair.one_layer"]
    assert "cat and mat stand 2 to 1, then 2 to 1" in re.sub(r"\s+", " ", found.text())


def test_the_ratio_in_a_real_layer_is_the_same_whatever_the_adjective():
    found = next(fact for fact in jumok.explain(run("pronoun", 2, n_layers=1)).facts if fact.kind == "pair.stays")
    assert found.data["before"] == pytest.approx(found.data["after"], rel=1e-5)


def test_sentences_that_differ_in_more_are_not_compared():
    rows = [[[[FLAT]], [[FLAT]]]] * 2
    other = history(rows, [TWO[0], ["dog", "mat", "it", "soft"]], [(0,), (1,)], query=2)
    assert kinds(outcome(other), "row") == ["row.only", "row.reads"]


def test_the_head_worth_looking_at_is_the_carrier_or_else_the_best_reader_of_the_last_layer():
    heads = [[[FLAT, FLAT], [FLAT, FLAT]], [[FLAT, FLAT], [FLAT, [0.7, 0.1, 0.1, 0.1]]]]
    found = history([heads], TWO[:1], [(0,)])
    assert place(found) == (1, 1)
    assert place(found, emerged([(0.5, 0.1)] * 2, [(0.2, 1.0)] * 2, carrier=(0, 1))) == (0, 1)
    assert row(found, 1, 1) == pytest.approx([0.7, 0.1, 0.1, 0.1])
    assert row(found, 1, 1, step=0) == pytest.approx(FLAT)


# what emerged -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measured", "expected"),
    [
        (emerged([(0.2, 0.1)], accuracy=0.15), ["unlearned"]),
        (emerged([(0.2, 0.1)], accuracy=0.15, guess=0.2), ["unlearned", "unlearned.guess"]),
        (emerged([(0.2, 0.1)], accuracy=0.15, alone=0.4), ["unlearned.below"]),
        (emerged([(0.2, 0.95)]), ["none"]),
        (emerged([(0.2, 0.95), (0.2, 0.97)], without_layer=[0.3]), ["none", "layer"]),
        (emerged([(0.9, 0.1)], carrier=(0, 0)), ["carrier", "reads.above", "appeared", "cut.chance", "alone"]),
        (emerged([(0.2, 0.4)], carrier=(0, 0)), ["carrier", "reads.not_above", "appeared", "cut", "alone", "rest"]),
        (emerged([(0.9, 0.1)], carrier=(0, 0), baseline=1.0), ["carrier", "reads.position", "appeared", "cut.chance", "alone"]),
        (emerged([(0.9, 0.1)], carrier=(0, 0), reads=None), ["carrier", "cut.chance", "alone"]),
        (emerged([(0.9, 0.1), (0.1, 0.97)], carrier=(0, 0)), ["carrier", "reads.above", "appeared", "cut.chance", "others"]),
        (emerged([(0.9, 0.5), (0.1, 0.6)], carrier=(0, 0)), ["carrier", "reads.above", "appeared", "cut", "shared"]),
        (
            emerged([(0.1, 0.3)], [(0.9, 0.1)], carrier=(1, 0)),
            ["carrier", "reads.above", "appeared", "cut.chance", "alone", "needs"],
        ),
    ],
)  # fmt: skip
def test_what_is_said_follows_from_what_was_measured(measured, expected):
    without = measured["without"]
    found = outcome(two_sentences(FLAT, FLAT, len(without), len(without[0])), measured)
    assert kinds(found) == expected
    for lang in LANGS:
        assert found.text(lang)


SHARE = st.floats(0, 1, allow_subnormal=False)


@given(st.lists(st.lists(SHARE, min_size=2, max_size=2), min_size=1, max_size=3), SHARE, SHARE)
def test_a_cut_leaves_chance_and_the_others_do_not_matter_or_the_work_is_said_to_be_shared(cuts, floor, accuracy):
    """Whatever the cuts leave."""
    without, layers = tuple(map(tuple, cuts)), tuple(map(min, cuts))
    carrier = _carrier(accuracy, without, None)
    measured = emerged(
        *[[(0.5, left) for left in of] for of in cuts], accuracy=accuracy, carrier=carrier, alone=floor, chance=0
    )
    told = kinds(outcome(two_sentences(FLAT, FLAT, len(cuts), 2), measured | {"without_layer": list(layers)}))
    if {"unlearned", "unlearned.below"} & set(told):
        assert accuracy - floor <= 0.1
        assert ("unlearned.below" in told) == (accuracy < floor - 0.1)
    elif carrier is None:
        assert told[0] == "none"
        assert ("layer" in told) == _shared(accuracy, without, layers, None)
    else:
        left, other = without[carrier[0]][carrier[1]], without[carrier[0]][1 - carrier[1]]
        is_shared = {"shared", "rest"} & set(told)
        assert is_shared or (left - floor <= 0.1 and accuracy - other <= 0.1)
        assert ("others" in told) == (accuracy - other <= 0.1)
        assert ("cut.chance" in told) == (left - floor <= 0.1)


@pytest.mark.parametrize(
    ("task", "steps", "sizes"),
    [("previous", 120, {}), ("previous", 120, {"n_heads": 2}), ("subject-verb", 130, {}), ("homonym", 120, {}),
     ("pronoun", 60, {}), ("pronoun", 60, {"n_layers": 1})],
)  # fmt: skip
def test_what_is_said_of_a_real_run_is_what_its_cuts_left(task, steps, sizes):
    found = run(task, steps, **sizes)
    measured, told = found.emerged, {fact.kind: fact.data for fact in jumok.explain(found).facts}
    floor = max(measured["chance"], measured["alone"])
    if measured["carrier"] is None:
        assert "none" in told
        assert ("layer" in told) == measured["shared"]
        return
    layer, head = measured["carrier"]
    left = measured["without"][layer][head]
    assert told["cut" if left - floor > 0.1 else "cut.chance"]["without"] == left
    assert measured["shared"] == ("shared" in told)
    assert left - floor <= 0.1 or {"shared", "rest"} & told.keys()


def test_the_reason_is_told_only_where_it_is_read_more_than_positions_explain():
    def told(reads):
        role = {"reads": [[reads]], "baseline": 0.3, "head": [0, 0]}
        return kinds(outcome(two_sentences(FLAT, FLAT), emerged([(0.9, 0.1)], carrier=(0, 0), roles={"reason": role})))

    assert "reason" in told(0.6)
    assert "reason" not in told(0.2)


def test_a_rise_is_sudden_where_the_wait_before_it_is_longer():
    def told(*rise):
        return kinds(outcome(repeated(1), emerged([(0.9, 0.1)], carrier=(0, 0), rise=list(rise))), "training")[-1]

    assert told(270, 315) == "sudden"
    assert told(18, 90) == "gradual"


def test_induction_is_told_only_where_both_steps_are_measured():
    def told(found=None, previous=0.9, reads=0.95, first=0.1):
        roles = {"previous": {"reads": [[previous], [0.0]], "baseline": 1.0, "head": [0, 0]}}
        measured = emerged([(0.0, first)], [(reads, 0.1)], carrier=(1, 0), roles=roles)
        return [kind for kind in kinds(outcome(found or repeated(), measured)) if kind.startswith("induction")]

    assert told() == ["induction"]
    assert told(previous=0.3) == ["induction.no"]
    assert told(reads=0.4) == []  # the second head reads something else too
    assert told(first=1.0) == []  # without the first it goes on as well
    assert told(two_sentences(FLAT, FLAT, n_layers=2)) == []  # nothing follows an earlier token


def test_one_layer_that_did_not_learn_what_follows_says_why():
    measured = emerged([(0.1, 0.1)], accuracy=0.12, guess=0.05)
    assert kinds(outcome(repeated(1), measured)) == ["unlearned", "unlearned.guess", "one_layer"]
    two = emerged([(0.1, 0.1)], [(0.1, 0.1)], accuracy=0.12, guess=0.05)
    assert kinds(outcome(repeated(2), two)) == ["unlearned", "unlearned.guess"]


def without_part(name):
    return {part: value for part, value in emerged([(0.9, 0.1)], carrier=(0, 0)).items() if part != name}


@pytest.mark.parametrize(
    "foreign",
    [
        *map(without_part, ("accuracy", "alone", "without", "without_layer", "reads", "carrier", "roles", "rise")),
        emerged([(0.9, 0.1), (0.2, 0.9)], carrier=(0, 0)),  # of two heads
        emerged([(0.9, 0.1)], [(0.2, 0.9)], carrier=(0, 0)),  # of two layers
        emerged([(0.9, 0.1)], carrier=(0, 1)),
        emerged([(0.9, 0.1)], carrier=(0, 0), alone="much"),
        emerged([(0.9, 0.1)], carrier=(0, 0), baseline=None),
        emerged([(0.9, 0.1)], carrier=(0, 0), rise=[30]),
        emerged([(0.9, 0.1)], carrier=(0, 0), roles={"reason": {"reads": [[0.5]], "head": [0, 0]}}),
        {},
    ],
)
def test_what_another_version_measured_is_not_told_and_this_is_said(foreign):
    found = two_sentences(FLAT, FLAT)
    told = outcome(found, foreign)
    assert kinds(told, "training") == ["loss.own", "accuracy.snapshot", "foreign"]
    assert kinds(told) == []
    assert "이 버전의 jumok" in told.text("ko")
    seen = jumok.draw(Run(found, foreign))
    assert seen.svg()
    assert "without_layer" not in pack_run(Run(found, foreign)).header
    known = emerged([(0.9, 0.1)], carrier=(0, 0))
    assert kinds(outcome(found, known)) != []
    assert "without_layer" in pack_run(Run(found, known)).header


def test_where_the_curve_ends_elsewhere_than_the_whole_measurement_this_is_said():
    found = two_sentences(FLAT, FLAT)
    last = float(found.accuracy[-1])
    assert "accuracy.curve" not in kinds(outcome(found, emerged([(0.2, 0.1)], accuracy=last)), "training")
    told = outcome(found, emerged([(0.2, 0.1)], accuracy=last - 0.03))
    (fact,) = [fact for fact in told.facts if fact.kind == "accuracy.curve"]
    for lang in LANGS:
        assert percent(last) in told.sentence(fact, lang)


def test_the_loss_of_somebody_else_s_loop_has_no_unit_that_nobody_knows():
    flat = [[[[FLAT]]] * 2] * 2
    ours = outcome(history(flat, TWO, [(0,), (1,)], settings={"learning_rate": 0.1}))
    theirs = outcome(history(flat, TWO, [(0,), (1,)], settings={"every": None}))
    for lang in LANGS:
        assert "nat" in ours.text(lang)
        assert "nat" not in theirs.text(lang)


def test_a_training_that_was_stopped_says_so_and_measures_nothing():
    found = two_sentences(FLAT, FLAT)
    whole = outcome(history([[[[FLAT]]] * 2] * 2, TWO, [(0,), (1,)], settings={"steps": 50, "learning_rate": 0.1}))
    assert kinds(whole, "training") == ["loss", "accuracy.snapshot", "unfinished"]
    assert "unfinished" not in kinds(outcome(found), "training")
    assert kinds(whole) == []


def test_a_history_alone_is_told_and_a_token_of_it_explained():
    found = run("previous", 60).history
    assert kinds(learned(found)) == []
    assert jumok.explain(found).name == "previous"
    token = jumok.explain(found, 3, "ko")
    assert isinstance(token, jumok.Explanation)
    assert token.token == found.probes[0].tokens[3].text


def test_markdown_has_a_heading_for_each_section():
    found = jumok.explain(run("previous", 60), lang="ko")
    assert re.findall("(?m)^## (.*)$", found.markdown()) == [section.title for section in found.sections()]
