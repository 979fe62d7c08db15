"""Why a query is what it is: a wanted row, read backwards from weights to scores and from scores to the query.

A record tells in its source what was wanted of it (``details["wanted"]``, by position). From a wanted row the query
follows by logarithms: weights → logs → a shift that softmax does not see → × √d_k → the scores that q · k must give.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..tokens import token_name, token_names
from ..trace import Floats, Trace
from .facts import MOST_KEYS, MOST_TERMS, Fact, dims_of, names_of, terms_of

__all__ = ["is_wanted", "wanted_row", "why_query"]

SLACK = 1e-6  # a wanted row may be off 1 by so much
REACHED = 1e-7  # weights that differ by no more are the wanted ones
ROUNDED = 5e-4  # or were written with fewer digits


def is_wanted(trace: Trace, query: int) -> bool:
    """Whether the source of a record wants something of a token's row, in this layer."""
    return any(str(query) in table for table in _tables(trace))


def why_query(trace: Trace, query: int, head: int, layer: int | None = None) -> Iterator[Fact]:
    """The steps from what was wanted of a token to its query; nothing where nothing was wanted, or no few keys are read."""
    wanted = wanted_row(trace, query, head)
    if wanted is None or trace.rule.softcap is not None or trace.rule.sink is not None:
        return
    row = _Wish(trace, query, head, layer, wanted)
    if not 1 < len(row.at) <= MOST_KEYS:
        return
    yield row.fact("why.wanted", weights=row.named(wanted[row.at]))
    if np.any(wanted[row.at] == 0):
        yield row.fact("why.zero", keys=[row.keys[key] for key in row.at if wanted[key] == 0])
        return
    yield from _scores(row)
    yield from _query(row)


def wanted_row(trace: Trace, query: int, head: int) -> Floats | None:
    """(key,) What was wanted of a row; allowed keys that were left out share what remains. None where nothing was."""
    tables = _tables(trace)
    table = tables[head if len(tables) > 1 else 0] if head < len(tables) or len(tables) == 1 else {}
    said = _numbers(table.get(str(query)), trace.n_keys)
    allowed = trace.rows("allowed", queries=[query])[0]
    if said is None or not allowed.any():
        return None
    left_out = allowed & np.isnan(said)
    total = math.fsum(said[~np.isnan(said)])
    if total > 1 + SLACK:
        return None
    remains = 0.0 if total >= 1 - SLACK else 1 - total
    row = np.where(allowed & ~left_out, np.nan_to_num(said), 0.0)
    row[left_out] = remains / max(1, int(left_out.sum()))
    return np.asarray(row / row.sum()) if row.sum() > 0 else None


def _tables(trace: Trace) -> list[Mapping[str, Any]]:
    """One a head, or one for all; [] where this is not the layer that is meant: the last, or the one with a design."""
    said = trace.source.details
    n_layers, at = said.get("n_layers", 1), trace.source.layer
    if "design" not in said and at is not None and at + 1 != n_layers:
        return []
    tables: list[Mapping[str, Any]] = said.get("wanted", [])
    return tables if trace.key_tokens is None else []


def _numbers(row: Any, n_keys: int) -> Floats | None:
    """(key,) The numbers of a row, NaN where nothing was said; None where they are no weights (a file may say anything)."""
    if not isinstance(row, dict) or not row:
        return None
    said = np.full(n_keys, np.nan)
    for key, weight in row.items():
        at = int(key) if key.isascii() and key.isdigit() and len(key) < 10 else n_keys
        if at >= n_keys or type(weight) not in (int, float) or not 0 <= weight <= 1 + SLACK:
            return None
        said[at] = weight
    return said


class _Wish:
    """One wanted row of one head: its keys, and the scores that it asks for."""

    def __init__(self, trace: Trace, query: int, head: int, layer: int | None, wanted: Floats) -> None:
        self.trace, self.query, self.head, self.layer = trace, query, head, layer
        part = trace.steps.part([head], [query])
        self.at = np.flatnonzero(part.allowed[0])
        self.keys = token_names(trace.read_tokens)
        self.token = token_name(trace.tokens, query)
        self.wanted = wanted
        self.scores, self.weights = part.scores[0, 0], part.weights[0, 0]
        self.k = trace.k[head // (trace.n_heads // trace.n_kv_heads)]
        self.q = trace.q[head, query]
        self.names = names_of(trace, "q") if self.keys_are_x else None
        self.scale = trace.rule.scale_for(trace.d_head)
        self.biased = trace.rule.bias is not None
        self.bias = part.scaled[0, 0] - self.scale * self.scores if self.biased else np.zeros(trace.n_keys)

    @property
    def keys_are_x(self) -> bool:
        """Whether W_K of this head is the identity."""
        made_by, d = self.trace.heads, self.trace.d_head
        at = d * (self.head // (self.trace.n_heads // self.trace.n_kv_heads))
        return (
            made_by is not None
            and made_by.rotation is None
            and made_by.b_k is None
            and np.array_equal(made_by.w_k[:, at : at + d], np.eye(d))
        )

    def fact(self, kind: str, **data: Any) -> Fact:
        return Fact("why", kind, {"token": self.token} | data, self.head, self.layer)

    def named(self, numbers: Any) -> list[list[Any]]:
        """[key, number] for each allowed key."""
        return [[self.keys[key], float(a)] for key, a in zip(self.at, numbers, strict=True)]


def _scores(row: _Wish) -> Iterator[Fact]:
    """From the weights to the scores that they ask for."""
    logs = np.log(row.wanted[row.at])
    yield row.fact("why.logs", logs=row.named(logs))
    bias = row.bias[row.at]
    silent = [place for place, key in enumerate(row.at) if not np.any(row.k[key])]
    if silent:  # its score is 0 whatever the query is
        forced = silent[0]
        shift = float(bias[forced] - logs[forced])
        kind, key = "why.shift.biased" if row.biased else "why.shift.forced", row.keys[row.at[forced]]
    else:
        shift = float((row.scale * row.scores[row.at] + bias - logs).mean())
        kind, key = "why.shift.free", ""
    scaled = logs + shift
    yield row.fact(kind, key=key, shift=shift, shifted=row.named(scaled))
    if row.biased:
        scaled = scaled - bias
        yield row.fact("why.bias", unbiased=row.named(scaled))
    needed = row.named(scaled / row.scale)
    if row.trace.rule.scale is None:
        yield row.fact("why.root", d_head=row.trace.d_head, needed=needed)
    else:
        yield row.fact("why.scale", scale=row.scale, needed=needed)


def _query(row: _Wish) -> Iterator[Fact]:
    """From the scores to the query that gives them; or that it does not."""
    off = np.abs(row.weights - row.wanted)[row.at]
    worst = row.keys[row.at[int(off.argmax())]]
    if off.max() > ROUNDED:
        yield row.fact("why.missed", key=worst, off=float(off.max()), scores=row.named(row.scores[row.at]))
        return
    yield row.fact("why.keys.identity" if row.keys_are_x else "why.keys")
    for key in row.at:
        terms = terms_of(row.q, row.k[key], row.names, few=0)
        kind = "why.key" if terms else "why.key.silent"
        yield row.fact(kind, key=row.keys[key], terms=terms, score=float(row.scores[key]))
    if row.names is None:
        yield row.fact("why.query.numbers", vector=[float(a) for a in row.q])
    else:
        yield row.fact("why.query", dims=dims_of(row.q, row.names))
    yield from _row_of_w_q(row)
    if off.max() > REACHED:
        yield row.fact("why.rounded", key=worst, off=float(off.max()))


def _row_of_w_q(row: _Wish) -> Iterator[Fact]:
    x, names = row.trace.x, names_of(row.trace, "x")
    if x is None or names is None or row.trace.heads is None or row.trace.heads.rotation is not None:
        return
    rows = [[name, float(a)] for name, a in zip(names, x[row.query], strict=True) if a]
    if 0 < len(rows) <= MOST_TERMS:
        yield row.fact("why.rows", rows=rows)
