"""Generation with a cache: later calls of a layer bring a few queries and the keys again; here they become one sequence."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from .calls import Seen
from .found import LOW, Found, Step
from .seen_words import CACHE, CHANGING_KEYS

__all__ = ["Calls"]


@dataclass
class _Part:
    """What one call adds to a sequence: its queries, the keys and values that are new, and what may be read.

    n_seen : the keys that its queries stand before, the last of all there are by then
    allowed, bias : (lead …, query, key seen), lead of size 1 where it is the same for all; bias None for none
    """

    q: Any
    k: Any
    v: Any
    output: Any
    rows: list[int]
    n_seen: int
    allowed: Any
    bias: Any


class Calls:
    """The calls that were found, in order; a call that continues an earlier one of its module is joined to it."""

    def __init__(self, layers: Collection[int] | None = None) -> None:
        self.first: list[Found] = []
        self._wanted = layers
        self._count: dict[tuple[int, str, bool], int] = {}
        self._number: dict[int, int] = {}
        self._later: dict[int, list[_Part]] = {}
        self._slots: dict[tuple[str, int], Found] = {}
        self._run = -1
        self._order: dict[str, int] = {}
        self._n = 0
        self.seen: list[Seen] = []  # calls that were not taken, each with the reason

    @property
    def n_layers(self) -> int:
        """The layers of the largest stack, wanted or not."""
        return max(self._count.values(), default=-1) + 1

    def remove(self, found: Found) -> None:
        """Take a call back: it has become part of another."""
        self._count[_stack(found)] -= 1
        self.first = [one for one in self.first if one is not found]

    def __len__(self) -> int:
        return len(self.first)

    def append(self, found: Found) -> None:
        """One more call, as it is found."""
        if not found.calls:  # else calls that stand side by side, each of which was counted
            self._n += 1
            found.calls = (self._n,)
        if found.run != self._run:
            self._run, self._order = found.run, {}
        order = self._order[found.module] = self._order.get(found.module, -1) + 1
        slot = (found.module, order)
        before = self._slots.get(slot)
        if before is not None and found.run != before.run:
            found = _unpacked(found, before)
            n_new = self._n_new(before, found)
            if n_new is not None:
                self._later.setdefault(id(before), []).append(_part(found, n_new))
                return
            if _goes_on(before, found):
                self._leave(found)
                return
        self._slots[slot] = found
        stack = _stack(found)
        number = self._count[stack] = self._count.get(stack, -1) + 1
        if self._wanted is None or number in self._wanted:
            self._number[id(found)] = number
            self.first.append(found)

    def _leave(self, found: Found) -> None:
        seen = Seen(found.module, CACHE, CHANGING_KEYS)
        if seen not in self.seen:
            self.seen.append(seen)

    def whole(self) -> list[tuple[int, Found]]:
        """(call,) each with all its queries and keys, and the number of its layer among all of its stack, wanted or not."""
        later = self._later
        return [
            (self._number[id(found)], _joined(found, later[id(found)]) if id(found) in later else found)
            for found in self.first
        ]

    def _n_new(self, before: Found, found: Found) -> int | None:
        """How many of the keys are new, where the others are (the last of) the earlier ones; None where they are not."""
        n_queries, n_seen = found.q.shape[-2], found.k.shape[-2]
        if n_queries >= n_seen or found.k.shape[:-2] != before.k.shape[:-2]:
            return None
        parts = [before.k, *(part.k for part in self._later.get(id(before), []))]
        for n_new in (n_queries, 0):  # a cache that grows, or another sequence that is read again
            old = _last(parts, n_seen - n_new)
            if old is not None and torch.equal(old, found.k[..., : n_seen - n_new, :]):
                return n_new
        return None


def _goes_on(before: Found, found: Found) -> bool:
    """True where a few queries read a longer sequence than before, in a module where all queries were read by all."""
    n_before, n = before.q.shape[-2], found.q.shape[-2]
    return bool(before.k.shape[-2] == n_before and n < n_before < found.k.shape[-2])


def _stack(found: Found) -> tuple[int, str, bool]:
    """What layers of one stack share: the run, the name of their module but for numbers, and whether they read another sequence."""
    return found.run, re.sub(r"\d+", "#", found.module), found.q.shape[-2] != found.k.shape[-2]


def _last(parts: list[Any], n: int) -> Any:
    """The last n keys of several parts, or None where there are not so many."""
    have: list[Any] = []
    for part in reversed(parts):
        have.insert(0, part[..., max(0, part.shape[-2] - n) :, :])
        n -= have[0].shape[-2]
        if n <= 0:
            return torch.cat(have, dim=-2)
    return None


def _unpacked(found: Found, before: Found) -> Found:
    """One query whose heads were packed as queries of their key head, with its heads side by side again."""
    n_heads = before.q.shape[-3] * (before.q.shape[-4] if before.k.shape[-3] == 1 and before.q.dim() > 4 else 1)
    group = found.q.shape[-2]
    if group < 2 or found.q.dim() != 4 or found.q.shape[-3] * group != n_heads or found.rows != list(range(group)):
        return found
    shared = before.k.shape[-3] == 1 and before.q.dim() == 5

    def heads(
        tensor: Any,
    ) -> Any:  # (batch, kv_head, group, width) → (batch, kv_head, group, 1, width) or (batch, head, 1, width)
        return tensor.unsqueeze(-2) if shared else tensor.reshape(len(tensor), -1, 1, tensor.shape[-1])

    def keys(tensor: Any) -> Any:
        return tensor.unsqueeze(-3) if shared else tensor.repeat_interleave(group, dim=1)

    steps = tuple(
        dataclasses.replace(step, value=heads(step.value.expand(-1, found.q.shape[1], group, -1)))
        if step.kind in ("allowed", "add")
        else step
        for step in found.steps
    )
    return dataclasses.replace(
        found, q=heads(found.q), k=keys(found.k), v=keys(found.v), output=heads(found.output), rows=[0],
        lead=before.lead, query=before.query, steps=steps,
    )  # fmt: skip


def _part(found: Found, n_new: int) -> _Part:
    """A call, with only its last keys kept."""
    n, n_seen = found.q.shape[-2], found.k.shape[-2]
    allowed = torch.ones(n, n_seen, dtype=torch.bool)
    allowed = allowed.tril() if found.causal else allowed
    bias = None
    for step in found.steps:
        if step.kind == "allowed":
            allowed = allowed & step.value
        elif step.kind == "add":
            allowed = allowed & (step.value > LOW)
            table = step.value.masked_fill(step.value <= LOW, 0)
            if table.any():
                bias = table if bias is None else bias + table
    new = slice(n_seen - n_new, n_seen)
    return _Part(
        found.q, found.k[..., new, :].clone(), found.v[..., new, :].clone(), found.output, found.rows, n_seen, allowed, bias
    )  # fmt: skip


def _joined(first: Found, later: list[_Part]) -> Found:
    """One call of the whole sequence."""
    parts = [_part(first, first.k.shape[-2]), *later]
    n, m = (sum(getattr(part, name).shape[-2] for part in parts) for name in ("q", "k"))
    tables = [part.allowed for part in parts] + [part.bias for part in parts if part.bias is not None]
    lead = np.broadcast_shapes(*(tuple(table.shape[:-2]) for table in tables))
    allowed = torch.zeros((*lead, n, m), dtype=torch.bool)
    bias = torch.zeros((*lead, n, m), dtype=tables[-1].dtype) if any(part.bias is not None for part in parts) else None
    rows: list[int] = []
    at = end = 0
    for part in parts:
        n_new = part.q.shape[-2]
        end += part.k.shape[-2]
        here = (..., slice(at, at + n_new), slice(end - part.n_seen, end))
        allowed[here] = part.allowed
        if bias is not None and part.bias is not None:
            bias[here] = part.bias
        rows += [at + row for row in part.rows]
        at += n_new
    steps = [step for step in first.steps if step.kind not in ("allowed", "add")] + [Step("allowed", allowed)]
    steps += [] if bias is None else [Step("add", bias)]
    q, k, v, output = (torch.cat([getattr(part, name) for part in parts], dim=-2) for name in ("q", "k", "v", "output"))
    return dataclasses.replace(
        first, q=q, k=k, v=v, output=output, rows=rows, causal=False,
        steps=tuple(steps), calls=(),
    )  # fmt: skip
