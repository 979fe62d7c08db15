"""How far two rows of weights are apart, over the keys that both texts have."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..door import tiles
from ..trace import Trace

__all__ = ["Doubles", "Pair", "Part", "distance", "in_tiles", "row_distances", "shared_out", "without"]

Doubles = npt.NDArray[np.float64]
Pair = tuple[int, int]
Part = tuple[Doubles, Doubles, Doubles]  # shared out over matched keys, their mass, the mass of the others


def distance(p: Doubles, q: Doubles) -> Doubles:
    """(…) the Jensen–Shannon distance of rows that sum to 1: from 0, the same, to 1, nothing in common.

    p, q : (…, key)

    >>> distance(np.array([1.0, 0.0]), np.array([0.0, 1.0])).round(3).item()
    1.0
    """
    total = p + q
    apart = np.divide(p - q, total, out=np.zeros_like(total), where=total > 0)  # p = m(1 + apart), q = m(1 - apart)
    # With log1p, so that rows which differ in their last digit are not lost in the rounding of two logarithms.
    terms = total / 2 * (_times_log(apart) + _times_log(-apart))
    found: Doubles = np.sqrt(np.clip(terms.sum(axis=-1) / (2 * math.log(2)), 0, 1))
    return found


def _times_log(apart: Doubles) -> Doubles:
    """(1 + x) · log(1 + x), 0 at x = −1."""
    made: Doubles = (1 + apart) * np.log1p(apart, out=np.zeros_like(apart), where=apart > -1)
    return made


def shared_out(weights: npt.NDArray[Any], keys: list[int]) -> Part:
    """(…, key) weights → (…, some keys), each row made to sum to 1, or left 0; and what was on these and on other keys."""
    wide = weights.astype(np.float64)
    on = wide[..., keys]
    mass = on.sum(axis=-1)
    others = wide[..., list(without(wide.shape[-1], keys))].sum(axis=-1)
    shared = np.divide(on, mass[..., None], out=np.zeros_like(on), where=mass[..., None] > 0)
    return shared, mass, others


def in_tiles(
    a: Trace, b: Trace, pairs: Sequence[Pair], keys: Sequence[Pair], head: int | None = None
) -> Iterable[tuple[Part, Part]]:
    """The rows of the matched queries in both, so many at a time that they take little.

    (head, row, key pair);  head : one, kept as an axis, or None for all
    """
    n_heads = a.n_heads if head is None else 1
    heads = None if head is None else [head]
    for rows in tiles(len(pairs), n_heads * max(a.n_keys, b.n_keys) * 8):
        some = [pairs[at] for at in rows]
        made = [
            shared_out(one.rows("weights", queries=[pair[side] for pair in some], heads=heads), [p[side] for p in keys])
            for side, one in enumerate((a, b))
        ]
        yield made[0], made[1]


def row_distances(p: Doubles, p_mass: Doubles, q: Doubles, q_mass: Doubles) -> Doubles:
    """(head, row) NaN where one of the two has no weight on a matched key."""
    return np.where((p_mass > 0) & (q_mass > 0), distance(p, q), np.nan)


def without(n: int, taken: Iterable[int]) -> tuple[int, ...]:
    """The positions from 0 to n − 1 that are not taken."""
    rest = set(taken)
    return tuple(at for at in range(n) if at not in rest)
