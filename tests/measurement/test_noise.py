"""Edits that should not matter: what they are, and how heads stand above them."""

import numpy as np
import pytest

import jumok
from jumok.measurement.noise import neutral_edits, shifts
from jumok.trace import Reading, Trace

N = 5


def reading(seed=0, shift=0.0):
    """Two layers; ``shift`` moves what head 1 of layer 1 asks with token 2."""
    layers = []
    for at in range(2):
        rng = np.random.default_rng(10 + at)
        q, k, v = (rng.normal(size=(2, N, 4)) for _ in range(3))
        q = q + np.random.default_rng(seed).normal(size=q.shape) * 0.01 * (seed > 0)
        q[1, 2] += shift * at
        layers.append(Trace(tokens=[f"t{place}" for place in range(N)], q=q, k=k, v=v))
    return Reading(tuple(layers))


def test_the_head_that_moved_stands_first():
    first = reading()
    neutral = [jumok.compare(first, reading(seed)) for seed in (1, 2)]
    found = shifts(jumok.compare(first, reading(shift=3.0)), neutral)
    assert (found[0].layer, found[0].head) == (1, 1)
    assert found[0].distance > found[0].floor > 0
    assert all(one.distance < one.floor for one in found[1:])


def test_the_floor_is_the_largest_of_the_edits():
    first, other = reading(), jumok.compare(reading(), reading(shift=1.0))
    edits = [jumok.compare(first, reading(seed)) for seed in (1, 2, 3)]
    together = {(one.layer, one.head): one.floor for one in shifts(other, edits)}
    alone = [{(one.layer, one.head): one.floor for one in shifts(other, [edit])} for edit in edits]
    assert together == {name: max(one[name] for one in alone) for name in together}
    assert {one.floor for one in shifts(other, [])} == {0.0}


def test_one_tokens_row_only():
    first = reading()
    found = jumok.compare(first, reading(shift=3.0))
    assert (shifts(found, [], 2)[0].layer, shifts(found, [], 2)[0].head) == (1, 1)
    assert max(one.distance for one in shifts(found, [], 0)) == 0
    expected = {(at, head): found.distances(at, head)[2] for at in range(2) for head in range(2)}
    assert {(one.layer, one.head): one.distance for one in shifts(found, [], 2)} == expected


def test_a_token_that_an_edit_does_not_have_counts_for_nothing():
    first = reading()
    edit = jumok.compare(first, reading(1), pairs=[(0, 0), (1, 1)])
    assert shifts(edit, [], 2) == ()
    assert {one.floor for one in shifts(jumok.compare(first, reading(2)), [edit], 2)} == {0.0}


@pytest.mark.parametrize(
    ("text", "edits"),
    [
        ("The dog is big.", ["The dog is big", "The dog is large.", "A dog is big."]),
        ("a dog", ["a dog.", "the dog"]),
        ("고양이는 매우 작다.", ["고양이는 매우 작다", "고양이는 아주 작다."]),
        ("Theme", ["Theme."]),
    ],
)
def test_the_edits_that_are_made_up(text, edits):
    assert list(neutral_edits(text)) == edits


def test_the_word_that_is_looked_at_stays():
    assert "A dog is big." not in neutral_edits("The dog is big.", "The")
