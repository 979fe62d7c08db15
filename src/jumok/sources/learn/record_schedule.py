"""When snapshots are taken of a training whose end nobody knows."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from ...errors import InputError
from ...words import with_particle

__all__ = ["Every", "Growing", "Listed", "Schedule", "schedule_of"]

N_DENSE = 10  # steps of which each has a snapshot
GROWTH = 10  # then the gap is a tenth of the steps made


class Every:
    """Each n-th step."""

    def __init__(self, n: int) -> None:
        self.n = n

    def after(self, step: int) -> int | None:
        """The next planned step."""
        return (step // self.n + 1) * self.n


class Listed:
    """These steps."""

    def __init__(self, steps: Iterable[int]) -> None:
        self.steps = sorted(set(steps))

    def after(self, step: int) -> int | None:
        """The next planned step, or None after the last."""
        return next((one for one in self.steps if one > step), None)


class Growing:
    """Each of the first ten steps, then gaps that grow with the steps made: 112 snapshots in 100,000 steps.

    Of these a recording leaves out what would take too much of the training's time.

    >>> Growing().after(3), Growing().after(10), Growing().after(1000)
    (4, 11, 1100)
    """

    def after(self, step: int) -> int | None:
        """The next planned step."""
        return step + max(1, step // GROWTH)


Schedule = Every | Listed | Growing


def schedule_of(every: Any) -> Schedule:
    """The schedule for a number of steps between snapshots, a list of steps, or None.

    Errors: ``InputError`` for a number below 1, a step below 0, an empty list, or anything else.
    """
    if every is None:
        return Growing()
    if isinstance(every, (list, tuple, range, set, frozenset)) and every:
        return Listed([_whole(step, 0, every) for step in every])
    return Every(_whole(every, 1, every))


def _whole(value: Any, least: int, given: Any) -> int:
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -1
    if number < least:
        raise InputError(
            en=f"every expects how many steps lie between snapshots (1 or more), a list of steps from 0, or None, got {given!r}.",
            ko=f"every에는 스냅샷 사이의 단계 수(1 이상), 0 이상인 단계의 목록, None 가운데 하나가 필요한데 {with_particle(repr(given), '이/가')} 왔습니다.",
        )
    return number
