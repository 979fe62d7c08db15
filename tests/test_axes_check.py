"""The check of the axes goes red where it should, and is on."""

from __future__ import annotations

import doctest
from typing import Annotated, Any

import numpy as np
import pytest

import jumok.path
from axes_check import WrongAxes, checked, switch_on
from jumok.path import axes as ax
from jumok.path import scores, weights


def right(q: ax.Q, k: ax.K) -> ax.Scores:
    return q @ k.mT


def wrong_result(q: ax.Q, k: ax.K, v: ax.V) -> ax.Mixed:
    return q @ k.mT


def wrong_order(q: Annotated[Any, "query head d_head"], k: Annotated[Any, "... key d_head"]) -> ax.Scores:
    return q @ k.mT


def maybe(q: ax.Q, w_o: ax.OutProjection | None = None, *, bias: ax.Bias | None = None) -> None:
    pass


Q, K = np.ones((2, 3, 4)), np.ones((2, 5, 4))


def test_what_fits_passes() -> None:
    assert checked(right)(Q, K).shape == (2, 3, 5)
    assert checked(right)(np.ones((7, 2, 3, 4)), K).shape == (7, 2, 3, 5)
    checked(maybe)(Q)
    checked(maybe)(Q, np.ones((8, 6)), bias=np.ones((1, 3, 5)))


@pytest.mark.parametrize(
    ("function", "arguments", "said"),
    [
        (
            wrong_result,
            {"q": Q, "k": K, "v": np.ones((2, 5, 6))},
            r"result of wrong_result.*d_value=5, but .* d_value=6",
        ),
        (
            wrong_order,
            {"q": Q, "k": K},
            r"result of wrong_order is \(2, 3, 5\).*head=2, but wrong_order\(q\) has head=3",
        ),
        (right, {"q": Q, "k": np.ones((2, 5, 3))}, r"d_head=3, but right\(q\) has d_head=4"),
        (right, {"q": Q, "k": np.ones((5, 4))}, r"3 axes are written, 2 came"),
        (right, {"q": np.ones((3, 2, 5, 4)), "k": np.ones((2, 2, 5, 4))}, r"leading axes \(2,\) do not go with \(3,\)"),
        (right, {"q": np.ones((3, 5, 4)), "k": K}, r"kv_head=2 does not divide head=3"),
        (maybe, {"q": Q, "bias": np.ones((3, 3, 3))}, r"bias_head=3 is neither 1 nor head=2"),
        (maybe, {"q": Q, "w_o": np.ones(8)}, r"2 axes are written, 1 came"),
    ],
)
def test_what_does_not_fit_is_refused(function: Any, arguments: Any, said: str) -> None:
    with pytest.raises(WrongAxes, match=said):
        checked(function)(**arguments)


def test_a_function_without_axes_is_left_alone() -> None:
    assert checked(test_what_fits_passes) is None


def test_the_check_is_on_for_the_whole_path() -> None:
    on = switch_on()
    for name in [
        "scores.dot",
        "weights.softmax",
        "output.joined",
        "qkv.split",
        "attend",
        "Steps.weights",
        "parts.bias",
    ]:
        assert f"jumok.path.{name}" in on
    assert len(on) > 30
    with pytest.raises(WrongAxes, match=r"dot\(k\) is .*d_head=3, but dot\(q\) has d_head=4"):
        jumok.path.dot(np.ones((1, 2, 4)), np.ones((1, 2, 3)))
    with pytest.raises(WrongAxes, match=r"softmax\(allowed\).*key=1, but softmax\(scaled\) has key=3"):
        weights.softmax(np.ones((1, 2, 3)), np.ones((2, 1), bool))


def test_the_record_of_a_property_is_checked() -> None:
    q = k = np.ones((1, 2, 4))
    with pytest.raises(WrongAxes, match=r"Steps.__init__\(v\) is .*key=3, but Steps.__init__\(k\) has key=2"):
        jumok.path.Steps(q, k, np.ones((1, 3, 4)))
    steps = jumok.path.Steps(q, k, k)
    object.__setattr__(steps, "v", np.ones((1, 3, 4)))
    with pytest.raises(WrongAxes, match=r"Steps\.v is .*key=3, but Steps\.k has key=2"):
        steps.weights  # noqa: B018


def test_doctest_still_finds_what_is_checked() -> None:
    found = {test.name for test in doctest.DocTestFinder().find(scores) if test.examples}
    assert found == {"jumok.path.scores.dot", "jumok.path.scores.scaled"}
