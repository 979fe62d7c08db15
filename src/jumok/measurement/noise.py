"""What only rounding changes: the same q and k through float32 and through float64."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..door import tiles
from ..errors import OverflowRefused
from ..path import Steps
from ..trace import Trace
from .row_distances import row_distances, shared_out

__all__ = ["NoiseFloor", "noise_floor"]

N_ROWS = 64


@dataclass(frozen=True)
class NoiseFloor:
    """How much rounding alone can change: the same q and k, through float32 and through float64.

    weight : the largest difference of one weight;  distance : the largest mean distance of one head
    n_rows : queries looked at in each text, spread over it

    It says what two runs of a program in float32 may differ by without meaning anything. It knows nothing of
    what q and k lost before they came into the record (a model in half precision, storage as whole numbers).
    """

    weight: float
    distance: float
    n_rows: int


def noise_floor(layers: Sequence[tuple[Trace, list[int]]], queries: list[int]) -> NoiseFloor | None:
    """The noise floor of a record, or None where its numbers do not fit float32.

    layers : each with the keys to look at;  queries : to choose some from
    """
    some = [queries[at] for at in np.unique(np.linspace(0, len(queries) - 1, min(len(queries), N_ROWS)).astype(int))]
    weight = far = 0.0
    for trace, keys in layers:
        found = [np.zeros((trace.n_heads, 0))]
        for rows in tiles(len(some), trace.n_heads * trace.n_keys * 8):
            narrow, wide = (_weights(trace, [some[at] for at in rows], kind) for kind in (np.float32, np.float64))
            if narrow is None or wide is None:
                return None
            weight = max(weight, float(np.abs(narrow - wide).max()))
            (p, p_mass, _), (q, q_mass, _) = shared_out(narrow, keys), shared_out(wide, keys)
            found.append(row_distances(p, p_mass, q, q_mass))
        far = max([far, *_means(np.concatenate(found, axis=1))])
    return NoiseFloor(weight, far, len(some))


def _means(distances: npt.NDArray[np.float64]) -> list[float]:
    """Of each head that has a row to compare."""
    told = [head[~np.isnan(head)] for head in distances]
    return [float(head.mean()) for head in told if head.size]


def _weights(trace: Trace, queries: list[int], kind: type[np.floating[Any]]) -> npt.NDArray[Any] | None:
    with np.errstate(over="ignore"):  # what becomes infinite is seen at once
        q, k, v = (array.astype(kind) for array in (trace.q, trace.k, trace.v))
    if not (np.isfinite(q).all() and np.isfinite(k).all()):
        return None
    try:
        weights: npt.NDArray[Any] = Steps(q, k, v, trace.rule).part(None, queries).weights
    except OverflowRefused:
        return None
    return weights
