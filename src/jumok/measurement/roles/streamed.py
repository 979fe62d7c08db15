"""A Trace's rows, a tile at a time → sums for every role and head. No n × n table is kept, whatever the length.

>>> import jumok
>>> trace = jumok.attend(jumok.load("previous-token"))
>>> found = scores(trace, marked(trace.tokens))
>>> role = found.roles.index("previous")
>>> round(float(found.sums[role, 0, 0, MOST] / found.n_cases[role, 0]), 3)
1.0
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...trace import Reading, Trace, layers_of
from .cases import OFFSETS
from .marked import Marked, Whole, marked
from .plan import APART, MASS, MOST, SLOTS, WEIGHT, Plan
from .tile import Grown, Kept, Layer

__all__ = ["APART", "MASS", "MOST", "SLOTS", "WEIGHT", "Scores", "marked", "scores", "scores_of"]

Doubles = npt.NDArray[np.float64]
TILE_NUMBERS = (
    2**19
)  # of a table at a time, 2 MB in single precision: fewer are slow products, more leave the cache (2**17 took 1.4 times as long)


@dataclass(frozen=True, eq=False)
class Scores:
    """What one sequence says of every head, role by role.

    roles : (role,) names, those that have a case;  n_heads : (layer,) 0 where a layer has none of these roles
    n_cases : (role, layer);  even : (role, layer) what even weights get
    offsets : (role, layer, offset) in how many cases the key at a fixed offset is right
    sums : (role, layer, head, 3) over the cases. MOST: in how many the most attended candidate is right (equal ones
        share it; 0 of the roles that the sink itself plays). WEIGHT: the weight on what is right. MASS: the weight on all
        but the sink. For ``near`` and ``broad``, APART and WEIGHT: distance, or entropy over that of even weights, without
        and with the sink
    """

    roles: tuple[str, ...]
    n_heads: tuple[int, ...]
    n_cases: Doubles
    even: Doubles
    offsets: Doubles
    sums: Doubles


def scores(record: Trace | Reading, known: Marked) -> Scores:
    """The sums of every role, layer and head over one sequence; cross-attention has none of these roles."""
    layers, n = layers_of(record), len(known.ids)
    own = {
        at: Kept(layer)
        for at, layer in enumerate(layers)
        if layer.key_tokens is None and layer.n_queries == layer.n_keys == n
    }
    return scores_of(own, len(layers), known)


def scores_of(layers: Mapping[int, Layer], n_layers: int, known: Marked) -> Scores:
    """The same, of whatever gives rows of weights, by the number of its layer."""
    found = _Sums(tuple(layers[at].n_heads if at in layers else 0 for at in range(n_layers)))
    for rows in _tiles(list(layers.values()), known):
        for plan, numbers in _plans(layers, np.asarray(rows), known):
            _add_tile(found, [layers[at] for at in numbers], numbers, plan)
    return found.scores()


def _tiles(layers: Sequence[Layer], known: Marked) -> Iterator[range]:
    """Rows in order, so many that their part of a table is small; the pieces of a word stay together."""
    n = len(known.ids)
    widest = max((layer.group for layer in layers), default=1)
    step = max(1, TILE_NUMBERS // max(1, n * widest))
    start = 0
    while start < n and layers:
        end = min(start + step, n)
        if known.units is not None:
            while end < n and known.units[end] >= 0 and known.units[end] == known.units[end - 1]:
                end += 1
        yield range(start, end)
        start = end


def _plans(layers: Mapping[int, Layer], rows: Whole, known: Marked) -> Iterator[tuple[Plan, list[int]]]:
    """Layers that allow the same share a plan."""
    alike: dict[bytes, list[int]] = {}
    tables = {at: layer.allowed(rows) for at, layer in layers.items()}
    for at, allowed in tables.items():
        alike.setdefault(np.packbits(allowed).tobytes(), []).append(at)
    for numbers in alike.values():
        allowed = tables[numbers[0]]
        if not known.links:  # else words stay whole
            allowed = allowed[:, : _n_read(allowed, rows)]
        yield Plan(known.until(allowed.shape[1]), rows, allowed), numbers


def _n_read(allowed: npt.NDArray[np.bool_], rows: Whole) -> int:
    """Without the keys behind all that some row may read: half of a causal table."""
    return max(int(rows[-1]), int(np.flatnonzero(allowed.any(axis=0)).max(initial=0))) + 1


def _add_tile(found: _Sums, layers: Sequence[Layer], numbers: Sequence[int], plan: Plan) -> None:
    """All heads of layers that share a plan, so many together that they stay in the cache, and no fewer."""
    n_heads = [layer.n_heads for layer in layers]
    sums = np.zeros((len(plan.roles), sum(n_heads), SLOTS))
    at = 0
    for some in _together(layers, plan.allowed.size):
        made = [layer.grown(heads, plan.rows, plan.allowed) for layer, heads in some]
        one = made[0] if len(made) == 1 else Grown(*map(np.concatenate, zip(*made, strict=True)))
        sums[:, at : (at := at + len(one.grown))] = plan.sums(one)
    found.add(plan, np.repeat(numbers, n_heads), np.concatenate([np.arange(n) for n in n_heads]), sums)


def _together(layers: Sequence[Layer], row_numbers: int) -> Iterator[list[tuple[Layer, slice]]]:
    """Heads in order, whole groups of them, that make a tile."""
    some: list[tuple[Layer, slice]] = []
    room = TILE_NUMBERS
    for layer in layers:
        at = 0
        while at < layer.n_heads:
            if some and room < row_numbers * layer.group:
                yield some
                some, room = [], TILE_NUMBERS
            n_groups = max(1, min(room // (row_numbers * layer.group), (layer.n_heads - at) // layer.group))
            some.append((layer, slice(at, at := at + n_groups * layer.group)))
            room -= row_numbers * n_groups * layer.group
    yield some


class _Sums:
    """Sums as they grow, role by role."""

    def __init__(self, n_heads: tuple[int, ...]) -> None:
        self._n_heads = n_heads
        self._places: dict[str, int] = {}
        self._made = self._empty(0)  # n_cases, even, offsets, sums

    def add(self, plan: Plan, layers: Whole, heads: Whole, sums: Doubles) -> None:
        """What one tile says of some layers.

        layers, heads : (head,) the places of all their heads;  sums : (role, head, 3)
        """
        roles = self._places_of(plan.roles)[:, None]
        for mine, theirs in zip(self._made[:3], (plan.n_cases, plan.even, plan.offsets), strict=True):
            mine[roles, np.unique(layers)] += theirs[:, None]
        self._made[3][roles, layers, heads] += sums

    def scores(self) -> Scores:
        """All that was added."""
        return Scores(tuple(self._places), self._n_heads, *self._made)

    def _places_of(self, roles: Sequence[str]) -> Whole:
        """(role,) where each stands; there is room for it then."""
        found = np.array([self._places.setdefault(role, len(self._places)) for role in roles], dtype=np.int64)
        if n_new := len(self._places) - len(self._made[0]):
            self._made = [np.concatenate(both) for both in zip(self._made, self._empty(n_new), strict=True)]
        return found

    def _empty(self, n_roles: int) -> list[Doubles]:
        sizes: tuple[tuple[int, ...], ...] = ((), (), (len(OFFSETS),), (max(self._n_heads, default=0), SLOTS))
        return [np.zeros((n_roles, len(self._n_heads), *size)) for size in sizes]
