"""The cases of every role in some rows of a sequence: which query should read which keys, and what trivial rules get.

A case is a query for which a role has a key among the candidates, of which there are at least two (one is no choice).
Candidates are what the rule lets the query read, without the sink; where the same token or a related word
is asked for, without the query itself ("other", as Clark et al. have it).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .marked import Flags, Marked, Whole

__all__ = ["MOST_OFFSET", "OFFSETS", "Cases", "joined", "piece_cases", "same_cases", "sink_cases", "unit_cases"]

MOST_OFFSET = 8  # the fixed offsets that are tried, as roles and as baselines: −8 … 8
OFFSETS = tuple(range(-MOST_OFFSET, MOST_OFFSET + 1))
_NAMED = {-1: "previous", 0: "self", 1: "next"}

Doubles = npt.NDArray[np.float64]
Pairs = tuple[str, Whole, Whole]  # a role, queries in order, keys


@dataclass(frozen=True, eq=False)
class Cases:
    """Cases, role by role, each with the keys that would be right.

    roles : (role,) names
    query, key : (pair,) which query should read which key; role by role, from ``pairs[role]`` on
    case : (case,) the query of a case; role by role, from ``cases[role]`` on
    n_cases : (role,);  even : (role,) what even weights would get of them
    offsets : (role, offset) in how many of them the key at a fixed offset is right
    """

    roles: tuple[str, ...]
    query: Whole
    key: Whole
    pairs: Whole
    case: Whole
    cases: Whole
    n_cases: Whole
    even: Doubles
    offsets: Doubles


def offset_role(offset: int) -> str:
    """The name of the role of a fixed offset.

    >>> offset_role(-1), offset_role(3)
    ('previous', 'offset:+3')
    """
    return _NAMED.get(offset, f"offset:{offset:+d}")


def piece_cases(known: Marked, rows: Whole, candidates: Flags) -> Cases:
    """Of roles that need no annotation: fixed offsets, induction.

    rows : (row,) which queries these are;  candidates : (row, token)
    """
    return _cases(_piece_pairs(known, rows), candidates, rows, ~known.special[rows])


def same_cases(known: Marked, rows: Whole, others: Flags) -> Cases:
    """Of the same token elsewhere; the query itself, which is the same too, is no candidate.

    others : (row, token) candidates without the query itself
    """
    return _cases(iter([("same-token", *_pairs(_alike(known, rows) & others))]), others, rows, ~known.special[rows])


def sink_cases(known: Marked, rows: Whole, allowed: Flags) -> Cases:
    """Of the roles that the sink itself plays: the first token, and other marks. All that may be read is a candidate."""
    asks = ~known.special[rows] & (rows > 0)
    return _cases(_sink_pairs(known, rows), allowed, rows, asks)


def unit_cases(known: Marked, units: Whole, candidates: Flags) -> Cases:
    """Of annotated roles, word by word.

    units : (row,) which words these are, one after another;  candidates : (row, unit)
    """
    first, end = (int(units[0]), int(units[-1]) + 1) if len(units) else (0, 0)
    pairs = []
    for role, (reads, read) in known.links.items():
        low, high = np.searchsorted(reads, (first, end))
        pairs.append((role, reads[low:high] - first, read[low:high]))
    return _cases(iter(pairs), candidates, units, np.ones(len(units), dtype=bool))


def joined(some: Sequence[Cases]) -> Cases:
    """Cases one behind the other."""
    n_pairs, n_cases = ([0, *np.cumsum([len(getattr(one, name)) for one in some])] for name in ("query", "case"))
    moved = {
        "pairs": [one.pairs + n for one, n in zip(some, n_pairs, strict=False)],
        "cases": [one.cases + n for one, n in zip(some, n_cases, strict=False)],
    }
    names = ("query", "key", "case", "n_cases", "even", "offsets")
    arrays = {name: np.concatenate([getattr(one, name) for one in some]) for name in names}
    arrays |= {name: np.concatenate(parts) for name, parts in moved.items()}
    return Cases(tuple(role for one in some for role in one.roles), **arrays)


def _piece_pairs(known: Marked, rows: Whole) -> Iterator[Pairs]:
    n, at = len(known.ids), np.arange(len(rows))
    for offset in OFFSETS:
        there = (rows + offset >= 0) & (rows + offset < n)
        yield offset_role(offset), at[there], rows[there] + offset
    alike = _alike(known, rows)
    after = np.zeros_like(alike)
    after[:, 1:] = alike[:, :-1] & (np.arange(n - 1) < rows[:, None] - 1)  # the token after an earlier one, not itself
    yield "induction", *_pairs(after)


def _alike(known: Marked, rows: Whole) -> Flags:
    """(row, token) True for the same text, marks aside."""
    made: Flags = (known.ids[rows][:, None] == known.ids[None, :]) & ~known.special[None, :]
    return made


def _sink_pairs(known: Marked, rows: Whole) -> Iterator[Pairs]:
    first = np.zeros(len(known.ids), dtype=bool)
    first[:1] = True
    for role, keys in (("first", first), ("separator", known.special & ~first)):
        yield role, *_pairs(np.broadcast_to(keys, (len(rows), len(keys))))


def _pairs(right: Flags) -> tuple[Whole, Whole]:
    query, key = np.nonzero(right)
    return query, key


def _cases(pairs: Iterator[Pairs], candidates: Flags, rows: Whole, asks: Flags) -> Cases:
    """Pairs as cases, without those that are no candidates."""
    n_candidates = candidates.sum(axis=1)
    choice = asks & (n_candidates > 1)
    kept: list[Pairs] = []
    for role, query, key in pairs:
        may = candidates[query, key] & choice[query]
        if may.any():
            kept.append((role, query[may], key[may]))
    queries = [_distinct(query) for _, query, _ in kept]
    even = [(1 / n_candidates[query]).sum() for _, query, _ in kept]
    offsets = [_by_offset(key - rows[query]) for _, query, key in kept]
    none = np.zeros(0, dtype=np.int64)
    return Cases(
        roles=tuple(role for role, *_ in kept),
        query=np.concatenate([none, *(query for _, query, _ in kept)]),
        key=np.concatenate([none, *(key for *_, key in kept)]),
        pairs=_starts([len(query) for _, query, _ in kept]),
        case=np.concatenate([none, *queries]),
        cases=_starts([len(query) for query in queries]),
        n_cases=np.array([len(query) for query in queries], dtype=np.int64),
        even=np.array(even, dtype=np.float64),
        offsets=np.array(offsets, dtype=np.float64).reshape(len(kept), len(OFFSETS)),
    )


def _distinct(ordered: Whole) -> Whole:
    made: Whole = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])]
    return made


def _by_offset(offset: Whole) -> Whole:
    near = offset[np.abs(offset) <= MOST_OFFSET] + MOST_OFFSET
    return np.bincount(near, minlength=len(OFFSETS))


def _starts(lengths: list[int]) -> Whole:
    return np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64) if lengths else np.zeros(0, dtype=np.int64)
