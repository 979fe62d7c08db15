"""The record of steps: each number checked against the row itself."""

from __future__ import annotations

import numpy as np
import pytest

from cases import CASES, drawn, expected, steps_of
from jumok import variants
from jumok.errors import InputError
from libraries import LIBRARIES

NAMES = ["two heads", "causal", "everything at once", "sink, nothing allowed", "nothing allowed", "grouped heads"]


@pytest.mark.parametrize("tile", [1, 2, 99])
@pytest.mark.parametrize("name", NAMES)
def test_each_fold_is_the_softmax_of_the_keys_so_far(name: str, tile: int) -> None:
    steps, whole = steps_of(name, LIBRARIES["numpy"], np.array), expected(name)
    sink = CASES[name].loop.get("sink")
    for head in range(CASES[name].heads):
        for query in range(CASES[name].n):
            told = variants.flash_steps(steps.q, steps.k, steps.v, steps.rule, query=query, head=head, tile=tile)
            seen = [] if sink is None else [sink[head]]
            v = whole["v"][head // (CASES[name].heads // len(whole["v"]))]
            sums, top = np.zeros(v.shape[1]), seen[0] if seen else None
            for fold in told.folds:
                read = [key for key in fold.keys if whole["allowed"][query, key]]
                assert list(fold.read) == read
                np.testing.assert_allclose(fold.scores, whole["scaled"][head, query, read], rtol=1e-12)
                assert fold.top_before is None if top is None else fold.top_before == pytest.approx(top)
                seen += list(fold.scores)
                if not seen:
                    assert (fold.top, fold.total, fold.rescale) == (None, 0.0, 0.0)
                    continue
                new = max(seen)
                sums = sums * (0 if top is None else np.exp(top - new)) + np.exp(np.array(fold.scores) - new) @ v[read]
                top = new
                assert fold.top == pytest.approx(new)
                assert fold.total == pytest.approx(float(np.exp(np.array(seen) - new).sum()), rel=1e-12)
                assert fold.total == pytest.approx(fold.total_before * fold.rescale + fold.added, rel=1e-12)
                np.testing.assert_allclose(fold.mixed, sums, rtol=1e-12, atol=1e-13)
            np.testing.assert_allclose(told.mixed, whole["mixed"][head, query], rtol=1e-12, atol=1e-13)
            wanted = None if not seen else pytest.approx(float(np.logaddexp.reduce(seen)), rel=1e-12)
            assert told.lse == wanted


def test_the_memory_of_linear_attention_is_the_sum_over_keys() -> None:
    q, k, v = (drawn(*shape, seed=3) for shape in ((4, 6, 3), (2, 6, 3), (2, 6, 2)))
    told = variants.linear_steps(q, k, v, "causal", head=3)
    phi = np.where(k[1] > 0, k[1] + 1, np.exp(k[1]))
    mixed = variants.linear(q, k, v, "causal")
    for i, step in enumerate(told):
        np.testing.assert_allclose(step.keys, phi[: i + 1].sum(0), rtol=1e-12)
        np.testing.assert_allclose(step.values, phi[: i + 1].T @ v[1, : i + 1], rtol=1e-12, atol=1e-14)
        assert step.total == pytest.approx(float(np.dot(step.features, step.keys)))
        np.testing.assert_allclose(step.mixed, mixed[3, i], rtol=1e-12, atol=1e-13)
    assert [step.query for step in told] == list(range(6))


ONE = np.ones((1, 3, 2))
REFUSED = {
    "a batch": (lambda: variants.flash_steps(ONE[None], ONE[None], ONE[None]), "one sequence", "배치 축이 없는"),
    "no such query": (
        lambda: variants.flash_steps(ONE, ONE, ONE, query=3),
        "query expects a position from 0 to 2, got 3",
        "query에는",
    ),
    "no such head": (
        lambda: variants.linear_steps(ONE, ONE, ONE, head=1),
        "head expects a position from 0 to 0",
        "head에는",
    ),
    "no tile": (
        lambda: variants.flash_steps(ONE, ONE, ONE, tile=0),
        "tile expects a whole number, 1 or more",
        "tile에는",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_steps_is_refused(name: str) -> None:
    make, en, ko = REFUSED[name]
    with pytest.raises(InputError, match=en) as told:
        make()
    assert ko in told.value.ko
