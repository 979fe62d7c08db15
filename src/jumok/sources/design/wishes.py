"""What a person wants: tables with rows left free, or sparse {token: {token: weight}}, made whole and checked.

Allowed cells that a row leaves out share evenly what remains of 1. Where nothing remains they are wanted at 0, and a
cell that the rule forbids is wanted in vain: both are noted, so that the answer can say so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InputError, ShapeError
from ...tokens import Token, token_index
from ...trace import Floats

__all__ = ["Wish", "wishes"]

SLACK = 1e-6  # a row may be off 1 by so much


@dataclass(frozen=True, eq=False)
class Wish:
    """The wanted table of one sentence and head.

    table : (query, key) rows sum to 1 over the allowed keys, or are NaN where left free
    rows : (row,) the wanted queries
    shared : query → the weight that each allowed key that was left out gets
    zeros : (query, key) allowed and wanted at 0;  forbidden : (query, key, weight) wanted and not allowed
    """

    table: Floats
    rows: tuple[int, ...]
    shared: Mapping[int, float]
    zeros: tuple[tuple[int, int], ...]
    forbidden: tuple[tuple[int, int, float], ...]


def wishes(wanted: Any, tokens: Sequence[Token], allowed: npt.NDArray[np.bool_]) -> list[Wish]:
    """(head,) The wishes of one sentence.

    wanted : a table (query, key) or (head, query, key), NaN where left free or left out; {token: {token: weight}}; or a
        list of either, one a head

    Errors: ``ShapeError`` for another number of tokens; ``InputError`` for a weight that is negative or not a number, a
    row that does not sum to 1, or a row that may read nothing of what it wants; ``UnknownName`` for a token.
    """
    return [_wish(table, tokens, allowed) for table in _tables(wanted, tokens)]


def _tables(wanted: Any, tokens: Sequence[Token]) -> Iterator[Floats]:
    """(query, key) with NaN where nothing was said, one a head."""
    if isinstance(wanted, Mapping):
        yield _from_names(wanted, tokens)
        return
    if isinstance(wanted, (list, tuple)) and any(isinstance(part, Mapping) for part in wanted):
        for part in wanted:
            yield from _tables(part, tokens)
        return
    try:
        table = np.array(wanted, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            en="wanted expects a table of numbers with rows of one length, or {token: {token: weight}}.",
            ko="wanted에는 행의 길이가 모두 같은 숫자 표나 {토큰: {토큰: 가중치}}가 필요합니다.",
        ) from error
    n = len(tokens)
    if table.ndim not in (2, 3) or table.shape[-2:] != (n, n):
        raise ShapeError(
            en=f"wanted is {table.shape}, but there are {n} tokens. It is read as (query, key) or (head, query, key); "
            f"fill rows that are to stay free with NaN.",
            ko=f"wanted의 모양이 {table.shape}인데 토큰은 {n}개입니다. (query, key)나 (head, query, key)로 읽으며, 자유롭게 둘 "
            f"행은 NaN으로 채우십시오.",
        )
    yield from table.reshape(-1, n, n)


def _from_names(wanted: Mapping[Any, Any], tokens: Sequence[Token]) -> Floats:
    table = np.full((len(tokens), len(tokens)), np.nan)
    for query, row in wanted.items():
        at = token_index(tokens, query)
        if not isinstance(row, Mapping):
            raise InputError(
                en=f"the wanted row of {str(query)!r} expects {{token: weight}}, got {row!r}.",
                ko=f"{str(query)!r}의 바라는 행에는 {{토큰: 가중치}}가 필요한데 {row!r}이(가) 왔습니다.",
            )
        for key, weight in row.items():
            table[at, token_index(tokens, key)] = _number(weight, query, key)
        if not row:
            raise InputError(
                en=f"the wanted row of {str(query)!r} says nothing. Give at least one weight, or leave the row out.",
                ko=f"{str(query)!r}의 바라는 행이 비어 있습니다. 가중치를 하나 이상 쓰거나 행을 빼십시오.",
            )
    return table


def _number(weight: Any, query: Any, key: Any) -> float:
    try:
        number = math.nan if isinstance(weight, (bool, str, bytes)) else float(weight)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if math.isnan(number):
        raise InputError(
            en=f"the wanted weight of {str(query)!r} for {str(key)!r} expects a number from 0 to 1, got {weight!r}. "
            f"Leave the token out to let it share what remains.",
            ko=f"{str(query)!r}이(가) {str(key)!r}에 바라는 가중치에는 0부터 1까지의 숫자가 필요한데 {weight!r}이(가) 왔습니다. "
            f"토큰을 빼면 나머지를 고르게 나누어 갖습니다.",
        )
    return number


def _wish(said: Floats, tokens: Sequence[Token], allowed: npt.NDArray[np.bool_]) -> Wish:
    if said.min() > 0 and allowed.all():  # and no NaN: nothing to fill in, nothing in vain
        sums = said.sum(axis=1)
        if np.abs(sums - 1).max() <= SLACK:
            return Wish(said / sums[:, None], tuple(range(len(said))), {}, (), ())
    given = ~np.isnan(said)
    asked = np.asarray(given.any(axis=1))
    weights = np.where(given, said, 0.0)
    totals = weights.sum(axis=1)
    left_out = allowed & ~given
    n_left_out = np.where(asked, left_out.sum(axis=1), 0)
    for query in np.flatnonzero(asked & ~_right(weights, totals, n_left_out, allowed)).tolist():
        _refuse(said[query], query, tokens, allowed[query])
    shares: Floats = np.where(np.abs(totals - 1) <= SLACK, 0.0, np.maximum(0.0, 1 - totals)) / np.maximum(1, n_left_out)
    wanted = weights * allowed + shares[:, None] * left_out
    whole = np.where(asked, wanted.sum(axis=1), np.nan)
    for query in np.flatnonzero(whole == 0).tolist():
        _refuse_forbidden(query, tokens)
    return Wish(
        wanted / whole[:, None],
        tuple(np.flatnonzero(asked).tolist()),
        {query: float(shares[query]) for query in np.flatnonzero(n_left_out).tolist()},
        tuple(_cells(allowed & (wanted == 0) & asked[:, None])),
        tuple((query, key, float(weights[query, key])) for query, key in _cells((weights > 0) & ~allowed)),
    )


def _right(weights: Floats, totals: Floats, n_left_out: npt.NDArray[Any], allowed: npt.NDArray[np.bool_]) -> Any:
    """(query,) True where a row can be what somebody wants."""
    least = np.where(n_left_out, 0.0, 1 - SLACK)
    return (weights.min(axis=1) >= 0) & (totals >= least) & (totals <= 1 + SLACK) & allowed.any(axis=1)


def _cells(where: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    queries, keys = where.nonzero()
    return zip(queries.tolist(), keys.tolist(), strict=True)


def _refuse(row: Floats, query: int, tokens: Sequence[Token], allowed: npt.NDArray[np.bool_]) -> None:
    given = row[~np.isnan(row)]
    who = tokens[query].text
    bad = given[(given < 0) | ~np.isfinite(given)]
    if len(bad):
        key = tokens[int(np.flatnonzero(row == bad[0])[0])].text
        raise InputError(
            en=f"the wanted weight of {who!r} for {key!r} is {bad[0]:g}; weights are from 0 to 1.",
            ko=f"{who!r}이(가) {key!r}에 바라는 가중치가 {bad[0]:g}입니다. 가중치는 0부터 1까지입니다.",
        )
    if not allowed.any():
        raise InputError(
            en=f"{who!r} has a wanted row, but the rule lets it read nothing. Leave the row free, or change the rule.",
            ko=f"{who!r}에 바라는 행이 있지만 규칙에 따라 볼 수 있는 토큰이 없습니다. 행을 비워 두거나 규칙을 바꾸십시오.",
        )
    total = math.fsum(given)
    whole = not np.any(allowed & np.isnan(row))
    raise InputError(
        en=f"the wanted weights of {who!r} sum to {total:.7g}, not to 1. Change one of them"
        f"{'' if whole else ', or leave tokens out: they share what remains'}.",
        ko=f"{who!r}의 바라는 가중치 합이 1이 아니라 {total:.7g}입니다. 하나를 고치십시오"
        f"{'' if whole else '. 빼 둔 토큰은 나머지를 고르게 나누어 갖습니다'}.",
    )


def _refuse_forbidden(query: int, tokens: Sequence[Token]) -> None:
    who = tokens[query].text
    raise InputError(
        en=f"all that {who!r} wants to read is forbidden by the rule, so nothing is left to reach. Change the row or the rule.",
        ko=f"{who!r}이(가) 보려는 것이 모두 규칙으로 금지되어 남는 것이 없습니다. 행이나 규칙을 바꾸십시오.",
    )
