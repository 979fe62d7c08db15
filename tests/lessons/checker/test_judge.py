"""Every mistake of the bank is found again in what it gives; nothing right is called wrong; pairs too."""

import random

import numpy as np
import pytest

from jumok.lessons.checker.cases import cases, problem, widths
from jumok.lessons.checker.faults import MISTAKES, choices, endings, sets
from jumok.lessons.checker.judge import Run, explained
from jumok.lessons.checker.layouts import Layout
from jumok.lessons.checker.phrases import FIXES, HINTS, MISTAKE_NAMES
from jumok.lessons.checker.pipeline import DEFAULTS, Path

QKV = (("q", "q", False), ("k", "k", False), ("v", "v", False))
MASK = (("mask", "mask", False),)
ONE = (("x", "x", False), ("w_q", "w_q", False), ("w_k", "w_k", False), ("w_v", "w_v", False))
LAYOUTS = {
    "plain": Layout("raw", QKV, 3),
    "masked": Layout("raw", (*QKV, *MASK), 2, mask="table"),
    "keys": Layout("raw", (*QKV, *MASK), 3, mask="keys"),
    "causal": Layout("raw", QKV, 3, causal=True),
    "projected": Layout("projected", ONE, 2, "self"),
    "heads": Layout("projected", (*ONE, ("w_o", "w_o", False), ("n_heads", "n_heads", False)), 3, "self", split=True),
    "softmax": Layout("softmax", (("scores", "scores", False),), 2),
    "scale": Layout("scale", (("scores", "scores", False), ("d_k", "d_head", False)), 2),
}


def runs(layout, hypothesis):
    """What a function with these mistakes gives in every case."""
    made = []
    for case in cases(layout):
        path = Path(problem(layout, case, widths(layout, case.size)))
        came = path.predicted(hypothesis)
        error = {"kind": "ValueError", "kinds": ["ValueError"], "text": came.error} if came.returned is None else None
        made.append(Run(layout, case, path, () if error else (came.returned,), error=error))
    return made


def paths(layout):
    return next(
        Path(problem(layout, case, widths(layout, case.size))) for case in cases(layout) if case.name == "square"
    )


def available(name):
    return [one for one in choices(paths(LAYOUTS[name]).problem) if one.ids]


def shows(layout, hypothesis):
    """Whether it gives anything else than what is right."""
    return any(
        (run.error is None) != (right.error is None)
        or (run.error is None and not (run.arrays[0].shape == right.arrays[0].shape and np.allclose(run.arrays[0], right.arrays[0], equal_nan=True)))
        for run, right in zip(runs(layout, hypothesis), runs(layout, {"empty": hypothesis["empty"]}), strict=True)
    )  # fmt: skip


def singles():
    for name in LAYOUTS:
        for one in available(name):
            if isinstance(one.option, tuple) and one.stage == "how" and one.option[1] not in (0.0, -1.0, -1000.0):
                continue  # weak numbers of every size are one mistake: the smallest, a usual one, the largest
            yield pytest.param(name, one, id=f"{name} {one.stage} {one.option}")


@pytest.mark.parametrize(("name", "one"), [*singles()])
def test_one_choice_is_found_by_what_it_gives(name, one):
    layout = LAYOUTS[name]
    hypothesis = {one.stage: one.option, "empty": "zero"}
    came = runs(layout, hypothesis)
    found = explained(came)
    if all(run.error for run in came):  # an axis that is not there
        assert found == []
        return
    if not shows(layout, hypothesis):
        assert found[0].ids == ()
        return
    assert found, "nothing explains it"
    fewer = len(found[0].ids) < len(one.ids)
    assert fewer or tuple(sorted(one.ids)) in [other.ids for other in found]
    apart = {other.ids for other in found}
    assert len(apart) == 1 or apart <= AMBIGUOUS, apart


AMBIGUOUS = {("keys-as-values",), ("one-projection",)}  # the same numbers; a probe tells them apart


@pytest.mark.parametrize("name", ["plain", "masked", "causal", "projected", "heads"])
def test_pairs_are_found_in_full(name):
    layout = LAYOUTS[name]
    pairs = [few for few in sets(available(name), 2) if len(few) == 2]
    drawn = random.Random(1).sample(pairs, 12)
    named = 0
    for few in drawn:
        hypothesis = {**{one.stage: one.option for one in few}, "empty": "zero"}
        found = explained(runs(layout, hypothesis))
        ids = tuple(sorted({name for one in few for name in one.ids}))
        if not any(run.error is None for run in runs(layout, hypothesis)):
            named += found == []
            continue
        named += bool(found) and (ids in [one.ids for one in found] or len(found[0].ids) < 2)
        assert all(len(one.ids) <= 2 for one in found)
    assert named == len(drawn)


@pytest.mark.parametrize("name", LAYOUTS)
def test_right_is_right_however_its_numbers_are_made(name):
    layout = LAYOUTS[name]
    rights = (
        [{}] if name == "scale" else [{one.stage: one.option for one in end} for end in endings(paths(layout).problem)]
    )
    for right in rights[::3]:
        if right.get("numerics", "stable") == "stable" and not (right.get("empty") == "nan" and layout.mask):
            found = explained(runs(layout, right))
            assert found[0].ids == (), right


@pytest.mark.parametrize("numerics", ["naive", "naive-epsilon", "naive-zeroed", "global"])
def test_overflow_is_found_alone_and_beside_another(numerics):
    layout = LAYOUTS["masked"]
    assert explained(runs(layout, {"numerics": numerics, "empty": "zero"}))[0].ids == ("overflow",)
    both = explained(runs(layout, {"numerics": numerics, "amount": "none", "empty": "zero"}))
    assert both[0].ids == ("no-scale", "overflow")


def test_nan_where_nothing_is_allowed():
    assert explained(runs(LAYOUTS["masked"], {"empty": "nan"}))[0].ids == ("nan-row",)
    assert explained(runs(LAYOUTS["causal"], {"triangle": "past", "empty": "nan"}))[0].ids == ("causal-off-by-one",)


TAKEN_OFF = {"nothing": lambda s: 0.0, "all": lambda s: s.max(), "keys": lambda s: s.max(-1, keepdims=True),
             "queries": lambda s: s.max(-2, keepdims=True)}  # fmt: skip
SUMMED = {
    "all": lambda e: e.sum(),
    "keys": lambda e: e.sum(-1, keepdims=True),
    "queries": lambda e: e.sum(-2, keepdims=True),
}
ALSO_OVERFLOWS = {("nothing", "all"), ("nothing", "keys"), ("nothing", "queries"), ("all", "keys"), ("all", "queries")}


@pytest.mark.parametrize("layout", ["softmax", "plain"])
@pytest.mark.parametrize("summed", SUMMED)
@pytest.mark.parametrize("top", TAKEN_OFF)
def test_a_softmax_whose_maximum_and_sum_run_over_axes_of_their_own(layout, top, summed):
    made = []
    for run in runs(LAYOUTS[layout], {}):
        problem = run.path.problem
        scaled = run.path.scaled({**DEFAULTS})
        with np.errstate(all="ignore"):
            e = np.exp((scaled - TAKEN_OFF[top](scaled)).astype(problem.dtype))
            weights = e / SUMMED[summed](e)
            made.append(
                Run(run.layout, run.case, run.path, (weights if layout == "softmax" else weights @ problem.xv,))
            )
    is_axis = summed != "keys" or top == "queries"  # a column's maximum is not one number for a row
    ids = ["overflow"] * ((top, summed) in ALSO_OVERFLOWS) + ["softmax-axis"] * is_axis
    assert {one.ids for one in explained(made)} == {tuple(ids)}


def test_other_numbers_where_nothing_is_allowed_are_told_and_no_mistake():
    layout = LAYOUTS["masked"]
    odd = [
        Run(run.layout, run.case, run.path, (np.where(np.isnan(run.arrays[0]), 3.5, run.arrays[0]),))
        for run in runs(layout, {"empty": "nan"})
    ]
    found = explained(odd)[0]
    assert (found.ids, found.hypothesis["empty"]) == ((), "other")
    assert explained(runs(layout, {"empty": "uniform"}))[0].hypothesis["empty"] == "uniform"


def test_what_nothing_explains_is_left_open():
    layout = LAYOUTS["plain"]
    made = [
        Run(run.layout, run.case, run.path, tuple(np.tanh(array) + 0.2 for array in run.arrays), error=run.error)
        for run in runs(layout, {})
    ]
    assert explained(made) == []


def test_a_number_of_the_source_is_tried_and_not_believed():
    layout = LAYOUTS["masked"]
    odd = runs(layout, {"how": ("in-place", -7.25, "after"), "empty": "zero"})
    assert explained(odd) == []
    assert explained(odd, [-7.25])[0].ids == ("mask-finite",)
    assert explained(runs(layout, {"empty": "zero"}), [-7.25])[0].ids == ()


def test_output_and_weights_in_either_order():
    layout = LAYOUTS["plain"]
    for at in (0, 1):
        made = []
        for run in runs(layout, {"amount": "dk"}):
            both = [run.arrays[0], run.path.predicted({"amount": "dk"}).weights]
            made.append(Run(run.layout, run.case, run.path, tuple(both if at == 0 else reversed(both))))
        found = explained(made)[0]
        assert (found.ids, found.at) == (("scale-by-dk",), at)


def test_every_mistake_has_its_words():
    hints, fixes = ({key.partition(" ")[0] for key in table} for table in (HINTS, FIXES))  # a variant may have its own
    assert set(MISTAKES) == set(MISTAKE_NAMES) == hints == fixes
    of_formula = {name for layout in LAYOUTS.values() for one in choices(paths(layout).problem) for name in one.ids}
    of_numbers = {"overflow", "nan-row"}
    of_calls = {"dropout-at-eval", "input-changed"}
    assert of_formula | of_numbers | of_calls == set(MISTAKES)
