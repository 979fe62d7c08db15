"""Axes under reshaping: which part of which axis of a product each axis of a later view is.

A batched product has axes (lead …, row, column). Programs split, merge and permute them: (batch · head, row, column) →
(batch, head, row, column), or (batch, kv_head, group · row, column). ``Axes`` follows such a view by the atoms that its
axes are made of, so that at the softmax, and where heads are joined again, every axis is known, however it was written.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

__all__ = ["Atom", "Axes", "arranged", "refined"]


class Atom(NamedTuple):
    """A piece of an axis: ``axis`` is "lead", "row", "column" or "width"; ``place`` orders the pieces of one axis."""

    axis: str
    size: int
    place: tuple[int, ...] = ()


@dataclass(frozen=True)
class Axes:
    """(axis of a view) → the atoms it is made of, outermost first. An axis of size 1 has none."""

    dims: tuple[tuple[Atom, ...], ...]

    @classmethod
    def of(cls, lead: Sequence[int], **last: int) -> Axes:
        """Leading axes and the named ones after them."""
        dims = [(Atom("lead", size, (at,)),) if size != 1 else () for at, size in enumerate(lead)]
        dims += [(Atom(name, size),) if size != 1 else () for name, size in last.items()]
        return cls(tuple(dims))

    def permuted(self, order: Sequence[int]) -> Axes:
        """The axes in another order."""
        return Axes(tuple(self.dims[at] for at in order))

    def viewed(self, shape: Sequence[int]) -> Axes | None:
        """The axes of a reshape; None where it does not cut atoms in whole pieces."""
        atoms = [atom for dim in self.dims for atom in dim]
        dims = []
        for size in shape:
            mine: list[Atom] = []
            have = 1
            while have < size:
                if not atoms:
                    return None
                atom = atoms.pop(0)
                need, rest = divmod(size, have)
                if rest or (atom.size % need if atom.size > need else need % atom.size):
                    return None
                if atom.size > need:
                    atoms.insert(0, Atom(atom.axis, atom.size // need, (*atom.place, 1)))
                    atom = Atom(atom.axis, need, (*atom.place, 0))
                mine.append(atom)
                have *= atom.size
            dims.append(tuple(mine))
        return None if atoms else Axes(tuple(dims))

    def atoms(self, axis: str) -> list[Atom]:
        """The pieces of an axis, in the order of the axis itself."""
        return sorted((a for dim in self.dims for a in dim if a.axis == axis), key=lambda a: a.place)


def refined(atoms: Iterable[Atom], into: Iterable[Atom]) -> list[Atom]:
    """Atoms as the finer pieces into which a later view has cut them."""
    finer = sorted(into, key=lambda a: a.place)
    out: list[Atom] = []
    for atom in atoms:
        n = len(atom.place)
        pieces = [f for f in finer if f.axis == atom.axis and f.place[:n] == atom.place]
        out += pieces if math.prod(f.size for f in pieces) == atom.size else [atom]
    return out


def arranged(tensor: Any, axes: Axes, order: Sequence[Sequence[Atom]]) -> Any:
    """A tensor whose axes are these (of size 1 where it is broadcast), brought to other axes; broadcast ones stay so.

    order : for each axis wanted, its atoms; an axis that the tensor does not have gets size 1
    """
    plan = _planned(tuple(tensor.shape), axes.dims, tuple(tuple(dim) for dim in order))
    if plan.order != sorted(plan.order):
        tensor = tensor.reshape(plan.pieces).permute(plan.order)
    if plan.whole != plan.apart:
        tensor = tensor.reshape(plan.apart).expand(plan.whole)
    return tensor.reshape(plan.shape)


@dataclass(frozen=True)
class _Plan:
    """Cut into ``pieces``, put them in ``order``, drop those not wanted, make some ``whole``, merge to the ``shape``."""

    pieces: list[int]
    order: list[int]
    apart: list[int]
    whole: list[int]
    shape: list[int]


@lru_cache(maxsize=64)  # the layers of a model are all alike
def _planned(sizes: tuple[int, ...], dims: tuple[tuple[Atom, ...], ...], order: tuple[tuple[Atom, ...], ...]) -> _Plan:
    wanted = [atom for dim in order for atom in dim]
    flat = [(atom, size) for size, own in zip(sizes, dims, strict=True) for atom in refined(own, wanted)]
    place = {atom: at for at, (atom, _) in enumerate(flat)}
    pieces = [1 if size == 1 else atom.size for atom, size in flat]
    there = [place[atom] for atom in wanted if atom in place]
    apart = [pieces[place[atom]] if atom in place else 1 for atom in wanted]
    whole, shape, at = list(apart), [], 0
    for dim in order:  # an axis of which one piece is broadcast and another not has to be made whole
        mine = slice(at, at + len(dim))
        if len({size == 1 for size in apart[mine]}) == 2:
            whole[mine] = [atom.size for atom in dim]
        shape.append(math.prod(whole[mine]))
        at += len(dim)
    rest = [at for at in range(len(flat)) if at not in there]
    return _Plan(pieces, there + rest, apart, whole, shape)
