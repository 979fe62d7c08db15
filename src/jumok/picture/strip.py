"""The stage strip: from the embeddings to the output as small tables, in the order in which the formula reads."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..trace import Trace
from ..words import number
from .captions import brief, grid_names, say, token_names
from .grids import Grid, grids_of, pared
from .heat import CRISP, WEIGHTS
from .layout import Panel, flowing, paragraph, stacked
from .plain import cell_texts, heading
from .svg import Text, cut, rect, width_of
from .theme import Theme, css, ink_on

__all__ = ["STAGES", "strip"]

STAGES = ("x", "q", "k", "v", "scores", "scaled", "allowed", "weights", "mixed", "output")
MOST_ROWS, MOST_COLUMNS = 12, 12
ROW, SIZE, LONGEST = 19.0, 10.0, 84.0
ROOM = 1180.0


def strip(trace: Trace, head: int, focus: int, lang: str, theme: Theme) -> tuple[Panel, list[str]]:
    """One head's way from X to the output; the row of one token stands out in every table."""
    tables: list[Panel] = []
    left_out = False
    for stage in STAGES:
        grid = _grid(trace, stage, head)
        if grid is None:
            continue
        small = pared(grid, MOST_ROWS, MOST_COLUMNS, focus)
        left_out = left_out or small is not grid
        tables.append(_table(trace, small, len(tables), focus, lang, theme))
    notes = [say("roots", lang)]
    if not trace.rows("allowed", queries=range(min(trace.n_queries, 64))).all():
        notes.append(say("hidden", lang))
    if left_out:
        notes.append(say("strip_pared", lang))
    formula = paragraph(_formula(trace), ROOM, theme, 13, bold=True)
    body = flowing(tables, ROOM, 22)
    return stacked([formula, body, paragraph("  ".join(notes), max(380, body.width), theme)], 14), [
        _told(trace, head, focus, lang)
    ]


def _grid(trace: Trace, stage: str, head: int) -> Grid | None:
    """A stage's table; none where the record does not hold it, or where it would only repeat another."""
    if stage == "allowed" and trace.rule.allowed.kind == "everything":
        return None
    joined = trace.n_heads > 1 or (trace.heads is not None and trace.heads.w_o is not None)
    if stage == "mixed" and not joined:
        return None
    queries = list(range(min(trace.n_queries, 256))) if stage in ("scores", "scaled", "allowed", "weights") else None
    grids = grids_of(trace, stage, queries)
    return next((grid for grid in grids if grid.head in (None, _kv(trace, stage, head))), None)


def _kv(trace: Trace, stage: str, head: int) -> int:
    """The head itself, or the one of k and v that it shares with others."""
    return head // (trace.n_heads // trace.n_kv_heads) if stage in ("k", "v") else head


def _told(trace: Trace, head: int, focus: int, lang: str) -> str:
    """The row that stands out, in words."""
    weights = trace.rows("weights", queries=[focus], heads=[head])[0, 0]
    names = token_names(trace, read=True)
    keys = ", ".join(
        f"{brief(names[key])} {number(float(weights[key]))}" for key in np.argsort(-weights, kind="stable")[:3]
    )
    return say("row_told", lang, query=brief(token_names(trace)[focus]), keys=keys)


def _formula(trace: Trace) -> str:
    mask = "" if trace.rule.allowed.kind == "everything" else " + M"
    root = "√d_k" if trace.rule.scale is None else "…"
    last = " W_O" if trace.heads is not None and trace.heads.w_o is not None else ""
    return f"softmax(Q Kᵀ / {root}{mask}) V{last}"


def _table(trace: Trace, grid: Grid, number: int, focus: int, lang: str, theme: Theme) -> Panel:
    rows, columns = grid_names(trace, grid, lang)
    texts = cell_texts(grid)
    title = Text(f"{number + 1}. {heading(trace, grid, lang)}", 0, 11, 11.5, css(theme.ink), bold=True)
    left = max(min(width_of(name, SIZE), LONGEST) for name in rows) + 8
    widths = [_column_width(name, [row[c] for row in texts]) for c, name in enumerate(columns)]
    nodes: list[Any] = [title]
    x = left
    for c, (name, width) in enumerate(zip(columns, widths, strict=True)):
        nodes.append(_name(name, x + width - 5, 32, theme.dim, "end", theme, width - 6))
        for r in range(len(rows)):
            nodes += _cell(grid, texts, r, c, (x, 38 + r * ROW, width), theme)
        x += width
    for r, name in enumerate(rows):
        bold = grid.row_at is not None and grid.row_at[r] == focus and grid.stage not in ("k", "v")
        nodes.append(_name(name, left - 6, 38 + r * ROW + 13, theme.ink, "end", theme, LONGEST, bold))
    bottom = 38 + len(rows) * ROW
    nodes.append(rect(left, 38, x - left, bottom - 38, "none", stroke=css(theme.line)))
    return Panel(max(x, width_of(title.content, 12.5)) + 1, bottom + 1, tuple(nodes))


def _column_width(name: str, texts: list[str]) -> float:
    return round(max(30.0, min(width_of(name, SIZE), LONGEST - 6), *(width_of(text, SIZE) for text in texts)) + 10)


def _name(
    name: str, x: float, y: float, fill: tuple[int, int, int], anchor: str, theme: Theme, room: float,
    bold: bool = False,
) -> Text:  # fmt: skip
    short = cut(name, SIZE, room)
    colour = css(theme.accent if bold else fill)
    return Text(short, x, y, SIZE, colour, anchor, bold, whole=None if short == name else name)


def _cell(
    grid: Grid, texts: list[list[str]], row: int, column: int, place: tuple[float, float, float], theme: Theme
) -> list[Any]:
    x, y, width = place
    off = grid.hidden is not None and bool(grid.hidden[row][column])
    off = off or (grid.stage == "allowed" and not grid.values[row][column])
    fill = theme.hidden if off else theme.paper
    if grid.stage == "weights" and not off:
        fill = WEIGHTS.colour(float(np.asarray(grid.values)[row][column]))
    box = [] if fill == theme.paper else [rect(x, y, width, ROW, css(fill), **CRISP)]
    return [*box, Text(texts[row][column], x + width - 5, y + 13.5, SIZE, css(ink_on(fill)), "end")]
