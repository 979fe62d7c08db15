"""A stage of a Trace as grids of numbers with labels: what the terminal, Markdown and CSV draw."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..explanation.facts import names_of
from ..trace import STAGES, Trace, unknown_name

__all__ = ["SHOWN", "Grid", "grids_of", "pared"]

SHOWN = ("x", "w_q", "w_k", "w_v", "w_o", "q", "k", "v", *STAGES)


@dataclass(frozen=True)
class Grid:
    """One table of numbers.

    stage : one of ``SHOWN``;  head : which one, or None where there is one or it belongs to all
    rows, columns : labels; an int is the number of a dimension without a name (from 0)
    row_at : the token of each row, or None where rows are dimensions;  column_at : likewise
    values : (row, column) numbers, or booleans for ``allowed``
    hidden : (row, column) True where the mask hides the cell, or None
    query : for ``weighted_values``, the token that reads
    """

    stage: str
    rows: list[str | int]
    columns: list[str | int]
    values: Any
    head: int | None = None
    row_at: list[int] | None = None
    column_at: list[int] | None = None
    hidden: Any = None
    query: int | None = None


def grids_of(trace: Trace, stage: str, queries: list[int] | None = None) -> list[Grid]:
    """A stage as grids, one a head; for some queries, or all.

    Errors: ``UnknownName`` for a stage that is not there, ``TooLargeError`` for a table beyond what is made at once.
    """
    if stage not in SHOWN:
        raise unknown_name("stage", "단계", stage, SHOWN)
    if stage[:2] == "w_":
        return _projection(trace, stage)
    if stage in ("x", "q", "k", "v", "mixed", "output"):
        return _vectors(trace, stage, queries)
    return _weighted_values(trace, queries) if stage == "weighted_values" else _table(trace, stage, queries)


def pared(grid: Grid, most_rows: int, most_columns: int, focus: int | None = None) -> Grid:
    """A grid with at most so many rows and columns: those with the largest numbers, in their order.

    focus : the token whose row and column stay in any case
    """
    rows = _largest(grid, 1, most_rows, None if grid.row_at is None or focus is None else grid.row_at, focus)
    columns = _largest(
        grid, 0, most_columns, None if grid.column_at is None or focus is None else grid.column_at, focus
    )
    if len(rows) == len(grid.rows) and len(columns) == len(grid.columns):
        return grid
    return replace(
        grid,
        rows=[grid.rows[i] for i in rows],
        columns=[grid.columns[i] for i in columns],
        values=np.asarray(grid.values)[np.ix_(rows, columns)],
        row_at=None if grid.row_at is None else [grid.row_at[i] for i in rows],
        column_at=None if grid.column_at is None else [grid.column_at[i] for i in columns],
        hidden=None if grid.hidden is None else grid.hidden[np.ix_(rows, columns)],
    )


def _largest(grid: Grid, axis: int, most: int, at: list[int] | None, focus: int | None) -> list[int]:
    size = np.abs(np.asarray(grid.values, dtype=float)).max(axis=axis)
    if at is not None and focus in at:
        size[at.index(focus)] = np.inf
    return sorted(np.argsort(-size, kind="stable")[:most].tolist())


def _labels(names: list[str] | None, n: int) -> list[str | int]:
    return list(range(n)) if names is None else [*names]


def _projection(trace: Trace, stage: str) -> list[Grid]:
    w = None if trace.heads is None else getattr(trace.heads, stage)
    if w is None:
        return []
    what = {"w_q": "q", "w_k": "k", "w_v": "v", "w_o": "output"}[stage]
    rows = None if stage == "w_o" else names_of(trace, "x")
    return [Grid(stage, _labels(rows, w.shape[0]), _labels(names_of(trace, what), w.shape[1]), w)]


def _vectors(trace: Trace, stage: str, queries: list[int] | None) -> list[Grid]:
    read = stage in ("k", "v")
    tokens = trace.read_tokens if read else trace.tokens
    at = list(range(len(tokens))) if queries is None or (read and trace.key_tokens is not None) else queries
    values: Any
    if stage in ("mixed", "output"):
        values = trace.rows(stage, queries=at)
    else:
        whole = getattr(trace, stage)
        values = None if whole is None else whole[..., at, :]
    if values is None:
        return []
    per_head = values if values.ndim == 3 else values[None]
    names = _labels(names_of(trace, stage), per_head.shape[-1])
    rows: list[str | int] = [tokens[i].text for i in at]
    several = len(per_head) > 1
    return [Grid(stage, rows, names, one, h if several else None, at) for h, one in enumerate(per_head)]


def _table(trace: Trace, stage: str, queries: list[int] | None) -> list[Grid]:
    at = list(range(trace.n_queries)) if queries is None else queries
    values = trace.rows(stage, queries=at)
    per_head = values if values.ndim == 3 else values[None]
    hidden = ~trace.rows("allowed", queries=at) if stage == "weights" else None  # before it, nothing is hidden yet
    rows: list[str | int] = [trace.tokens[i].text for i in at]
    columns: list[str | int] = [token.text for token in trace.read_tokens]
    several = len(per_head) > 1
    return [
        Grid(stage, rows, columns, one, h if several else None, at, list(range(len(columns))), hidden)
        for h, one in enumerate(per_head)
    ]


def _weighted_values(trace: Trace, queries: list[int] | None) -> list[Grid]:
    grids = []
    for query in list(range(trace.n_queries)) if queries is None else queries:
        values = trace.rows("weighted_values", queries=[query])[:, 0]
        names = _labels(names_of(trace, "v"), values.shape[-1])
        rows: list[str | int] = [token.text for token in trace.read_tokens]
        hidden = np.broadcast_to(~trace.rows("allowed", queries=[query])[0][:, None], values.shape[1:])
        for head, one in enumerate(values):
            several = head if trace.n_heads > 1 else None
            grids.append(
                Grid("weighted_values", rows, names, one, several, list(range(len(rows))), None, hidden, query)
            )
    return grids
