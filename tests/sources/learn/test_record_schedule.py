"""When snapshots are taken: as asked, or dense at the start with growing gaps."""

import itertools

import numpy as np
import pytest

from jumok.errors import InputError
from jumok.sources.learn.record_schedule import Growing, schedule_of


def planned(schedule, n_steps):
    steps, at = [], schedule.after(0)
    while at is not None and at <= n_steps:
        steps.append(at)
        at = schedule.after(at)
    return steps


def test_each_nth_step():
    assert planned(schedule_of(7), 30) == [7, 14, 21, 28]
    assert planned(schedule_of(np.int64(7)), 14) == [7, 14]
    assert schedule_of(7).after(9) == 14, "a training that is resumed keeps the same steps"


def test_a_list_of_steps_in_any_order():
    assert planned(schedule_of([50, 3, 3, 0]), 100) == [3, 50]


def test_the_default_sees_each_of_the_first_ten_and_then_gaps_of_at_most_a_tenth():
    steps = planned(schedule_of(None), 100_000)
    assert steps[:11] == list(range(1, 12))
    assert all(b - a <= max(1, a / 10) for a, b in itertools.pairwise(steps))
    assert len(steps) == 111
    assert isinstance(schedule_of(None), Growing)


@pytest.mark.parametrize("every", [0, -3, True, 2.5, "often", [], [3, -1], [1.5], [True]])
def test_what_is_no_schedule_is_refused(every):
    with pytest.raises(InputError, match="every expects") as caught:
        schedule_of(every)
    assert "every에는" in caught.value.text("ko")
