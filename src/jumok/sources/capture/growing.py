"""Generation with a cache: later calls of a layer bring a few queries and the keys again; here they become one sequence."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import torch

from .found import Found, Step

__all__ = ["Calls"]


@dataclass
class _Later:
    """What one later call adds: its queries, only the keys and values that are new, and how many keys it could see.

    allowed : (lead … or 1, query, key seen) or None
    """

    q: Any
    k: Any
    v: Any
    output: Any
    rows: list[int]
    n_seen: int
    allowed: Any


class Calls:
    """The calls that were found, in order; a call that continues an earlier one of its module is joined to it."""

    def __init__(self, layers: Collection[int] | None = None) -> None:
        self._wanted = layers
        self._count: dict[tuple[int, str], int] = {}
        self.first: list[Found] = []
        self._later: dict[int, list[_Later]] = {}
        self._slots: dict[tuple[str, int], Found] = {}
        self._run = -1
        self._order: dict[str, int] = {}

    def append(self, found: Found) -> None:
        """One more call, as ``Watch`` finds it."""
        if found.run != self._run:
            self._run, self._order = found.run, {}
        order = self._order[found.module] = self._order.get(found.module, -1) + 1
        slot = (found.module, order)
        before = self._slots.get(slot)
        found = found if before is None else _unpacked(found, before)
        if before is not None and self._continues(before, found):
            self._grow(before, found)
            return
        self._slots[slot] = found
        stack = (found.run, re.sub(r"\d+", "#", found.module))
        self._count[stack] = self._count.get(stack, -1) + 1
        if self._wanted is None or self._count[stack] in self._wanted:
            self.first.append(found)

    def __len__(self) -> int:
        return len(self.first)

    def whole(self) -> list[Found]:
        """(call,) each with all its queries and keys."""
        return [_joined(found, self._later[id(found)]) if id(found) in self._later else found for found in self.first]

    def _continues(self, before: Found, found: Found) -> bool:
        """True where the keys are the earlier ones (or the last of them) and as many new ones as there are queries."""
        n_new, n_seen = found.q.shape[-2], found.k.shape[-2]
        if n_new >= n_seen or found.k.shape[:-2] != before.k.shape[:-2] or found.run == before.run:
            return False
        parts = [before.k, *(later.k for later in self._later.get(id(before), []))]
        old = n_seen - n_new
        have: list[Any] = []
        for part in reversed(parts):
            have.insert(0, part[..., max(0, part.shape[-2] - old) :, :])
            old -= have[0].shape[-2]
            if old <= 0:
                break
        return old == 0 and bool(torch.equal(torch.cat(have, dim=-2), found.k[..., : n_seen - n_new, :]))

    def _grow(self, before: Found, found: Found) -> None:
        n_new, n_seen = found.q.shape[-2], found.k.shape[-2]
        tables = [step.value if step.kind == "allowed" else step.value > -1e4 for step in found.steps if step.kind in ("allowed", "add")]
        allowed = None
        for table in tables:
            allowed = table if allowed is None else allowed & table
        later = _Later(found.q, found.k[..., n_seen - n_new :, :].clone(), found.v[..., n_seen - n_new :, :].clone(), found.output, found.rows, n_seen, allowed)
        self._later.setdefault(id(before), []).append(later)


def _unpacked(found: Found, before: Found) -> Found:
    """One query whose heads were packed as queries of their key head, with an axis for them again."""
    n_group = before.q.shape[-3] if before.q.dim() > 3 else 1
    packed = (
        found.q.dim() == before.q.dim() - 1
        and before.k.shape[-3] == 1
        and found.q.shape[-2] == n_group
        and found.q.shape[:-2] == before.q.shape[:-3]
        and found.rows == list(range(n_group))
    )
    if not packed:
        return found
    return dataclasses.replace(
        found, q=found.q.unsqueeze(-2), k=found.k.unsqueeze(-3), v=found.v.unsqueeze(-3), output=found.output.unsqueeze(-2),
        rows=[0], lead=before.lead, query=before.query, steps=tuple(
            dataclasses.replace(step, value=step.value.unsqueeze(-2)) if step.kind in ("allowed", "add") else step
            for step in found.steps
        ),
    )  # fmt: skip


def _joined(first: Found, later: list[_Later]) -> Found:
    """One call of the whole sequence; what may be read becomes one table."""
    n, m = first.q.shape[-2], first.k.shape[-2]
    total_q = n + sum(one.q.shape[-2] for one in later)
    total_k = m + sum(one.k.shape[-2] for one in later)
    lead = max((tuple(s.value.shape[:-2]) for s in first.steps if s.kind in ("allowed", "add")), key=len, default=())
    allowed = torch.zeros((*lead, total_q, total_k), dtype=torch.bool)
    start = torch.ones(n, m, dtype=torch.bool).tril() if first.causal else torch.ones(n, m, dtype=torch.bool)
    for step in first.steps:
        if step.kind in ("allowed", "add"):
            start = start & (step.value if step.kind == "allowed" else step.value > -1e4)
    allowed[..., :n, :m] = start
    rows, at, end = list(first.rows), n, m
    for one in later:
        n_new = one.q.shape[-2]
        end += n_new
        part = torch.ones(n_new, one.n_seen, dtype=torch.bool) if one.allowed is None else one.allowed
        allowed[..., at : at + n_new, end - one.n_seen : end] = part if part.dim() <= allowed.dim() else part.reshape(part.shape[-2:])
        rows += [at + row for row in one.rows]
        at += n_new
    cat = {name: torch.cat([getattr(one, name) for one in (first, *later)], dim=-2) for name in ("q", "k", "v", "output")}
    kept = tuple(step for step in first.steps if step.kind not in ("allowed", "add"))
    return dataclasses.replace(first, **cat, rows=rows, causal=False, steps=(*kept, Step("allowed", allowed)))
