"""What every head does: for each role its score, the best trivial rule's, the difference, and whether that is evidence.

>>> import jumok
>>> from jumok.measurement.roles.marked import marked
>>> from jumok.measurement.roles.streamed import scores
>>> trace = jumok.attend(jumok.load("previous-token"))
>>> tally = Tally((1,))
>>> for at in range(20):
...     tally.add(at, scores(trace, marked(trace.tokens)))
>>> head_table(tally).role_of(0, 0).role
'previous'
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from .cases import OFFSETS, offset_role
from .definitions import ROLES, Role, definition
from .evidence import Ratio, corrected, interval, p_values, resamples
from .streamed import APART, MASS, MOST, WEIGHT
from .tally import Tally

__all__ = ["ENOUGH", "FALSE_SHARE", "LEAST_WAY", "LEAST_WEIGHT", "HeadRole", "HeadTable", "head_table"]

N_RESAMPLES = 1000
ENOUGH = 10  # sentences with a case: with fewer nothing is said
FALSE_SHARE = 0.05  # of what is called evidence, on average (Benjamini & Hochberg)
LEAST_WAY = 0.1  # of the way from the baseline to a perfect score: less is evidence, but no name for a head
LEAST_WEIGHT = 0.1  # of a head's weight, the sink counted: less is no name for it either

Doubles = npt.NDArray[np.float64]
Sums = dict[str, Doubles]


@dataclass(frozen=True, slots=True)
class HeadRole:
    """One role of one head.

    score : of the role's own measure (see ``definition``)
    n_cases, n_sentences : of how many, and in how many sentences
    baseline : of the best trivial rule on the same cases;  baseline_rule : "even", "offset:-1" …, or "threshold"
    difference : how much better the score is than the baseline; of a distance, how much shorter
    low, high : its 95% interval, by the bootstrap over sentences
    with_sink : mean weight on what is right; of ``near`` and ``broad`` the distance and evenness; the sink counted
    without_sink : the same of the weight that is not on the sink; None of the roles that the sink itself plays
    p, q : one-sided, and corrected over all heads and roles; None where there were too few sentences to say
    evidence : True where q is at most 0.05
    way : how far the score has come from the baseline to a perfect one, 0 to 1
    """

    layer: int
    head: int
    role: str
    score: float
    n_cases: int
    n_sentences: int
    baseline: float
    baseline_rule: str
    difference: float
    low: float
    high: float
    with_sink: float
    without_sink: float | None
    p: float | None
    q: float | None
    evidence: bool
    way: float

    @property
    def names_a_head(self) -> bool:
        """True where the role is more than a trace of what the head does."""
        is_weight = definition(self.role).measure in ("most", "weight")
        return self.way >= LEAST_WAY and (not is_weight or self.with_sink >= LEAST_WEIGHT)

    def to_json(self) -> dict[str, Any]:
        """As plain JSON, with every digit."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


@dataclass(frozen=True, eq=False)
class HeadTable:
    """Every role of every head, layer by layer.

    rows : (head and role,);  n_sequences : how many were measured;  n_heads : (layer,) of the model
    n_tested : how many heads and roles the correction is over
    """

    rows: tuple[HeadRole, ...]
    n_sequences: int
    n_heads: tuple[int, ...]
    n_tested: int

    def of(self, layer: int, head: int) -> tuple[HeadRole, ...]:
        """The roles of a head, those first that it has come furthest in."""
        return self._by_head.get((layer, head), ())

    @cached_property
    def _by_head(self) -> dict[tuple[int, int], tuple[HeadRole, ...]]:
        found: dict[tuple[int, int], list[HeadRole]] = {}
        for row in self.rows:
            found.setdefault((row.layer, row.head), []).append(row)
        return {
            at: tuple(sorted(mine, key=lambda row: (not row.evidence, -row.way, _order(row.role))))
            for at, mine in found.items()
        }

    def role_of(self, layer: int, head: int) -> HeadRole | None:
        """What a head does: of the roles with evidence the one that it has come furthest in; None for no evidence.

        A role that has next to none of the head's weight, for most of it is on the sink, is no name for the head.
        """
        return next((row for row in self.of(layer, head) if row.evidence and row.names_a_head), None)

    def best(self, role: str) -> HeadRole | None:
        """The head that plays a role best; None where no head does, with evidence."""
        rows = [row for row in self.rows if row.role == role and row.evidence]
        return max(rows, key=lambda row: row.difference, default=None)


def head_table(
    tally: Tally, *, seed: int = 0, n_resamples: int = N_RESAMPLES, has_positional: bool = True
) -> HeadTable:
    """The table of what was summed.

    seed : of the resamples, the same for all heads and roles
    has_positional : False to leave out the role that comes of the fixed offsets

    Errors: ``InputError`` where nothing was measured.
    """
    there = np.flatnonzero(tally.n_sequences)
    if not len(there) or not tally.kept:
        raise InputError(
            en="nothing was measured: the corpus has no sentence with at least three tokens.",
            ko="측정한 것이 없습니다. 토큰이 셋 이상인 문장이 말뭉치에 없습니다.",
        )
    times = resamples(len(there), n_resamples, seed)
    sums = {role: _sums(role, tally, there) for role in sorted(tally.kept, key=_order)}
    if has_positional and (positional := _positional(sums)):
        sums["positional"] = positional
    found = [_Found(definition(role), mine, times) for role, mine in sums.items()]
    p = np.concatenate([one.p.ravel() for one in found])
    q = corrected(p)
    rows: list[HeadRole] = []
    at = 0
    for one in found:
        rows += one.rows(q[at : at + one.p.size].reshape(one.p.shape))
        at += one.p.size
    rows.sort(key=lambda row: (row.layer, row.head))
    n_tested = int((~np.isnan(p)).sum())
    return HeadTable(tuple(rows), int(tally.n_sequences.sum()), tally.n_heads, n_tested)


def _order(role: str) -> tuple[int, str]:
    """In the order of the definitions; then by name."""
    names = [one.name for one in ROLES]
    is_offset = role.startswith("offset:")  # more is said by it than by "positional"
    return (names.index("positional" if is_offset else role) if is_offset or role in names else len(names), role)


def _sums(role: str, tally: Tally, there: npt.NDArray[np.int64]) -> Sums:
    """The sums of a role, with an axis of heads: of 1 where it is the same for all of them."""
    sums = {name: array[there] for name, array in tally.real(role).items()}
    n_heads = np.array(tally.n_heads)[:, None] > np.arange(max(tally.n_heads))
    for name in ("n_sentences", "n_cases", "even"):
        sums[name] = sums[name][..., None] * n_heads
    return sums


def _positional(sums: Mapping[str, Sums]) -> Sums:
    """Each head at the one fixed offset that it reads most."""
    roles = [role for role in map(offset_role, OFFSETS) if role in sums]
    if not roles:
        return {}
    scores = [np.nan_to_num(_score(definition(role), sums[role]).value(), nan=-1.0) for role in roles]
    best = np.argmax(scores, axis=0)[None, ..., None]  # (1, layer, head, 1)

    def chosen(name: str) -> Doubles:
        every = np.stack([sums[role][name] for role in roles])
        at = best if every.ndim == 5 else best[..., 0]
        taken: Doubles = np.take_along_axis(every, np.broadcast_to(at, every.shape[1:])[None], axis=0)[0]
        return taken

    return {name: chosen(name) for name in ("n_sentences", "n_cases", "even", "sums")}


class _Found:
    """One role over all layers and heads: (layer, head) each."""

    def __init__(self, role: Role, sums: Sums, times: Doubles) -> None:
        self.definition, self.sums = role, sums
        self.n_cases, self.n_sentences = (sums[name].sum(axis=0) for name in ("n_cases", "n_sentences"))
        score, baseline = _score(role, sums), self._baseline()
        self.score, self.base = score.value(), baseline.value()
        sign = -1.0 if role.measure == "distance" else 1.0
        low, high = interval(score, baseline, times)
        self.low, self.high = (low, high) if sign > 0 else (-high, -low)
        self.difference = sign * (self.score - self.base)
        self.p = self._p(score, baseline, sign)

    def _baseline(self) -> Ratio:
        """(group, layer, head) of the best trivial rule of each layer; its name goes to ``rule``."""
        cases, even, kind = self.sums["n_cases"], self.sums["even"], self.definition.baseline
        n_layers = cases.shape[1]
        if isinstance(kind, float):
            self.rule = ["threshold"] * n_layers
            return Ratio(kind * cases, cases)
        self.rule = ["even"] * n_layers
        above = even.copy()
        for layer in range(n_layers) if kind == "best" else ():
            of_offsets = self.sums["offsets"][:, layer].sum(axis=0)
            best = int(of_offsets.argmax())
            if of_offsets[best] > even[:, layer, 0].sum():
                above[:, layer] = self.sums["offsets"][:, layer, best, None]
                self.rule[layer] = f"offset:{OFFSETS[best]:+d}"
        return Ratio(above, cases)

    def _p(self, score: Ratio, baseline: Ratio, sign: float) -> Doubles:
        """(layer, head) NaN where too few sentences have a case."""
        made = np.full(self.score.shape, np.nan)
        for layer in range(len(made)):
            seen = self.sums["n_cases"][:, layer].any(axis=-1)
            if seen.sum() > 1:
                mine = [Ratio(one.above[seen, layer], one.below[seen, layer]) for one in (score, baseline)]
                made[layer] = p_values(mine[0], mine[1], sign, self.n_sentences[layer])
        return np.where(np.isnan(self.score) | (self.n_sentences < ENOUGH), np.nan, made)

    def rows(self, q: Doubles) -> Iterator[HeadRole]:
        """One a layer and head that has a case."""
        told, apart = self._sides()
        for layer, head in zip(*np.nonzero(~np.isnan(self.score)), strict=True):
            at = layer, head
            is_tested = not np.isnan(self.p[at])
            yield HeadRole(
                layer=int(layer), head=int(head), role=self.definition.name, score=float(self.score[at]),
                n_cases=int(self.n_cases[at]), n_sentences=int(self.n_sentences[at]),
                baseline=float(self.base[at]), baseline_rule=self.rule[layer], difference=float(self.difference[at]),
                low=float(self.low[at]), high=float(self.high[at]), with_sink=float(told[at]),
                without_sink=None if apart is None or np.isnan(apart[at]) else float(apart[at]),
                p=float(self.p[at]) if is_tested else None, q=float(q[at]) if is_tested else None,
                evidence=bool(is_tested and q[at] <= FALSE_SHARE), way=self._way(at),
            )  # fmt: skip

    def _sides(self) -> tuple[Doubles, Doubles | None]:
        """The mean weight on what is right, and its share in the weight that is not on the sink; or the measure of a row."""
        sums = self.sums["sums"]
        told = Ratio(sums[..., WEIGHT], self.sums["n_cases"]).value()
        apart = {
            "most": Ratio(sums[..., WEIGHT], sums[..., MASS]),
            "distance": Ratio(sums[..., APART], sums[..., MASS]),
            "evenness": Ratio(sums[..., APART], self.sums["n_cases"]),
        }.get(self.definition.measure)
        return told, None if apart is None else apart.value()

    def _way(self, at: tuple[Any, Any]) -> float:
        perfect = 0.0 if self.definition.measure == "distance" else 1.0
        whole = abs(perfect - float(self.base[at]))
        return float(np.clip(float(self.difference[at]) / whole, 0, 1)) if whole > 0 else 0.0


def _score(role: Role, sums: Sums) -> Ratio:
    """(group, layer, head) what a role's measure is a ratio of; heads that a layer does not have are 0 / 0."""
    each, cases = sums["sums"], sums["n_cases"]
    above, below = {
        "most": (each[..., MOST], cases),
        "weight": (each[..., WEIGHT], cases),
        "evenness": (each[..., WEIGHT], cases),
        "distance": (each[..., APART], each[..., MASS]),
    }[role.measure]
    return Ratio(above, below)
