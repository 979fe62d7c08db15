"""An attention call as it was found among operations, kept compact, until it is known which of its axes are heads."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from .atoms import Atom, Axes, arranged, refined
from .calls import Call
from .seen_words import BIAS_IN_CAP, CAP_IN_CAP, CAP_SCALED

__all__ = ["LOW", "Found", "Step", "compact", "composable", "sampled", "side_by_side"]

LOW = -9e3  # an added number at or below this masks
N_SAMPLED = 6  # rows of each call whose output is kept to be compared


@dataclass(frozen=True)
class Step:
    """What was done to scores: ``kind`` and its number or tensor, with the axes the scores had then.

    kind : "times", "tanh", "add", "allowed" (bool, True where read), "sinks"
    """

    kind: str
    value: Any = None
    axes: Axes | None = None


@dataclass(eq=False)
class Found:
    """One call, with the leading axes that the program had; ``lead`` are their atoms.

    q : (lead …, query, d);  k, v : (lead …, key, d), size 1 where a leading axis does not change them
    output : (lead …, sampled query, d_value) for the queries ``rows``
    steps : what was done to q · k before the softmax; tensors broadcast to (lead …, query, key)
    query : the atoms of the query axis
    joined : the atoms that the program merged with the width of the output: these are heads; None while nobody knows
    apart : the other axes that the output had then; before that, those before query and width as they were seen last
    calls : which attention calls of the watching these are, counted from 1, in the order of the first leading axis
    """

    module: str
    run: int
    q: Any
    k: Any
    v: Any
    output: Any
    rows: list[int]
    lead: tuple[tuple[Atom, ...], ...]
    query: tuple[Atom, ...]
    steps: tuple[Step, ...]
    way: str
    scale: float = 1.0
    causal: bool = False
    training: bool = False
    joined: list[Atom] | None = None
    calls: tuple[int, ...] = ()
    apart: tuple[tuple[Atom, ...], ...] = ()

    def call(self) -> Call:
        """With axes (batch, head, …)."""
        batch, heads = self._split()
        read = self._read(heads)

        def put(tensor: Any, heads: Sequence[Atom] = heads) -> Any:
            rows, width = (Atom("row", tensor.shape[-2]),), (Atom("width", tensor.shape[-1]),)
            axes = Axes((*(self.lead if tensor.shape[:-2] else ()), rows, width))
            return arranged(tensor, axes, (batch, heads, rows, width))

        lead = [max(sizes) for sizes in zip(self.q.shape, self.k.shape, self.v.shape, self.output.shape, strict=True)][
            :-2
        ]
        where = put(torch.arange(math.prod(lead)).reshape(*lead, 1, 1))[..., 0, 0]
        done = _Done.of(self.steps, self.scale, put)
        return Call(
            self.module, put(self.q), put(self.k, read), put(self.v, read), put(self.output), done.scale, self.way,
            rows=self.rows, run=self.run, softcap=done.softcap, causal=self.causal, added=done.added,
            allowed=done.allowed, sinks=done.sinks, training=self.training, calls=self.calls, where=where,
        )  # fmt: skip

    @property
    def kind(self) -> tuple[Any, ...]:
        """What calls have to share to be heads, or sequences, of one layer."""
        steps = [(step.kind, None if isinstance(step.value, torch.Tensor) else step.value) for step in self.steps]
        shapes = [tuple(one.shape[-2:]) for one in (self.q, self.k, self.v)]
        return self.run, self.lead, self.query, self.rows, self.way, self.scale, self.causal, steps, shapes

    def seen_as(self, axes: Axes) -> None:
        """Learn from a view of the output which axes are heads: those that are merged with its width."""
        if self.joined is not None:
            return
        for at, dim in enumerate(axes.dims):
            if len(dim) > 1 and any(atom.axis == "width" for atom in dim):
                self.joined, self.apart = list(dim), axes.dims[:at] + axes.dims[at + 1 :]
        if self.joined is None and not any(atom.axis == "lead" for dim in axes.dims[-2:] for atom in dim):
            self.apart = axes.dims[:-2]

    def _read(self, heads: list[Atom]) -> list[Atom]:
        """The atoms of heads without the last ones, where neighbouring heads share their keys and values along these."""
        shared = [
            atom
            for dim, *sizes in zip(self.lead, self.k.shape, self.v.shape, strict=False)
            if sizes == [1, 1]
            for atom in refined(dim, heads)
        ]
        own = [at for at, atom in enumerate(heads) if atom not in shared]
        return heads[: own[-1] + 1] if own else []

    def _split(self) -> tuple[list[Atom], list[Atom]]:
        """The leading atoms that are the batch, and those that are heads."""
        finer = [*(self.joined or ()), *(atom for dim in self.apart for atom in dim)]
        fine = [atom for dim in self.lead for atom in refined(dim, finer)]
        if self.joined is not None:
            return [a for a in fine if a not in self.joined], [a for a in fine if a in self.joined]
        seen = self.apart or self.lead
        batch = refined(seen[0], fine) if seen else []  # (batch, head …) as is usual; one axis alone is a batch
        return [a for a in fine if a in batch], [a for a in fine if a not in batch]


def composable(steps: Sequence[Step]) -> None:
    """``ValueError`` where the steps do what no rule can say."""
    _Done.of(steps)


def side_by_side(parts: Sequence[Found], module: str) -> tuple[Found, Atom] | None:
    """Calls whose outputs a program put side by side, as one with a leading axis more; None where they are not alike."""
    first = parts[0]
    if any(part.kind != first.kind for part in parts):
        return None
    steps = []
    for step, *others in zip(*(part.steps for part in parts), strict=True):
        if isinstance(step.value, torch.Tensor):
            step = Step(step.kind, _stacked([step.value, *(other.value for other in others)]))
        steps.append(step)
    lowest = min((atom.place[0] for dim in first.lead for atom in dim), default=0)
    atom = Atom("lead", len(parts), (lowest - 1,))
    made = {name: _stacked([getattr(part, name) for part in parts]) for name in ("q", "k", "v", "output")}
    found = dataclasses.replace(
        first, module=module or first.module, **made, lead=((atom,), *first.lead), steps=tuple(steps),
        calls=tuple(call for part in parts for call in part.calls),
    )  # fmt: skip
    return found, atom


def _stacked(tensors: Sequence[Any]) -> Any:
    """With an axis more in front, of size 1 where all are one and the same."""
    if all(tensor is tensors[0] for tensor in tensors):
        return tensors[0].unsqueeze(0)
    shape = np.broadcast_shapes(*(tensor.shape for tensor in tensors))
    return torch.stack([tensor.expand(shape) for tensor in tensors])


def _as_it_is(tensor: Any) -> Any:
    return tensor


@dataclass
class _Done:
    """The steps, composed: softcap(scale · q·k) + added, where allowed."""

    scale: float
    softcap: float | None = None
    inside: bool = False  # under a tanh whose factor has not come yet
    added: list[Any] = field(default_factory=list)
    allowed: list[Any] = field(default_factory=list)
    sinks: Any = None

    @classmethod
    def of(cls, steps: Sequence[Step], scale: float = 1.0, put: Callable[[Any], Any] = _as_it_is) -> _Done:
        """All steps; ``put`` brings their tensors to the axes wanted. ``ValueError`` says what no rule can say."""
        done = cls(scale)
        for step in steps:
            done.take(step, put)
        if done.inside:
            done.softcap = 1.0
        return done

    def take(self, step: Step, put: Any) -> None:
        """One more step."""
        if step.kind == "times":
            if self.inside:
                self.scale, self.softcap, self.inside = self.scale * step.value, float(step.value), False
            elif self.softcap is not None:
                raise ValueError(CAP_SCALED)
            else:
                self.scale *= step.value
            self.added = [table * step.value for table in self.added]
        elif step.kind == "tanh":
            if self.added:
                raise ValueError(BIAS_IN_CAP)
            if self.inside or self.softcap is not None:
                raise ValueError(CAP_IN_CAP)
            self.inside = True
        elif step.kind == "sinks":
            self.sinks = step.value[None] if step.value.dim() == 1 else put(step.value)[..., 0, 0]
        else:
            {"add": self.added, "allowed": self.allowed}[step.kind].append(put(step.value))


def sampled(n_queries: int) -> list[int]:
    """The queries whose output is compared: the first, the last, and some between."""
    return sorted({round(at * (n_queries - 1) / max(1, N_SAMPLED - 1)) for at in range(N_SAMPLED)})


def compact(tensor: Any) -> Any:
    """The same numbers in memory of their own, that nobody changes later."""
    return tensor.detach().clone(memory_format=torch.contiguous_format)
