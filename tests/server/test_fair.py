"""The queue: everybody in turn, whatever each of them sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jumok.server.fair import Fair

WORKS = st.lists(st.sampled_from("abcd"), max_size=40)


def filled(visitors):
    queue = Fair()
    for at, visitor in enumerate(visitors):
        queue.put(visitor, (visitor, at))
    return queue


@given(WORKS)
def test_all_of_it_comes_out_once_and_each_visitors_in_order(visitors):
    queue = filled(visitors)
    taken = [queue.take() for _ in range(len(queue))]
    assert sorted(taken, key=lambda one: one[1]) == list(zip(visitors, range(len(visitors)), strict=True))
    for visitor in set(visitors):
        own = [at for of, at in taken if of == visitor]
        assert own == sorted(own)
    assert len(queue) == 0


@given(WORKS)
def test_nobody_waits_for_two_pieces_of_another(visitors):
    """While somebody waits, nobody else is served twice."""
    queue = filled(visitors)
    left = {visitor: visitors.count(visitor) for visitor in visitors}
    since = {visitor: dict.fromkeys(left, 0) for visitor in left}
    while len(queue):
        served, _ = queue.take()
        left[served] -= 1
        since[served] = dict.fromkeys(left, 0)
        for visitor in left:
            if visitor != served and left[visitor]:
                since[visitor][served] += 1
                assert since[visitor][served] <= 1


@given(WORKS)
def test_ahead_says_how_many_are_taken_before(visitors):
    queue = filled(visitors)
    works = list(zip(visitors, range(len(visitors)), strict=True))
    told = {work: queue.ahead(work) for work in works}
    taken = [queue.take() for _ in range(len(queue))]
    assert told == {work: taken.index(work) for work in works}
    assert queue.ahead(("a", 0)) is None


@given(WORKS, st.data())
def test_what_is_removed_does_not_come(visitors, data):
    queue = filled(visitors)
    works = list(zip(visitors, range(len(visitors)), strict=True))
    gone = data.draw(st.sampled_from(works)) if works else ("a", 0)
    assert queue.remove(gone) is bool(works)
    assert not queue.remove(gone)
    taken = [queue.take() for _ in range(len(queue))]
    assert set(taken) == set(works) - {gone}
    assert queue.of(gone[0]) == 0


def test_nothing_can_be_taken_where_nothing_waits():
    with pytest.raises(KeyError):
        Fair().take()


def test_who_is_busy_is_passed_over_and_keeps_the_place():
    queue = filled("aab")
    assert queue.take(busy=["a"]) == ("b", 2)
    assert not queue.can_take(busy=["a"])
    with pytest.raises(KeyError):
        queue.take(busy=["a"])
    assert queue.can_take()
    assert queue.take() == ("a", 0)
