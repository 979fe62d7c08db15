"""The bank of mistakes: each is one option of one stage of ``pipeline``, with the id that stands in the texts.

A choice without ids is another right way of writing it: it may explain what came, and is told as such.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .pipeline import Problem

__all__ = ["ENDINGS", "MISTAKES", "Choice", "choices", "endings", "sets"]

MISTAKES = (
    "no-scale", "scale-by-dk", "scale-by-sqrt-dmodel", "scale-multiplied", "scale-after-softmax",
    "softmax-axis", "softmax-twice", "softmax-missing",
    "wrong-triangle", "causal-off-by-one", "mask-after-softmax", "mask-finite", "mask-inverted", "mask-ignored",
    "padding-on-query", "zeros-masked",
    "heads-ignored", "heads-reshaped", "keys-as-values", "q-k-swapped", "one-projection", "missing-transpose",
    "overflow", "nan-row", "dropout-at-eval", "weights-returned", "input-changed",
)  # fmt: skip

WEAK = (
    0.0, 1e-9, -1e-9, 1.0, -0.1, -0.5, -1.0, -2.0, -3.0, -5.0, -10.0, -20.0, -50.0, -100.0, -500.0, -1000.0, -5000.0,
)  # fmt: skip
STRONG = -1e4  # from here down, a number hides as well as -infinity, but for scores of that size


@dataclass(frozen=True)
class Choice:
    """One option of one stage.

    ids : the mistakes that it is; none for another right way
    detail : which variant, as a key of the texts, with what fills it
    is_guessed : True for a number that does not stand in the source: looked for alone, not beside another mistake
    """

    stage: str
    option: Any
    ids: tuple[str, ...] = ()
    detail: tuple[str, Any] | None = None
    is_guessed: bool = False


def choices(problem: Problem, literals: Iterable[float] = (), convention: str = "allowed") -> list[Choice]:
    """The options that can show in a problem of this kind.

    literals : numbers that stand in the learner's source; what they do is tried, never believed
    convention : "either" where the mask's True may mean both
    """
    made = [*_of_scale(problem)]
    if problem.ends == "scaled" and problem.table is not None:
        return made
    if problem.ends != "weights":
        made += _of_qkv(problem)
    if problem.ends == "scaled":
        return made
    made += [*_of_softmax(), *_of_mask(problem, literals, convention)]
    return made


def _of_scale(problem: Problem) -> Iterator[Choice]:
    if problem.ends == "weights":
        return
    yield Choice("amount", "none", ("no-scale",))
    yield Choice("amount", "dk", ("scale-by-dk",))
    yield Choice("amount", "times", ("scale-multiplied",))
    yield Choice("amount", "times-dk", ("scale-multiplied", "scale-by-dk"))
    for name in problem.sizes:
        if name == "d_head":
            continue
        wrong = ("axis", name)
        yield Choice("amount", (-0.5, name), ("scale-by-sqrt-dmodel",), wrong)
        yield Choice("amount", (-1.0, name), ("scale-by-dk", "scale-by-sqrt-dmodel"), wrong)
        yield Choice("amount", (0.5, name), ("scale-multiplied", "scale-by-sqrt-dmodel"), wrong)
    if problem.ends == "output":
        yield Choice("where", "after", ("scale-after-softmax",))


def _of_qkv(problem: Problem) -> Iterator[Choice]:
    yield Choice("scores", "no-transpose", ("missing-transpose",))
    yield Choice("scores", "reshaped", ("missing-transpose",), ("reshaped", None))
    yield Choice("scores", "kq", ("q-k-swapped",))
    if problem.ends == "scaled":
        return
    yield Choice("mix", "transposed", ("q-k-swapped",))
    yield Choice("returned", "weights", ("weights-returned",))
    for role in "kq":
        yield Choice("values", role, ("keys-as-values",), ("values", role))
    if problem.projections:
        for roles in ("qqv", "kkv", "vkv", "qvv", "qkk", "qkq", "qqq", "kkk", "vvv", "kqv"):
            one = "q-k-swapped" if roles == "kqv" else "one-projection"
            yield Choice("roles", roles, (one,), ("roles", roles))
    if problem.n_heads > 1:
        for whole in ("one", "one-narrow"):  # divided by the root of its own width, or of that of one of the heads
            yield Choice("split", whole, ("heads-ignored",))
        yield Choice("split", "reshape", ("heads-reshaped",), ("heads", "split"))
        yield Choice("split", "reshape-both", ("heads-reshaped",), None)
        yield Choice("join", "reshape", ("heads-reshaped",), ("heads", "join"))
        yield Choice("split", "interleaved", (), ("heads-interleaved", None))


def _of_softmax() -> Iterator[Choice]:
    for axis in ("queries", "heads", "batch", "all"):
        yield Choice("axis", axis, ("softmax-axis",), ("softmax", axis))
    for over, top in (("queries", "keys"), ("all", "keys"), ("all", "queries")):  # the sum's axis is what is wrong
        yield Choice("axis", (over, top), ("softmax-axis",), ("softmax", over))
    yield Choice("axis", ("keys", "queries"), ("softmax-axis",), ("softmax", "top"))
    for form in ("twice", "twice-masked"):
        yield Choice("form", form, ("softmax-twice",))
    missing = ("scores", "scores-zeroed", "shares", "shares-inf", "shares-absolute", "shares-positive", "squares")
    for form in (*missing, "exp", "exp-top", "log", "sigmoid"):
        yield Choice("form", form, ("softmax-missing",), ("missing", form))
    yield Choice("zeros", "masked", ("zeros-masked",))


def _of_mask(problem: Problem, literals: Iterable[float], convention: str) -> Iterator[Choice]:
    if problem.given is None and not problem.causal:
        return
    yield Choice("how", "after-softmax", ("mask-after-softmax",))
    numbers = set(literals)
    written = {value for one in numbers for value in (one, -one) if STRONG < value <= 10 and value not in (0.5, 2.0)}
    values = list(dict.fromkeys([*sorted(written), *WEAK]))
    for value, when in itertools.product(values, ("after", "before")):
        if value == 0 and when == "before":
            continue
        guessed = bool(numbers) and value != 0 and value not in written
        for kind in ("in-place", "added") if value < -1e-6 else ("in-place",):
            yield Choice("how", (kind, value, when), ("mask-finite",), ("value", value), guessed)
    if problem.causal:
        for triangle in ("upper", "strict-upper"):
            yield Choice("triangle", triangle, ("wrong-triangle",))
        for triangle in ("past", "ahead"):
            yield Choice("triangle", triangle, ("causal-off-by-one",), ("off-by-one", triangle))
        yield Choice("triangle", "ignored", ("mask-ignored",), ("ignored", "causal"))
    if problem.given is not None:
        yield Choice("which", "inverted", () if convention == "either" else ("mask-inverted",))
        yield Choice("which", "ignored", ("mask-ignored",), ("ignored", "given"))
        yield Choice("which", "query", ("padding-on-query",))


def sets(available: list[Choice], n_ids: int) -> Iterator[tuple[Choice, ...]]:
    """All sets of choices of different stages that are this many mistakes; right ways beside them are added."""
    free = [one for one in available if not one.ids]
    wrong = [one for one in available if one.ids]
    for few in ((), *((one,) for one in free if n_ids < 2)):
        for n in range(n_ids + 1):
            for some in itertools.combinations([one for one in wrong if n < 2 or not one.is_guessed], n):
                ids = {name for one in some for name in one.ids}
                stages = {one.stage for one in (*some, *few)}
                if len(ids) == n_ids and len(stages) == len(some) + len(few):
                    yield (*few, *some)


ENDINGS = ("stable", "naive", "naive-epsilon", "naive-zeroed", "global")


def endings(problem: Problem, literals: Iterable[float] = ()) -> Iterator[tuple[Choice, ...]]:
    """How the numbers of the softmax are made, which shows only at its limits: right ways first."""
    masked = problem.given is not None
    empty = [Choice("empty", name, (), ("empty", name)) for name in ("zero", "uniform", "scores")]
    nothing = Choice("empty", "nan", ("nan-row",) if masked else (), None)
    vanished = Choice(
        "empty", "nan", (), None
    )  # where e to a large negative power became 0: the same mistake as an overflow
    strong = sorted({one for one in literals if one <= STRONG} | {-1e4, -1e5}, reverse=True)
    late = ("after-renormalised", "after-renormalised-epsilon")
    hows = [None, *(Choice("how", one, (), ("renormalised", None)) for one in late)]
    hows += [
        Choice("how", (kind, value, when), (), ("value", value))
        for value in strong if value > -1e7 for kind in ("in-place", "added") for when in ("after", "before")
    ]  # fmt: skip
    for numerics in ENDINGS:
        ids = () if numerics == "stable" else ("overflow",)
        kept = Choice("numerics", numerics, ids, None if numerics == "stable" else ("numerics", numerics))
        rows = [*empty, nothing] if masked and numerics == "stable" else [vanished, *empty]
        for how, row in itertools.product(hows if problem.given is not None or problem.causal else [None], rows):
            yield (kept, row) if how is None else (kept, row, how)
    if masked:  # after all that is known: some other number in a row with nothing allowed
        yield (Choice("numerics", "stable"), Choice("empty", "other", (), ("empty", "other")))
