"""The counting arrays: they compute what NumPy computes, and count what a plain loop counts."""

import numpy as np
import pytest

from jumok.variants.counting import Tally


def test_products_are_counted_by_their_three_sizes():
    tally = Tally()
    a, b = tally.array(np.ones((5, 2, 3))), tally.array(np.ones((3, 4)))
    made = a @ b
    assert made.shape == (5, 2, 4)
    assert tally.multiply_adds == 5 * 2 * 3 * 4
    assert np.array_equal(tally.matmul(a, b).plain, made.plain)
    assert tally.multiply_adds == 2 * 5 * 2 * 3 * 4
    assert tally.exponentials == 0


def test_exponentials_are_counted_one_a_number():
    tally = Tally()
    made = tally.exp(tally.array(np.zeros((2, 3))) + 1)
    assert np.allclose(made.plain, np.e)
    assert (tally.exponentials, tally.multiply_adds) == (6, 0)


def test_numbers_on_the_left_and_comparisons_stay_counting_arrays():
    tally = Tally()
    a = tally.array([1.0, 2.0, 3.0])
    for made, wanted in (
        ((2 - a), [1, 0, -1]),
        ((1 / a) * 6, [6, 3, 2]),
        (-a, [-1, -2, -3]),
        (a >= 2, [0, 1, 1]),
        (a[1:], [2, 3]),
    ):
        assert type(made) is type(a)
        assert made.plain.tolist() == wanted


def test_what_is_not_counted_is_not_there():
    with pytest.raises(AttributeError, match="tensordot is not counted"):
        Tally().tensordot  # noqa: B018
