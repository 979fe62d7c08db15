"""A design as plain JSON: the same numbers, both languages, nothing that JSON cannot hold."""

import json

import numpy as np
import pytest

import jumok
from jumok.sources.design.report import report, told


def designs():
    twin = np.vstack([np.eye(3), np.eye(3)[1]])
    yield jumok.design(np.eye(3), {0: {1: 0.7}})
    yield jumok.design(twin, [{0: {1: 0.6, 3: 0.1}}, {1: {0: 0.6}}])
    yield jumok.design([np.eye(3), np.eye(3)[:2]], [{0: {1: 0.6}}, {0: {1: 0.1}}])
    yield jumok.design(np.eye(4), np.random.default_rng(0).dirichlet(np.ones(4), 4), d_k=1)
    yield jumok.design(np.eye(3), {0: {1: 0.5, 2: 0.5}})


@pytest.mark.parametrize("found", list(designs()))
def test_a_report_is_plain_json_and_says_what_the_design_says(found):
    said = report(found)
    assert json.loads(json.dumps(said, allow_nan=False)) == said
    assert said == found.to_json()
    assert (said["exact"], said["finished"], said["gap"], said["d_k"]) == (
        found.exact,
        found.finished,
        found.gap,
        found.d_k,
    )
    assert [head["loss"] for head in said["heads"]] == [head.loss for head in found.found]
    errors = found.row_error if isinstance(found.row_error, tuple) else (found.row_error,)
    for mine, theirs in zip(said["errors"], errors, strict=True):
        np.testing.assert_array_equal(np.array(mine, float), theirs)
    assert len(said["reasons"]) == len(found.reasons)


def test_a_reason_has_its_texts_in_both_languages():
    reason = jumok.design(np.zeros((2, 1)), {0: {1: 0.9}}).reasons[0]
    said = told(reason)
    assert said["text"] == {"en": reason.text("en"), "ko": reason.text("ko")}
    assert [lift["text"]["ko"] for lift in said["lifts"]] == [lift.text("ko") for lift in reason.lifts]
    assert said["facts"] == dict(reason.facts)


def test_what_was_wanted_travels_with_the_trace():
    found = jumok.design(np.eye(3), {2: {1: 0.7}}, rule="causal")
    details = found.trace().source.details
    assert details["wanted"] == [{"2": {"0": pytest.approx(0.15), "1": pytest.approx(0.7), "2": pytest.approx(0.15)}}]
    assert details["design"] == found.to_json()
