"""What is known of a tensor while a program runs: it is scores on their way, what was mixed, or what could not be followed."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from .atoms import Axes
from .found import Found, Step
from .seen_words import Said

__all__ = ["TABLES", "Lost", "Mixed", "Noise", "Picked", "Scores"]

TABLES = ("scores", "exp", "log-weights", "weights")  # stages that have a number for each query and key


@dataclass(frozen=True)
class Scores:
    """A tensor that descends from a product of two others.

    left, right : (lead …, row, width) and (lead …, width, column);  start : the axes of their product
    axes : of the tensor now;  steps : what was done to the product so far
    stage : "scores", "exp" (not yet divided by its sum), "log-weights", "weights"; or one number a row: "most", "sum",
        "log-sum"
    key : the axis of the product that the softmax goes over ("column" or "row"), once that is known
    training : True where dropout was on;  origin : one for each product
    """

    left: Any
    right: Any
    start: Axes
    axes: Axes
    steps: tuple[Step, ...] = ()
    stage: str = "scores"
    key: str | None = None
    training: bool = False
    origin: object = field(default_factory=object)

    def after(self, step: Step) -> Scores:
        """With one more step."""
        return dataclasses.replace(self, steps=(*self.steps, step))

    def at(self, stage: str, key: str | None = None) -> Scores | None:
        """At another stage, its softmax over this axis; None where that is another one than before."""
        if key is not None and self.key not in (None, key):
            return None
        return dataclasses.replace(self, stage=stage, key=key or self.key)

    def over(self, dim: int) -> str | None:
        """What an axis is made of: "row", "column" or "lead"; None where it has one entry."""
        atoms = self.axes.dims[dim]
        return atoms[0].axis if atoms else None


@dataclass(frozen=True)
class Mixed:
    """A tensor that is what an attention call mixed, until its heads are joined."""

    found: Found
    axes: Axes


@dataclass(frozen=True)
class Noise:
    """Which entries dropout keeps."""


@dataclass(frozen=True)
class Lost:
    """What descends from scores, or from a softmax, in a way that is not followed; listed if it meets values.

    origin : the product it descends from
    """

    what: Said
    why: Said
    weights: bool
    origin: object = None


@dataclass(frozen=True)
class Picked(Lost):
    """The largest of each row of scores; put back in their places (top-k attention) they are scores again.

    scores : where they are from
    """

    scores: Scores | None = None
