"""What emerged: which head carries a task, by what it reads and by cutting it, and when that appeared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...door import Floats
from ...history import History
from .problem import MOST_HELD_OUT, Known, Problem

__all__ = ["Emerged", "emerged"]

LOWERED = 0.1  # a cut that takes less accuracy than this is no loss
IN_A_ROW = 3  # snapshots for which a curve must stay over a height, so that one lucky measurement is none

Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Emerged:
    """Which head carries a task, with the measurements that say so.

    accuracy : held out, of the whole model;  chance : of always giving the most frequent answer
    alone : accuracy of the best answer from the asking token and its place alone, all that a model without attention has
    guess : accuracy of naming any of the symbols that may be read; None where the answer is not always among them
    without : (layer, head) held-out accuracy with that head cut (its mixed values set to 0)
    without_layer : (layer,) with all heads of that layer cut
    reads : (layer, head) mean weight on what the answer depends on; None where nobody said what that is
    baseline : the best of ``baselines``, which need no look at the tokens: one fixed distance, one fixed place, even weights
    carrier : (layer, head), of the heads whose cut matters, the one that reads the answer most, or whose cut takes most;
        None where no cut matters
    shared : True where another head of the carrier's layer matters too, or no head alone but a layer does
    left : the share of what the model gained over ``alone`` that is left without the carrier, 0 to 1
    roles : other roles by name → ``reads`` (layer, head), ``baseline``, and the ``head`` (layer, head) that has it most
    appeared : the first step at which the carrier's reading, or accuracy where nobody said what is to be read, was over
        half of its way; None without a carrier, or where accuracy is hardly over ``alone``. For the rows of an example
        accuracy alone tells it
    rise : steps at which accuracy had made 1/10 and 9/10 of its way
    compared : for the rows of an example, how far W_Q, W_K (relative to their length) and the rows (total variation) are
        from the example's own; None elsewhere
    """

    accuracy: float
    chance: float
    alone: float
    guess: float | None
    without: Rows
    without_layer: tuple[float, ...]
    reads: Rows | None
    baseline: float | None
    baselines: Mapping[str, float] | None
    carrier: tuple[int, int] | None
    shared: bool
    left: float | None
    roles: Mapping[str, Mapping[str, Any]]
    appeared: int | None
    rise: tuple[int, int] | None
    compared: Mapping[str, float] | None

    def to_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def emerged(problem: Problem, model: Any, history: History, n: int = MOST_HELD_OUT) -> Emerged:
    """Measure which head carries the task, on ``n`` held-out sequences."""
    known, whole = problem.known, problem.measured(model, n)
    shape = [[(at, head) for head in range(m.n_heads)] for at, m in enumerate(problem.attentions(model).values())]
    without = tuple(tuple(problem.measured(model, n, [head]).accuracy for head in heads) for heads in shape)
    layers = tuple(
        cuts[0] if len(heads) == 1 else problem.measured(model, n, heads).accuracy
        for cuts, heads in zip(without, shape, strict=True)
    )
    reads, baselines = whole.roles.get("answer"), known.baselines.get("answer")
    carrier = _carrier(whole.accuracy, without, reads)
    return Emerged(
        accuracy=whole.accuracy,
        chance=known.chance,
        alone=known.alone,
        guess=known.guess,
        without=without,
        without_layer=layers,
        reads=None if reads is None else _rows(reads),
        baseline=None if baselines is None else max(baselines.values()),
        baselines=baselines,
        carrier=carrier,
        shared=_shared(whole.accuracy, without, layers, carrier),
        left=None if carrier is None else _left(whole.accuracy, known.alone, without[carrier[0]][carrier[1]]),
        roles={name: _role(name, role, known) for name, role in whole.roles.items() if name != "answer"},
        appeared=_appeared(history, carrier, whole.accuracy - known.alone),
        rise=_rise(history),
        compared=problem.compared(model),
    )


def _rows(array: Floats) -> Rows:
    return tuple(tuple(map(float, row)) for row in array)


def _role(name: str, reads: Floats, known: Known) -> dict[str, Any]:
    layer, head = np.unravel_index(int(reads.argmax()), reads.shape)
    return {
        "reads": _rows(reads),
        "baseline": max(known.baselines[name].values()),
        "head": (int(layer), int(head)),
    }


def _carrier(accuracy: float, cuts: Rows, reads: Floats | None) -> tuple[int, int] | None:
    """Of the heads whose cut matters, the one that reads the answer most, or whose cut takes most."""
    matter = [(at, head) for at, row in enumerate(cuts) for head, left in enumerate(row) if accuracy - left > LOWERED]
    if not matter:
        return None
    return max(matter, key=lambda at: -cuts[at[0]][at[1]] if reads is None else float(reads[at]))


def _shared(accuracy: float, cuts: Rows, layers: tuple[float, ...], carrier: tuple[int, int] | None) -> bool:
    if carrier is None:
        return any(accuracy - left > LOWERED for left in layers)
    return any(accuracy - left > LOWERED for other, left in enumerate(cuts[carrier[0]]) if other != carrier[1])


def _left(accuracy: float, alone: float, without: float) -> float | None:
    return None if accuracy - alone <= LOWERED else min(1.0, max(0.0, (without - alone) / (accuracy - alone)))


def _appeared(history: History, carrier: tuple[int, int] | None, gained: float) -> int | None:
    if "wanted" in history.task:
        return _crossed(history, history.accuracy, 0.5)
    if carrier is None or gained <= LOWERED:
        return None
    reads = history.roles.get("answer")
    return _crossed(history, history.accuracy if reads is None else reads[:, carrier[0], carrier[1]], 0.5)


def _crossed(history: History, curve: Floats, share: float) -> int | None:
    """The first snapshot from which a curve has made a share of its way, and has so for some snapshots in a row."""
    start, end = float(curve[0]), float(curve[-1])
    if end <= start:
        return None
    over = curve >= start + share * (end - start)
    return next(step for at, step in enumerate(history.steps) if over[at : at + IN_A_ROW].all())


def _rise(history: History) -> tuple[int, int] | None:
    first, last = (_crossed(history, history.accuracy, share) for share in (0.1, 0.9))
    return None if first is None or last is None else (first, last)
