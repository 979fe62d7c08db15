"""Which mistakes explain all that a learner's function gave: the smallest set of them, or none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import cases as the_cases
from .faults import Choice, choices, endings, sets
from .layouts import Layout
from .pipeline import Path, Predicted

__all__ = ["MOST", "Explained", "Judge", "Run", "distance", "explained", "matches", "tolerance"]

OF_NUMBERS = ("overflow", "nan-row")  # mistakes that show at the limits of numbers alone
MOST = 2  # mistakes in the formula that are looked for at once; those of its numbers come on top
SIZES_ONLY = ("different", "square", "single")  # a right function may be written for other sizes alone
NONE_YET = 50  # more than the mistakes that a set can have


@dataclass(frozen=True, eq=False)
class Run:
    """One case as it came out."""

    layout: Layout
    case: the_cases.Case
    path: Path
    arrays: tuple[Any, ...] = ()
    spread: tuple[Any, ...] = ()
    error: dict[str, Any] | None = None
    changed: tuple[str, ...] = ()
    varies: bool = False


@dataclass(frozen=True)
class Explained:
    """One set of choices that gives what came, in every case.

    forgiven : cases that it does not cover, such as half precision;  at : which of the returned arrays is the output
    """

    choices: tuple[Choice, ...]
    at: int = 0
    forgiven: tuple[str, ...] = ()
    ids: tuple[str, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", tuple(sorted({name for one in self.choices for name in one.ids})))

    @property
    def hypothesis(self) -> dict[str, Any]:
        """The options by stage."""
        return {one.stage: one.option for one in self.choices}


class Judge:
    """Looks for the mistakes of one way of calling, one more at a time."""

    def __init__(self, runs: Sequence[Run], literals: Iterable[float] = (), convention: str = "allowed") -> None:
        self.runs = sorted(runs, key=lambda run: _ORDER.get(run.case.name, 9))
        self.ordinary = [run for run in self.runs if run.case.is_ordinary]
        self.is_able = any(run.error is None for run in self.ordinary)
        self.best: list[Explained] = []
        if self.is_able:
            problem = next(run for run in self.ordinary if run.error is None).path.problem
            numbers = tuple(literals)
            self.available = choices(problem, numbers, convention)
            if any(_has_output_beside(run) for run in self.ordinary):
                self.available = [one for one in self.available if one.stage != "returned"]
            self.ends = list(endings(problem, numbers)) if problem.ends != "scaled" else [()]

    def look(self, n: int, among: Iterable[tuple[str, ...]] | None = None) -> list[Explained]:
        """The smallest sets that explain all runs, among those with at most n mistakes in the formula.

        among : only these sets of mistakes are looked at, those of another number of axes, where there are any

        Several come back only where they differ in their mistakes and the cases cannot tell them apart.
        """
        asked = None if among is None else {frozenset(ids) - set(OF_NUMBERS) for ids in among}
        if self.is_able:
            for few in sets(self.available, n):
                if asked is not None and frozenset(name for one in few for name in one.ids) not in asked:
                    continue
                if all(_at(run, few, rough=True) for run in self.ordinary):
                    self.best = _better(self.best, self._ended(few))
        return self.best

    def _ended(self, few: tuple[Choice, ...]) -> Iterator[Explained]:
        """With every way of making the softmax's numbers that fits; none that is larger than what was found."""
        stages = {one.stage for one in few}
        seen = [run for run in self.ordinary if not (run.error is not None and _forgivable(run))]
        rows = {one.option: one for end in self.ends for one in end if one.stage == "empty"}
        fitting = {option for option, row in rows.items() if all(_at(run, (*few, row)) for run in seen)}
        limits_first = sorted(self.runs, key=lambda run: run.case.is_ordinary)  # what is ordinary fits already
        fewest = len(self.best[0].ids) if self.best else NONE_YET
        is_plain = False  # found without a number in place of -infinity: with one it would be no simpler
        ends = [end for end in self.ends if all(one.stage != "empty" or one.option in fitting for one in end)]
        for added in dict.fromkeys(tuple(one for one in end if one.stage not in stages) for end in ends):
            has_number = any(one.stage == "how" for one in added)
            found = Explained((*few, *added))
            if len(found.ids) > fewest or (is_plain and has_number):
                continue
            whole = _whole(limits_first, found.choices)
            if whole is not None:
                fewest = len(whole.ids)
                is_plain = is_plain or (not has_number and {*whole.forgiven} <= {"half"})
                yield whole

    def is_done(self, n: int) -> bool:
        """Whether no set with n mistakes in the formula could be smaller than what was found."""
        return bool(self.best) and len(self.best[0].ids) < n


def _has_output_beside(run: Run) -> bool:
    """Whether one of several arrays is no table of weights, so that the weights came beside the output."""
    right = run.path.predicted({})
    if len(run.arrays) < 2 or right.weights is None or right.returned is None:
        return False
    return any(array.ndim > 1 and array.shape != right.weights.shape for array in run.arrays)


def explained(runs: Sequence[Run], literals: Iterable[float] = (), convention: str = "allowed") -> list[Explained]:
    """The smallest sets of mistakes that explain all runs of one way of calling; empty where none does."""
    judge = Judge(runs, literals, convention)
    for n in range(MOST + 1):
        if not judge.is_done(n):
            judge.look(n)
    return judge.best


_ORDER = {
    name: at
    for at, name in enumerate(
        ("square", "equal-5", "zeros", "tiny", "different", "equal", "single", "empty", "extreme")
    )
}


def _whole(runs: Sequence[Run], together: tuple[Choice, ...]) -> Explained | None:
    """The set, where it explains every run: always by the same one of the returned arrays."""
    at: set[int] | None = None
    forgiven = []
    overflows = any("overflow" in one.ids for one in together)  # where it ends in single precision hangs on the machine
    for run in runs:
        fits = _at(run, together)
        if not fits:
            if not (_forgivable(run) or (overflows and run.case.name == "extreme-single")):
                return None
            forgiven.append(run.case.name)
        else:
            at = fits if at is None else at & fits
    if not at or not any(run.error is None and run.case.name not in forgiven for run in runs):
        return None
    return Explained(together, min(at), tuple(forgiven))


def _forgivable(run: Run) -> bool:
    """What may differ without being a mistake: half precision, sizes that a function was not written for."""
    if run.case.dtype == "float16":
        return True
    if run.error is None:
        return False
    return run.case.name in SIZES_ONLY or run.case.dtype != "float64"


def _better(best: list[Explained], found: Iterable[Explained]) -> list[Explained]:
    """The smaller sets; among equal ones those that forgive and add least, one for each set of mistakes."""
    for one in found:
        if not best or _cost(one) < _cost(best[0]):
            best = [other for other in best if _cost(other)[:2] == _cost(one)[:2] and other.ids != one.ids]
            best = [one, *best]
        elif _cost(one)[:2] == _cost(best[0])[:2] and all(other.ids != one.ids for other in best):
            best.append(one)
    return best


def _cost(one: Explained) -> tuple[int, int, int]:
    missed = [name for name in one.forgiven if name != "half"]
    return len(one.ids), len(missed), len([a for a in one.choices if a.detail is not None])


# one run ----------------------------------------------------------------------------------------

_ANY = set(range(8))


def _at(run: Run, together: tuple[Choice, ...], rough: bool = False) -> set[int]:
    """Which of the returned arrays is what a set of choices gives; all where both end in an error.

    rough : entries that hang on a row with nothing allowed are not looked at, nor cases that may be forgiven
    """
    chosen = {one.stage: one.option for one in together}
    predicted = run.path.predicted(chosen)
    if run.error is not None:
        if predicted.returned is None or (rough and _forgivable(run)):
            return _ANY
        gives_up = {"OverflowError", "ZeroDivisionError", "FloatingPointError"} & set(run.error["kinds"])
        return _ANY if gives_up and not np.isfinite(predicted.returned).all() else set()
    if predicted.returned is None:
        return set()
    is_other = chosen.get("empty") == "other" and run.case.empty  # elsewhere there is no such row
    wild = _wild(run.path, chosen, predicted) if rough or is_other else None
    fits = {at for at in range(len(run.arrays)) if matches(run, at, predicted.returned, wild)}
    if is_other and wild is not None:
        fits = {at for at in fits if np.isfinite(run.arrays[at][wild]).all()}
    return fits


def _wild(path: Path, chosen: dict[str, Any], predicted: Predicted) -> Any:
    """Where the prediction hangs on what a row with nothing allowed gives."""
    assert predicted.returned is not None
    if not np.isnan(predicted.returned).any():
        return None
    other = path.predicted({**chosen, "empty": "zero"}).returned
    return np.isnan(predicted.returned) & ~np.isnan(other) if other is not None else None


def tolerance(run: Run, array: Any) -> float:
    """How far rounding may take a result of this number type, as a part of its largest entry."""
    coarse = {2: 4e-2, 4: 2e-4}.get(array.dtype.itemsize, 3e-6)
    coarse = max(coarse, {"float16": 4e-2, "float32": 2e-4}.get(run.case.dtype, 0.0))
    return coarse * 25 if run.case.values == "extreme" and coarse > 1e-5 else coarse


def matches(run: Run, at: int, predicted: Any, wild: Any = None) -> bool:
    """Whether a returned array is the predicted one, up to rounding (and, where two calls differ, up to chance)."""
    array = run.arrays[at]
    if array.shape != predicted.shape:
        return False
    finite = np.isfinite(predicted)
    looked = np.ones(predicted.shape, bool) if wild is None else ~wild
    if (np.isfinite(array) != finite)[looked].any():
        return False
    looked = looked & finite
    if not looked.any():
        return True
    largest = float(np.abs(predicted[looked]).max())
    allowed = tolerance(run, array) * max(largest, 1e-3)
    if run.spread:
        factor = _shrunk(array[looked], predicted[looked])
        allowed = allowed + 6 * run.spread[at][looked] + 0.02 * largest
        return bool((np.abs(array[looked] - factor * predicted[looked]) <= allowed).all())
    return bool((np.abs(array[looked] - predicted[looked]) <= allowed).all())


def distance(run: Run, explained: Explained) -> float:
    """How far an average is from what a set of mistakes gives, in its own standard errors, squared and summed."""
    predicted = run.path.predicted(explained.hypothesis).returned
    if predicted is None or not run.spread or not np.isfinite(predicted).all():
        return 0.0
    array, spread = run.arrays[explained.at], run.spread[explained.at] + 1e-6
    return float((((array - _shrunk(array, predicted) * predicted) / spread) ** 2).sum())


def _shrunk(array: Any, predicted: Any) -> float:
    """Dropout that is not made up for gives everything smaller by one factor."""
    factor = float((array * predicted).sum() / max(float((predicted**2).sum()), 1e-12))
    return factor if 0.3 < factor < 0.93 else 1.0
