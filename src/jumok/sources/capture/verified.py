"""Traces held against what the program mixed: rows of every layer, computed again from the q, k and v that were kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...door import TILE_BYTES
from ...trace import Floats
from .traces import Made, Refused

__all__ = ["verified"]

TOLERANCE = {"float16": 4e-3, "bfloat16": 4e-2}  # of the largest value
TOLERANCE_ELSE = 2e-5  # float64 too: many programs do their softmax in float32 whatever they are given


def verified(made: Sequence[Made | Refused]) -> list[Made | Refused]:
    """Each with how far it is from the program, at most, over the rows compared; refused where that is beyond rounding.

    Small layers that have the same axes and rule are computed together; each is judged by its own numbers.
    """
    told: dict[int, Made | Refused] = {}
    for some in _alike([one for one in made if isinstance(one, Made)]):
        for one, off, size in zip(some, *_differences(some), strict=True):
            told[id(one)] = _judged(one, float(off), float(size))
    return [told.get(id(one), one) for one in made]


def _alike(made: Sequence[Made]) -> Iterator[list[Made]]:
    """Those that one computation does, in parts whose copied keys and values are small."""
    groups: dict[Any, list[Made]] = {}
    for one in made:
        groups.setdefault(_likeness(one), []).append(one)
    for some in groups.values():
        n = max(1, TILE_BYTES // (some[0].trace.k.nbytes + some[0].trace.v.nbytes))
        yield from (some[at : at + n] for at in range(0, len(some), n))


def _likeness(one: Made) -> Any:
    steps = one.trace.steps
    if steps.rule.sink is not None or not steps.sure:  # numbers of its own, or such that its products take care
        return id(one)
    axes = tuple((array.shape, array.dtype) for array in (steps.q, steps.k, steps.v))
    return id(one.force), steps.rule.scale, steps.rule.softcap, axes, tuple(one.call.rows)


def _differences(some: Sequence[Made]) -> tuple[Any, Any]:
    """(layer,) the largest |mixed − the program's| over the sampled rows that are real and may read, and the largest value."""
    first, queries = some[0], some[0].force.queries
    at = [at for at, row in enumerate(first.call.rows) if queries[row]]
    if not at:
        return np.zeros(len(some)), np.ones(len(some))
    rows = (np.cumsum(queries) - 1)[[first.call.rows[one] for one in at]]
    steps = first.trace.steps
    q = _together([one.trace.q[:, rows] for one in some]).astype(steps.q.dtype, copy=False)
    k, v = (
        _together([getattr(one.trace, name) for one in some]).astype(getattr(steps, name).dtype, copy=False)
        for name in ("k", "v")
    )
    again = dataclasses.replace(steps, q=q, k=k, v=v, queries=rows)
    may = again.allowed.any(axis=-1)
    off = np.abs(again.mixed - _together([one.output[:, at] for one in some]))[..., may, :]
    return _largest(off), _largest(v)


def _together(arrays: Sequence[Floats]) -> Floats:
    """(layer, …) a view of one, a copy of several."""
    return arrays[0][None] if len(arrays) == 1 else np.stack(arrays)


def _largest(arrays: Floats) -> Any:
    """(layer,) the largest absolute value of each."""
    flat = arrays.reshape(len(arrays), -1)
    return np.maximum(flat.max(axis=1, initial=0), -flat.min(axis=1, initial=0))


def _judged(made: Made, off: float, size: float) -> Made | Refused:
    call = made.call
    dtype = str(call.q.dtype).removeprefix("torch.")
    if off <= TOLERANCE.get(dtype, TOLERANCE_ELSE) * max(size, 1e-30):
        return dataclasses.replace(made, off=off)
    return Refused(
        call.module,
        f"what was read gives other mixed values than the program's: off by {off:.3g} (values up to {size:.3g}, "
        f"{dtype}){'; dropout is active, try model.eval()' if call.training else ''}.",
        f"읽은 값으로 다시 계산한 출력이 프로그램의 출력과 {off:.3g}만큼 다릅니다(값은 {size:.3g}까지, {dtype})"
        f"{'. 드롭아웃이 켜져 있습니다. model.eval()을 호출하십시오' if call.training else ''}.",
    )
