"""An attention call as it was found among operations, kept compact, until it is known which of its axes are heads."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import torch

from .atoms import Atom, Axes, arranged, refined
from .calls import Call

__all__ = ["Found", "Step", "compact", "sampled"]

N_SAMPLED = 6  # rows of each call whose output is kept to be compared


@dataclass(frozen=True)
class Step:
    """What was done to scores: ``kind`` and its number or tensor, with the axes the scores had then.

    kind : "times", "tanh", "add", "allowed" (bool, True where read), "sinks"
    """

    kind: str
    value: Any = None
    axes: Axes | None = None


@dataclass
class Found:
    """One call, with the leading axes that the program had; ``lead`` are their atoms.

    q : (lead …, query, d);  k, v : (lead …, key, d), size 1 where a leading axis does not change them
    output : (lead …, sampled query, d_value) for the queries ``rows``
    steps : what was done to q · k before the softmax; tensors broadcast to (lead …, query, key)
    query : the atoms of the query axis;  apart : the atoms that were seen apart from the width when heads were joined
    joined : the atoms that the program merged with the width of the output: these are heads; None while nobody knows
    group : calls of one group are the heads of one layer, each computed by itself
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
    group: int | None = None
    apart: list[Atom] = field(default_factory=list)

    def call(self) -> Call:
        """With axes (batch, head, …)."""
        batch, heads = self._split()
        order = (batch, heads)

        def put(tensor: Any) -> Any:
            lead = Axes((*self.lead, (), ())) if tensor.shape[:-2] else Axes(((), ()))
            rows, width = (Atom("row", tensor.shape[-2]),), (Atom("width", tensor.shape[-1]),)
            axes = Axes((*lead.dims[:-2], rows, width))
            return arranged(tensor, axes, (*order, rows, width))

        done = _Done(self.scale, self.causal)
        for step in self.steps:
            done.take(step, put)
        return Call(
            self.module, put(self.q), put(self.k), put(self.v), put(self.output), done.scale, self.way,
            rows=self.rows, run=self.run, softcap=done.softcap, causal=done.causal, added=done.added,
            allowed=done.allowed, sinks=done.sinks, training=self.training,
        )  # fmt: skip

    def _split(self) -> tuple[list[Atom], list[Atom]]:
        """The leading atoms that are the batch, and those that are heads."""
        if self.joined is not None:
            joined = [atom for atom in self.joined if atom.axis != "width"]
            fine = [atom for dim in self.lead for atom in refined(dim, self._fine)]
            return [a for a in fine if a not in joined], [a for a in fine if a in joined]
        first = self.lead[0] if len(self.lead) > 1 else ()
        return list(first), [atom for dim in self.lead[len(self.lead) > 1 :] for atom in dim]

    @property
    def _fine(self) -> list[Atom]:
        return list(self.joined or ()) + list(self.apart)


@dataclass
class _Done:
    """The steps, composed: softcap(scale · q·k) + added, where allowed."""

    scale: float
    causal: bool = False
    softcap: float | None = None
    inside: bool = False  # under a tanh whose factor has not come yet
    added: list[Any] = field(default_factory=list)
    allowed: list[Any] = field(default_factory=list)
    sinks: Any = None

    def take(self, step: Step, put: Any) -> None:
        """One more step."""
        if step.kind == "times":
            if self.inside:
                self.scale, self.softcap, self.inside = self.scale * step.value, float(step.value), False
            elif self.softcap is not None:
                raise ValueError("scores are multiplied after the soft cap")
            else:
                self.scale *= step.value
            self.added = [table * step.value for table in self.added]
        elif step.kind == "tanh":
            if self.added:
                raise ValueError("a bias stands inside the soft cap")
            self.inside = True
        elif step.kind == "sinks":
            self.sinks = step.value
        else:
            {"add": self.added, "allowed": self.allowed}[step.kind].append(put(step.value))


def sampled(n_queries: int) -> list[int]:
    """The queries whose output is compared: the first, the last, and some between."""
    return sorted({round(at * (n_queries - 1) / max(1, N_SAMPLED - 1)) for at in range(N_SAMPLED)})


def compact(tensor: Any) -> Any:
    """The same numbers in memory of their own, that nobody changes later."""
    return tensor.detach().clone(memory_format=torch.contiguous_format)
