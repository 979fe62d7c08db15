"""What emerged: which head carries a task, by what it reads and by cutting it, and when that appeared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...door import Floats
from ...history import History
from .problem import Problem

__all__ = ["Emerged", "emerged"]

LOWERED = 0.1  # a cut that takes less accuracy than this is no loss


@dataclass(frozen=True)
class Emerged:
    """Which head carries a task, with the measurements that say so.

    accuracy : held out, of the whole model;  chance : of always giving the most frequent answer
    without : (layer, head) held-out accuracy with that head cut (its mixed values set to 0)
    reads, baseline : (layer, head) mean weight on what the answer depends on, and the best without a look at the tokens;
        None where nobody said what that is
    carrier : (layer, head) that reads it most above the baseline, or whose cut takes most; None where no cut matters
    shared : True where another head of its layer matters too
    appeared : the first step at which the carrier's reading, or else accuracy, was over half of its way
    rise : steps at which accuracy had made 1/10 and 9/10 of its way
    """

    accuracy: float
    chance: float
    without: tuple[tuple[float, ...], ...]
    reads: tuple[tuple[float, ...], ...] | None
    baseline: float | None
    carrier: tuple[int, int] | None
    shared: bool
    appeared: int | None
    rise: tuple[int, int] | None

    def to_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def emerged(problem: Problem, model: Any, history: History, n: int = 1024) -> Emerged:
    """Measure which head carries the task."""
    whole = problem.measured(model, n)
    shape = [(at, module.n_heads) for at, module in enumerate(problem.attentions(model).values())]
    cuts = tuple(tuple(problem.measured(model, n, (at, head)).accuracy for head in range(heads)) for at, heads in shape)
    reads = whole.roles.get("answer")
    carrier = _carrier(whole.accuracy, cuts, reads)
    of_carrier = None if carrier is None or reads is None else history.roles["answer"][:, carrier[0], carrier[1]]
    return Emerged(
        accuracy=whole.accuracy,
        chance=whole.chance,
        without=cuts,
        reads=None if reads is None else tuple(tuple(map(float, row)) for row in reads),
        baseline=whole.baselines.get("answer"),
        carrier=carrier,
        shared=carrier is not None and _shared(whole.accuracy, cuts, carrier),
        appeared=_crossed(history, history.accuracy if of_carrier is None else of_carrier, 0.5),
        rise=_rise(history),
    )


def _carrier(accuracy: float, cuts: tuple[tuple[float, ...], ...], reads: Floats | None) -> tuple[int, int] | None:
    """Of the heads whose cut matters, the one that reads the answer most, or whose cut takes most."""
    matter = [(at, head) for at, row in enumerate(cuts) for head, left in enumerate(row) if accuracy - left > LOWERED]
    if not matter:
        return None
    return max(matter, key=lambda at: -cuts[at[0]][at[1]] if reads is None else float(reads[at]))


def _shared(accuracy: float, cuts: tuple[tuple[float, ...], ...], carrier: tuple[int, int]) -> bool:
    layer, head = carrier
    return any(accuracy - left > LOWERED for other, left in enumerate(cuts[layer]) if other != head)


def _crossed(history: History, curve: Floats, share: float) -> int | None:
    """The first snapshot at which a curve had made a share of its way, and stayed there on average."""
    start, end = float(curve[0]), float(curve[-1])
    if end <= start:
        return None
    over = np.flatnonzero(curve >= start + share * (end - start))
    return history.steps[int(over[0])]


def _rise(history: History) -> tuple[int, int] | None:
    first, last = (_crossed(history, history.accuracy, share) for share in (0.1, 0.9))
    return None if first is None or last is None else (first, last)
