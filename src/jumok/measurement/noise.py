"""What changes without meaning anything: by rounding (the same q and k through float32 and through float64), and by edits
of a text that should not matter.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..door import tiles
from ..errors import OverflowRefused
from ..path import Steps
from ..trace import Trace
from .row_distances import row_distances, shared_out

if TYPE_CHECKING:
    from .comparison import Comparison

__all__ = ["HeadShift", "NoiseFloor", "neutral_edits", "noise_floor", "shifts"]

N_ROWS = 64
MOST_EDITS = 4


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


# edits that should not matter ---------------------------------------------------------------------


@dataclass(frozen=True)
class HeadShift:
    """How far one head moved between two texts, beside how far neutral edits of the first move it.

    distance : Jensen–Shannon, of one token's row or the mean over the rows;  floor : the largest of the neutral edits
    """

    layer: int
    head: int
    distance: float
    floor: float


def shifts(found: Comparison, neutral: Sequence[Comparison], token: int | None = None) -> tuple[HeadShift, ...]:
    """One ``HeadShift`` a head, those first that stand furthest above the floor.

    neutral : the first text beside edits of it that should not matter;  token : its position in the first text, or None
    for all rows that can be compared
    """
    floors = [_distances(one, token) for one in neutral]
    made = [
        HeadShift(layer, head, far, max([0.0, *(floor.get((layer, head), 0.0) for floor in floors)]))
        for (layer, head), far in _distances(found, token).items()
    ]
    return tuple(sorted(made, key=lambda one: one.floor - one.distance))


def _distances(found: Comparison, token: int | None) -> dict[tuple[int, int], float]:
    if token is None:
        return {(one.layer, one.head): one.distance for one in found.heads if one.distance is not None}
    row = next((at for at, (i, _) in enumerate(found.pairs) if i == token), None)
    if row is None:
        return {}
    made = {(one.layer, one.head): float(found.distances(one.layer, one.head)[row]) for one in found.heads}
    return {name: far for name, far in made.items() if not np.isnan(far)}


_ALIKE = (
    ("because", "since"), ("did not", "didn't"), ("was not", "wasn't"), ("is not", "isn't"), ("big", "large"),
    ("the", "a"), ("a", "the"), ("왜냐하면", "그 까닭은"), ("매우", "아주"),
)  # fmt: skip


def neutral_edits(text: str, keep: str = "") -> tuple[str, ...]:
    """Edits of a text that should not matter much: its last full stop, an article, a word for another of the same sense.

    keep : a word that stays as it is

    >>> neutral_edits("The cat slept because it was tired.", "it")
    ('The cat slept because it was tired', 'The cat slept since it was tired.', 'A cat slept because it was tired.')
    """
    made = [text.rstrip(".") if text.endswith(".") else f"{text}."]
    made += [_swapped(text, word, other) for word, other in _ALIKE if word != keep.lower()]
    return tuple(one for one in dict.fromkeys(made) if one != text)[:MOST_EDITS]


def _swapped(text: str, word: str, other: str) -> str:
    """The text with the first such word as the other."""

    def put(found: re.Match[str]) -> str:
        return other.capitalize() if found[0][:1].isupper() else other

    return re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", put, text, count=1, flags=re.IGNORECASE)
