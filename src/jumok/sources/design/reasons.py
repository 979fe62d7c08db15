"""Why a wanted table is not reached, as data: every reason with its evidence and what would lift it.

Which tables can be reached is linear algebra. Without a mask the logarithms of a table, up to a constant a row, can be
left W rightᵀ exactly where (a) every linear dependency among the embeddings that ask holds for the rows, and (b) every
affine dependency among the embeddings that are read holds for the cells of each row. With a mask both stay necessary, on
the cells that all rows concerned may read. So each dependency is found, and held against the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...tokens import token_names
from ...trace import Floats
from .problem import Problem, Rows, Tables, centred, softmax

if TYPE_CHECKING:
    from .designed import Design, HeadFound, Sentence

__all__ = ["KINDS", "SAME", "Lift", "Reason", "dependencies", "equal", "reasons"]

KINDS = (
    "forbidden",
    "wanted-zero",
    "zero-embedding",
    "equal-embeddings",
    "contradiction",
    "combination",
    "rank",
    "rounding",
    "zero-mix",  # the last five are of design_values
    "same-mix",
    "combined-mix",
    "outside-w_o",
    "narrow-values",
)
INDEPENDENT = 1e-11  # of its length: the least part of a vector in a direction of its own that counts
SAME = 1e-9  # of the longest vector: embeddings that differ by less are equal
DIFFER = 1e-6  # weights, or logarithms of them, that differ by less do not contradict each other
LARGEST = 700.0  # the exponential of more is no finite number
FEW = 3  # terms of a dependency that is told one by one
MOST_TOLD = 3  # dependencies that are told one by one; more are told together


@dataclass(frozen=True)
class Lift:
    """What would lift a reason.

    kind : "own-dimension", "position-dimension", "larger-d_k", "second-layer", "small-weight", "other-rule",
        "same-wish", "other-weights", "other-projection", "context-dimension", "even-sizes", "larger-d_value"
    facts : what it would take, as plain JSON
    """

    kind: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def text(self, lang: str = "en") -> str:
        """In a language, "en" or "ko"."""
        from .reason_words import lift_text

        return lift_text(self, lang)


@dataclass(frozen=True)
class Reason:
    """One reason why a table is not reached.

    kind : one of ``KINDS``
    tokens : the tokens concerned, the one that asks or is mixed first
    head, sentence : where (sentence None: across sentences)
    facts : the evidence, as plain JSON: numbers, positions, sides
    lifts : what would lift it
    """

    kind: str
    tokens: tuple[str, ...]
    head: int = 0
    sentence: int | None = 0
    facts: Mapping[str, Any] = field(default_factory=dict)
    lifts: tuple[Lift, ...] = ()

    def text(self, lang: str = "en") -> str:
        """What is the matter and why, in a language, "en" or "ko"."""
        from .reason_words import reason_text

        return reason_text(self, lang)


def reasons(design: Design) -> tuple[Reason, ...]:
    """All the reasons of a design, head by head, in the order of ``KINDS``; () where every wanted row is reached."""
    if design.exact:
        return ()
    found = [one for head in range(design.n_heads) for one in _of_head(design, head)]
    return tuple(sorted(found, key=lambda one: (one.head, KINDS.index(one.kind))))


@dataclass(frozen=True, eq=False)
class _Side:
    """One sentence of one head, as the reasons look at it.

    names : (token,) as they are called;  asks, reads : (token, d) what is multiplied;  rows : the wanted queries
    pull : (query, key) wanted · exp(−bias): what q · k alone has to do, up to a factor a row; NaN in free rows
    """

    at: int
    sentence: Sentence
    names: list[str]
    asks: Floats
    reads: Floats
    rows: tuple[int, ...]
    wanted: Floats
    pull: Floats
    allowed: npt.NDArray[np.bool_]
    reached: Floats

    def name(self, token: int) -> str:
        return self.names[token]

    def share(self, query: int, keys: Sequence[int]) -> Floats:
        """The pull of a row on some keys, as shares that sum to 1."""
        part = self.pull[query, keys]
        return np.asarray(part / part.sum()) if part.sum() > 0 else np.zeros(len(keys))


def _of_head(design: Design, head: int) -> Iterator[Reason]:
    sides = [_side(design, at, head) for at in range(len(design.sentences))]
    missed = max(float(np.abs(s.wanted - s.reached)[list(s.rows)].max(initial=0.0)) for s in sides)
    for side in sides:
        yield from _forbidden(side, head)
    if missed <= 1e-7:
        return
    found = design.found[head]
    for side in sides if found.finished else ():  # of a search that was stopped the small weights say nothing
        yield from _zeros(design, side, head, found)
    structural = [reason for side in sides for reason in _structural(side, head)]
    structural += list(_contradictions(sides, head))
    if not structural and _not_reachable(sides, design):
        structural = [_tied(sides, design, head)]
    yield from structural
    if found.limited and found.gap > 1e-9:
        yield _rank(design, sides, head, found)
    elif not structural and not found.ridge and found.finished:
        yield _rounding(sides, head, missed)


def _side(design: Design, at: int, head: int) -> _Side:
    from .designed import bias_of

    s = design.sentences[at]
    columns = slice(head * design.d_k, (head + 1) * design.d_k)
    asks = s.x @ design.w_q[:, columns] if design.fixed == "w_q" else s.x
    reads = s.x @ design.w_k[:, columns] if design.fixed == "w_k" else s.x
    table = s.wishes[head].table
    bias = bias_of(s, head, range(len(s.tokens)))
    return _Side(
        at, s, token_names(s.tokens), asks, reads, s.wishes[head].rows, table, np.where(s.allowed, table * np.exp(-bias), 0.0), s.allowed,
        np.asarray(design.traces[at].rows("weights", heads=[head])[0]),
    )  # fmt: skip


# single cells -------------------------------------------------------------------------------------


def _forbidden(side: _Side, head: int) -> Iterator[Reason]:
    wish = side.sentence.wishes[head]
    for query in dict.fromkeys(q for q, _, _ in wish.forbidden):
        cells = [(key, weight) for q, key, weight in wish.forbidden if q == query]
        facts = {"weights": [weight for _, weight in cells], "sum": float(sum(weight for _, weight in cells))}
        tokens = (side.name(query), *(side.name(key) for key, _ in cells))
        yield Reason("forbidden", tokens, head, side.at, facts, (Lift("other-rule"),))


def _zeros(design: Design, side: _Side, head: int, found: HeadFound) -> Iterator[Reason]:
    wish = side.sentence.wishes[head]
    columns = slice(head * design.d_k, (head + 1) * design.d_k)
    size = float(max(np.abs(design.w_q[:, columns]).max(), np.abs(design.w_k[:, columns]).max()))
    for query in dict.fromkeys(q for q, _ in wish.zeros):
        keys = [key for q, key in wish.zeros if q == query]
        left = [float(side.reached[query, key]) for key in keys]
        if max(left) <= 1e-7:
            continue
        facts = {
            "weights": left,
            "largest": max(left),
            "size": size,
            "ridge": found.ridge,
            "nothing_remained": wish.shared.get(query) == 0.0,
        }
        tokens = (side.name(query), *(side.name(key) for key in keys))
        lifts = (Lift("small-weight"), Lift("other-rule"))
        yield Reason("wanted-zero", tokens, head, side.at, facts, lifts)


# dependencies -------------------------------------------------------------------------------------


def _structural(side: _Side, head: int) -> Iterator[Reason]:
    """Zero embeddings, equal ones, and combinations, where the table asks for what they cannot do."""
    size = float(np.linalg.norm(side.asks, axis=1).max(initial=0.0))
    zero = [i for i in side.rows if np.linalg.norm(side.asks[i]) <= SAME * size or size == 0]
    for query in zero:
        yield from _zero_embedding(side, head, query)
    asking = [i for i in side.rows if i not in zero]
    groups = equal(side.asks[asking], asking)
    for group in groups:  # each with the first before it that it contradicts: a mask may hide some keys
        for at, other in enumerate(group):
            told = (reason for before in group[:at] for reason in _equal_queries(side, head, before, other))
            yield from islice(told, 1)
    distinct = [group[0] for group in groups]
    yield from _mixed_queries(side, head, distinct)
    key_groups = equal(side.reads, range(len(side.reads)))
    for group in key_groups:
        yield from _equal_keys(side, head, group)
    yield from _mixed_keys(side, head, [group[0] for group in key_groups])


def _zero_embedding(side: _Side, head: int, query: int) -> Iterator[Reason]:
    from .designed import bias_of

    bias = bias_of(side.sentence, head, [query])[0]
    forced = softmax(np.where(side.allowed[query], bias, -np.inf)[None])[0]
    off = np.abs(side.wanted[query] - forced)
    if off.max() <= DIFFER:
        return
    key = int(off.argmax())
    facts = {
        "key": side.name(key),
        "wanted": float(side.wanted[query, key]),
        "forced": float(forced[key]),
        "n_keys": int(side.allowed[query].sum()),
        "biased": bool(np.any(bias[side.allowed[query]] != bias[side.allowed[query]][0])),
        "projected": bool(np.any(side.sentence.x[query] != 0) and side.asks is not side.sentence.x),
        "tiny": bool(np.any(side.asks[query] != 0)),
    }
    lifts = (Lift("own-dimension", {"tokens": [side.name(query)]}), Lift("position-dimension"))
    yield Reason("zero-embedding", (side.name(query),), head, side.at, facts, lifts)


def _equal_queries(side: _Side, head: int, first: int, other: int) -> Iterator[Reason]:
    shared = np.flatnonzero(side.allowed[first] & side.allowed[other]).tolist()
    if len(shared) < 2:
        return
    a, b = side.share(first, shared), side.share(other, shared)
    if np.abs(a - b).max() <= DIFFER or not (a.any() and b.any()):
        return
    worst = int(np.abs(a - b).argmax())
    facts = {
        "side": "query",
        "key": side.name(int(shared[worst])),
        "shares": [float(a[worst]), float(b[worst])],
        "of_all": bool(len(shared) == len(side.reads)),
        "biased": side.sentence.rule.bias is not None,
    }
    lifts = (Lift("own-dimension", {"tokens": [side.name(other)]}), Lift("position-dimension"), Lift("second-layer"))
    yield Reason("equal-embeddings", (side.name(first), side.name(other)), head, side.at, facts, lifts)


def _equal_keys(side: _Side, head: int, group: list[int]) -> Iterator[Reason]:
    """Equal keys of which some row wants different weights: one reason for all of them."""
    wrong: dict[int, list[int]] = {}
    for query in side.rows:
        read = [key for key in group if side.allowed[query, key]]
        if len(read) > 1 and np.ptp(side.pull[query, read]) > DIFFER * side.pull[query].max():
            wrong[query] = read
    if not wrong:
        return
    worst = max(wrong, key=lambda query: float(np.ptp(side.pull[query, wrong[query]])))
    pulls = side.pull[worst, wrong[worst]]
    pair = sorted((wrong[worst][int(pulls.argmax())], wrong[worst][int(pulls.argmin())]))
    tokens = [key for key in group if any(key in read for read in wrong.values())]
    facts = {
        "side": "key",
        "query": side.name(worst),
        "pair": [side.name(key) for key in pair],
        "wanted": [float(side.wanted[worst, key]) for key in pair],
        "queries": [side.name(query) for query in wrong],
        "biased": side.sentence.rule.bias is not None,
        "ratio": _ratio(side, head, worst, *pair),
    }
    lifts = (Lift("own-dimension", {"tokens": [side.name(key) for key in tokens[1:]]}), Lift("position-dimension"))
    yield Reason("equal-embeddings", tuple(side.name(key) for key in tokens), head, side.at, facts, lifts)


def _ratio(side: _Side, head: int, query: int, first: int, other: int) -> float:
    """What the position bias alone makes of the weights of two equal keys, one to the other."""
    from .designed import bias_of

    bias = bias_of(side.sentence, head, [query])[0]
    return float(np.exp(min(bias[first] - bias[other], LARGEST)))


def _mixed_queries(side: _Side, head: int, queries: list[int]) -> Iterator[Reason]:
    """Rows of queries that are a combination of others: their logarithms must be the same combination."""
    wrong = []
    independent, mixed = dependencies(side.asks[queries])
    for at, shares in mixed:
        query, others = queries[at], [queries[independent[k]] for k in np.flatnonzero(shares)]
        weights = shares[shares != 0]
        keys = np.flatnonzero(np.all(side.pull[[query, *others]] > 0, axis=0))
        if len(keys) < 2:
            continue
        logs = np.log(side.pull[[query, *others]][:, keys])
        off = logs[0] - weights @ logs[1:]
        off -= off.mean()
        if np.abs(off).max() > DIFFER:
            key = int(keys[np.abs(off).argmax()])
            wrong.append((query, others, weights, key, float(np.abs(off).max())))
    yield from _told(side, head, "query", wrong, len(queries), len(independent))


def _mixed_keys(side: _Side, head: int, keys: list[int]) -> Iterator[Reason]:
    """Keys that are an affine combination of others: in each row, so must their logarithms be."""
    wrong: dict[tuple[int, tuple[int, ...]], tuple[int, list[int], Floats, int, float]] = {}
    n_independent = 0
    patterns = {side.allowed[i].tobytes(): side.allowed[i] for i in side.rows}
    for allowed in patterns.values():
        mine = [key for key in keys if allowed[key]]
        rows = [i for i in side.rows if np.array_equal(side.allowed[i], allowed)]
        scale = max(float(np.abs(side.reads).max(initial=0.0)), 1e-300)
        lifted = np.concatenate([side.reads[mine] / scale, np.ones((len(mine), 1))], axis=1)
        independent, mixed = dependencies(lifted)
        n_independent = max(n_independent, len(independent))
        for at, shares in mixed:
            key, others = mine[at], [mine[independent[k]] for k in np.flatnonzero(shares)]
            for row in rows:
                cells = side.pull[row, [key, *others]]
                if np.any(cells <= 0):
                    continue
                off = abs(float(np.log(cells[0]) - shares[shares != 0] @ np.log(cells[1:])))
                name = (key, tuple(others))
                if off > DIFFER and (name not in wrong or wrong[name][4] < off):
                    wrong[name] = (key, others, shares[shares != 0], row, off)
    yield from _told(side, head, "key", list(wrong.values()), len(keys), n_independent)


def _told(
    side: _Side,
    head: int,
    which: str,
    wrong: list[tuple[int, list[int], Floats, int, float]],
    n: int,
    n_independent: int,
) -> Iterator[Reason]:
    """Dependencies one by one where they are few and short, else together."""
    if not wrong:
        return
    if len(wrong) <= MOST_TOLD and all(len(others) <= FEW for _, others, _, _, _ in wrong):
        for token, others, weights, witness, off in wrong:
            facts = {
                "side": which,
                "shares": [float(w) for w in weights],
                "witness": side.name(witness),
                "off": off,
            }
            names = (side.name(token), *(side.name(other) for other in others))
            lifts = (Lift("own-dimension", {"tokens": [side.name(token)]}), Lift("second-layer"))
            yield Reason("combination", names, head, side.at, facts, lifts)
        return
    worst = max(wrong, key=lambda one: one[4])
    facts = {
        "side": which,
        "n_tokens": n,
        "n_directions": n_independent - (which == "key"),
        "n_wrong": len({token for token, *_ in wrong}),
        "witness": side.name(worst[3]),
        "worst": side.name(worst[0]),
        "off": worst[4],
    }
    tokens = tuple(side.name(token) for token in dict.fromkeys(token for token, *_ in wrong))
    lifts = (Lift("own-dimension", {"tokens": list(tokens)}), Lift("second-layer"))
    yield Reason("combination", tokens, head, side.at, facts, lifts)


def equal(vectors: Floats, names: Iterable[int]) -> list[list[int]]:
    """The names in groups of equal vectors, in order."""
    size = float(np.abs(vectors).max(initial=0.0)) or 1.0
    groups: list[tuple[Floats, list[int]]] = []
    buckets: dict[bytes, list[tuple[Floats, list[int]]]] = {}
    for name, vector in zip(names, vectors, strict=True):
        near = buckets.setdefault((np.round(vector / size, 6) + 0.0).tobytes(), [])
        mine = next((group for other, group in near if np.abs(other - vector).max() <= SAME * size), None)
        if mine is not None:
            mine.append(name)
            continue
        near.append((vector, [name]))
        groups.append(near[-1])
    return [group for _, group in groups]


def dependencies(vectors: Floats) -> tuple[list[int], list[tuple[int, Floats]]]:
    """Which vectors are independent, in order, and the others as combinations of these (coefficients)."""
    independent: list[int] = []
    directions = np.zeros((0, vectors.shape[1]))
    dependent: list[int] = []
    for at, vector in enumerate(vectors):
        rest = vector - directions.T @ (directions @ vector)
        rest = rest - directions.T @ (directions @ rest)
        if np.linalg.norm(rest) > INDEPENDENT * max(float(np.linalg.norm(vector)), 1e-300) and np.any(vector != 0):
            directions = np.concatenate([directions, rest[None] / np.linalg.norm(rest)])
            independent.append(at)
        else:
            dependent.append(at)
    mixed = []
    for at in dependent:
        shares = np.linalg.lstsq(vectors[independent].T, vectors[at], rcond=None)[0] if independent else np.zeros(0)
        mixed.append((at, np.where(np.abs(shares) > SAME * np.abs(shares).max(initial=0.0), shares, 0.0)))
    return independent, mixed


# across sentences ---------------------------------------------------------------------------------


def _contradictions(sides: Sequence[_Side], head: int) -> Iterator[Reason]:
    """Equal queries of different sentences that want different shares of equal keys."""
    if len(sides) < 2:
        return
    asking = [(side, i) for side in sides for i in side.rows if np.any(side.asks[i] != 0)]
    groups = equal(np.stack([side.asks[i] for side, i in asking]), range(len(asking))) if asking else []
    for first, *others in groups:
        for other in others:
            (a, i), (b, j) = asking[first], asking[other]
            if a is not b:
                yield from _contradiction(a, i, b, j, head)


def _contradiction(a: _Side, i: int, b: _Side, j: int, head: int) -> Iterator[Reason]:
    size = float(max(np.abs(a.reads).max(), np.abs(b.reads).max())) or 1.0
    pairs = []
    for key in np.flatnonzero(a.allowed[i]):
        same = np.flatnonzero((np.abs(b.reads - a.reads[key]).max(axis=1) <= SAME * size) & b.allowed[j])
        if len(same):
            pairs.append((int(key), int(same[0])))
    if len(pairs) < 2:
        return
    p, q = a.share(i, [k for k, _ in pairs]), b.share(j, [k for _, k in pairs])
    if np.abs(p - q).max() <= DIFFER or not (p.any() and q.any()):
        return
    worst = int(np.abs(p - q).argmax())
    facts = {
        "sentences": [a.at, b.at],
        "query": [a.name(i), b.name(j)],
        "key": [a.name(pairs[worst][0]), b.name(pairs[worst][1])],
        "shares": [float(p[worst]), float(q[worst])],
    }
    lifts = (Lift("second-layer"), Lift("context-dimension", {"token": b.name(j)}), Lift("same-wish"))
    yield Reason("contradiction", (a.name(i), b.name(j)), head, None, facts, lifts)


# what is left -------------------------------------------------------------------------------------


def _positive(sides: Sequence[_Side], design: Design) -> Problem:
    """The problem on the cells that are wanted above 0 alone."""
    rows = []
    for side in sides:
        wanted = np.where(side.allowed, side.pull, 0.0)[list(side.rows)]
        keep = wanted.sum(axis=1) > 0
        base = np.where(wanted > 0, 0.0, -np.inf)[keep]
        table = wanted[keep] / wanted[keep].sum(axis=1, keepdims=True)
        rows.append(Rows(side.asks[list(side.rows)][keep], side.reads, base, table))
    return Problem(rows, design.sentences[0].rule.scale_for(design.d_k))


def _residuals(problem: Problem) -> Tables:
    """(row, key) What no W can give to the logarithms; 0 everywhere where the table can be reached."""
    from .convex import goals, nearest

    wanted = goals(problem)
    if not all(problem.shape):
        return wanted
    reached = problem.linear(nearest(problem, wanted))
    return [w - centred(r, t) for r, w, t in zip(problem.rows, wanted, reached, strict=True)]


def _not_reachable(sides: Sequence[_Side], design: Design) -> bool:
    return max(float(np.abs(one).max(initial=0.0)) for one in _residuals(_positive(sides, design))) > DIFFER


def _tied(sides: Sequence[_Side], design: Design, head: int) -> Reason:
    """No dependency of few tokens: the cells that together ask for what no W gives, the worst first."""
    residuals = _residuals(_positive(sides, design))
    at = int(np.argmax([np.abs(one).max(initial=0.0) for one in residuals]))
    side, table = sides[at], residuals[at]
    row, key = np.unravel_index(int(np.abs(table).argmax()), table.shape)
    facts = {
        "side": "both",
        "query": side.name(side.rows[int(row)]),
        "key": side.name(int(key)),
        "off": float(np.abs(table).max()),
        "n_cells": int(sum(np.sum(np.abs(one) > DIFFER) for one in residuals)),
    }
    tokens = (side.name(side.rows[int(row)]), side.name(int(key)))
    lifts = (Lift("own-dimension", {"tokens": [tokens[0]]}), Lift("second-layer"))
    return Reason("combination", tokens, head, side.at if len(sides) == 1 else None, facts, lifts)


def _rounding(sides: Sequence[_Side], head: int, missed: float) -> Reason:
    """The table can be reached; multiplied out in double precision it is not, for sizes are too far apart."""
    x = np.concatenate([side.sentence.x for side in sides])
    sizes = np.linalg.svd(x, compute_uv=False)
    sizes = sizes[sizes > 0]
    facts = {"off": missed, "condition": float(sizes[0] / sizes[-1]), "size": float(np.abs(x).max())}
    return Reason("rounding", (), head, None, facts, (Lift("even-sizes"),))


def _rank(design: Design, sides: Sequence[_Side], head: int, found: HeadFound) -> Reason:
    """Exact where complete rows over independent queries are reached without a limit; else the gap that is proven."""
    whole = all(bool(np.all(side.pull[list(side.rows)] > 0)) for side in sides)
    asks = np.concatenate([side.asks[list(side.rows)] for side in sides])
    exact = whole and len(sides) == 1 and found.bound <= 1e-9 and len(dependencies(asks)[0]) == len(asks)
    facts = {
        "d_k": design.d_k,
        "needed": found.rank if exact else None,
        "enough": found.rank,
        "loss": found.loss,
        "bound": found.bound,
        "gap": found.gap,
    }
    return Reason("rank", (), head, None, facts, (Lift("larger-d_k", {"d_k": found.rank, "exact": exact}),))
