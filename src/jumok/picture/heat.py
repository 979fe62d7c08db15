"""Heat maps: coloured cells with numbers, names of rows and columns, and a legend that states the mapping."""

from __future__ import annotations

import base64
import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..trace import Trace
from .captions import brief, grid_names, say, token_names
from .colours import CIVIDIS, Rgb, cividis, puor
from .grids import Grid, grids_of, pared
from .layout import Panel, paragraph, stacked
from .plain import cell_texts
from .png import palette
from .pooling import NOTHING, pooled, starts
from .svg import Node, Text, cut, line, rect, width_of
from .theme import Theme, css, ink_on

__all__ = [
    "CRISP",
    "MOST_TOKENS",
    "Cells",
    "Scale",
    "cells_of",
    "heat_map",
    "image",
    "one_grid",
    "scale_of",
    "shown_cells",
]

CRISP = {"shape-rendering": "crispEdges"}  # no line of paper between neighbours at any size
MOST_TOKENS = 64  # beyond, cells would be smaller than a name
WITH_NUMBERS = 24
MOST_PIXELS = 256
LONGEST_NAME = 170.0
WIDE = ("scores", "scaled", "allowed", "weights")  # stages with a number for every query and key


@dataclass(frozen=True)
class Scale:
    """How a number becomes a colour.

    colour : of a number;  ticks : (place from 0 to 1, number written there)
    says : what the legend states, with numbers in the cells and without
    """

    colour: Callable[[float], Rgb]
    ticks: tuple[tuple[float, str], ...] = ()
    says: tuple[str, str] = ("", "")
    at: Callable[[float], float] = float  # the number that stands at a place of the legend


def _root(value: float) -> Rgb:
    return cividis(math.sqrt(max(value, 0.0)))


WEIGHTS = Scale(
    _root,
    tuple((math.sqrt(a), f"{a:g}") for a in (0, 0.05, 0.2, 0.5, 1)),
    ("roots", "roots_only"),
    lambda place: place**2,
)


def signed(values: Any) -> Scale:
    """A scale that is neutral at 0 and reaches as far below as above."""
    most = float(np.abs(values).max(initial=0)) or 1.0
    ends = f"{most:.3g}"
    ticks = ((0, f"-{ends}"), (0.5, "0"), (1, ends))
    return Scale(lambda a: puor(a / most), ticks, ("signed", "signed_only"), lambda place: (2 * place - 1) * most)


def scale_of(stage: str, values: Any) -> Scale:
    """Weights on a scale of their own, from 0 to 1; other stages around 0."""
    return WEIGHTS if stage == "weights" else signed(np.asarray(values, dtype=float))


@dataclass(frozen=True)
class Cells:
    """What a heat map shows.

    rows, columns : names;  values : (row, column);  texts : the same as written, or None
    hidden : (row, column) True where the mask hides the cell, or None
    scale : how numbers become colours;  corner : what rows and columns are
    """

    rows: Sequence[str]
    columns: Sequence[str]
    values: Any
    texts: Sequence[Sequence[str]] | None
    hidden: Any
    scale: Scale | None
    corner: str = ""
    marked: int | None = None

    def colour(self, row: int, column: int, theme: Theme) -> Rgb:
        """What a cell is filled with."""
        if self.hidden is not None and self.hidden[row][column]:
            return theme.hidden
        return theme.paper if self.scale is None else self.scale.colour(float(self.values[row][column]))


def cells_of(trace: Trace, grid: Grid, lang: str) -> Cells:
    """A grid of numbers as a heat map's cells. ``allowed`` has signs instead of colours."""
    rows, columns = grid_names(trace, grid, lang)
    hidden = ~np.asarray(grid.values) if grid.stage == "allowed" else grid.hidden
    written = max(len(rows), len(columns)) <= WITH_NUMBERS
    scale = None if grid.stage == "allowed" else scale_of(grid.stage, grid.values)
    corner = say("query_key", lang) if grid.column_at is not None else ""
    return Cells(rows, columns, grid.values, cell_texts(grid) if written else None, hidden, scale, corner)


# drawing ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Sizes:
    """Where a map's parts stand: the first cell at (left, top), each ``cell``; names at an angle where they are wide."""

    left: float
    top: float
    cell: tuple[float, float]
    letters: float
    turn: float
    over: float  # how far the last name reaches over the right edge

    @staticmethod
    def of(cells: Cells) -> _Sizes:
        letters = 11.0 if cells.texts is not None else 9.5
        texts = [text for row in cells.texts or () for text in row]
        width = max([44.0, *(width_of(text, 11) + 14 for text in texts)]) if cells.texts is not None else 14.0
        names = [_name_width(name, letters) for name in cells.columns]
        turn = 0.0 if max(names) <= width - 6 else -40.0
        top = letters + 10 if not turn else max(names) * math.sin(math.radians(40)) + letters + 8
        reach = [(at - len(names) + 0.5) * width + w * math.cos(math.radians(40)) for at, w in enumerate(names)]
        rows = max(_name_width(name, letters) for name in cells.rows)
        left = max(rows + 8, width_of(cells.corner, 10) + 4 if cells.corner else 0)
        over = max(0.0, *reach) + 4 if turn else 0.0
        return _Sizes(
            round(left), round(top), (round(width), 28 if cells.texts is not None else 14), letters, turn, over
        )


def _name_width(name: str, size: float) -> float:
    return min(width_of(name, size), LONGEST_NAME)


def cells_panel(cells: Cells, theme: Theme) -> Panel:
    """The names and the cells."""
    sizes = _Sizes.of(cells)
    width, height = sizes.cell
    right, bottom = sizes.left + width * len(cells.columns), sizes.top + height * len(cells.rows)
    squares: list[Any] = []
    letters: list[Any] = []
    for r in range(len(cells.rows)):
        for c in range(len(cells.columns)):
            square, *letter = _cell(cells, r, c, sizes, theme)
            squares.append(square)
            letters += letter
    nodes: list[Any] = [*_names(cells, sizes, theme), Node("g", CRISP, tuple(squares)), *letters]
    nodes.append(_frame(sizes.left, sizes.top, right, bottom, theme))
    return Panel(right + max(2, sizes.over), bottom + 1, tuple(nodes))


def _names(cells: Cells, sizes: _Sizes, theme: Theme) -> list[Text]:
    width, height = sizes.cell
    ink = css(theme.ink)
    made = []
    if cells.corner:
        made.append(Text(cells.corner, sizes.left - 6, sizes.top - 6, 10, css(theme.dim), "end"))
    for r, name in enumerate(cells.rows):
        y = sizes.top + (r + 0.5) * height + 0.35 * sizes.letters
        made.append(_name(name, sizes.left - 6, y, sizes.letters, ink, "end", bold=r == cells.marked))
    for c, name in enumerate(cells.columns):
        x = sizes.left + (c + 0.5) * width + (0.3 * sizes.letters if sizes.turn else 0)
        anchor = None if sizes.turn else "middle"
        made.append(_name(name, x, sizes.top - 6, sizes.letters, ink, anchor, turn=sizes.turn))
    return made


def _name(name: str, x: float, y: float, size: float, fill: str, anchor: str | None, **more: Any) -> Text:
    short = cut(name, size, LONGEST_NAME)
    return Text(short, x, round(y, 1), size, fill, anchor, whole=None if short == name else name, **more)


def _cell(cells: Cells, row: int, column: int, sizes: _Sizes, theme: Theme) -> list[Any]:
    width, height = sizes.cell
    x, y = sizes.left + column * width, sizes.top + row * height
    fill = cells.colour(row, column, theme)
    made: list[Any] = [rect(x, y, width, height, css(fill))]
    if cells.texts is not None:
        text = cells.texts[row][column]
        made.append(Text(text, x + width / 2, round(y + height / 2 + 4, 1), 11, css(ink_on(fill)), "middle"))
    return made


def _frame(left: float, top: float, right: float, bottom: float, theme: Theme) -> Node:
    return rect(left, top, right - left, bottom - top, "none", stroke=css(theme.line))


def legend(scale: Scale | None, theme: Theme, name: str = "") -> Panel:
    """The colours of a scale with some of its numbers."""
    if scale is None:
        return Panel(0, 0)
    n, width = 40, 200.0
    left = width_of(name, 10) + 16 if name else 16.0
    step = width / n
    bar: list[Any] = [
        rect(left + at * step, 0, step, 10, css(scale.colour(scale.at((at + 0.5) / n)))) for at in range(n)
    ]
    bar = [Node("g", CRISP, tuple(bar))]
    if name:
        bar.append(Text(name, left - 16, 9, 10, css(theme.dim), "end"))
    for place, text in scale.ticks:
        x = left + place * width
        bar += [line(x, 10, x, 13, css(theme.dim)), Text(text, x, 23, 9.5, css(theme.dim), "middle")]
    return Panel(left + width + 16, 26, tuple(bar))


# the picture --------------------------------------------------------------------------------------


def heat_map(
    trace: Trace, stage: str, head: int | None, query: int | None, lang: str, theme: Theme, marked: int | None = None
) -> tuple[Panel, list[str]]:
    """A stage of one head as a panel with its legend, and what it says to those who do not see it."""
    if query is None and stage == "weights" and max(trace.n_queries, trace.n_keys) > MOST_TOKENS:
        return _long_map(trace, head or 0, lang, theme)
    cells, notes = shown_cells(trace, stage, head, query, lang)
    if query is None and marked is not None and stage in WIDE and marked < len(cells.rows):
        cells = dataclasses.replace(cells, marked=marked)
    panel = cells_panel(cells, theme)
    name = "" if cells.scale is None else say("weight" if stage == "weights" else "value", lang)
    told = paragraph("  ".join(notes), max(panel.width, 380), theme)
    return stacked([panel, legend(cells.scale, theme, name), told]), _told(cells, lang)


def shown_cells(trace: Trace, stage: str, head: int | None, query: int | None, lang: str) -> tuple[Cells, list[str]]:
    """The cells of a stage, and the notes under them."""
    if query is None and stage in WIDE and max(trace.n_queries, trace.n_keys) > MOST_TOKENS:
        raise InputError(
            en=f"{stage} of {trace.n_queries:,} × {trace.n_keys:,} tokens is too large for a picture of numbers. Choose a token "
            f"(query=) or draw the weights.",
            ko=f"토큰 {trace.n_queries:,} × {trace.n_keys:,}개의 {stage}은(는) 숫자 그림으로 그리기에 너무 큽니다. 토큰(query=)을 "
            f"고르거나 가중치를 그리십시오.",
        )
    grid = one_grid(trace, stage, head, query)
    small = pared(grid, MOST_TOKENS, MOST_TOKENS)
    cells = cells_of(trace, small, lang)
    notes = [] if cells.scale is None else [say(cells.scale.says[cells.texts is None], lang)]
    if stage == "allowed":
        notes.append(say("may_read" if cells.texts is not None else "hidden_only", lang))
    elif cells.hidden is not None and np.any(cells.hidden):
        notes.append(say("hidden" if cells.texts is not None else "hidden_only", lang))
    left_out = len(grid.rows) - len(small.rows), len(grid.columns) - len(small.columns)
    if any(left_out):
        notes.append(say("pared", lang, rows=left_out[0], columns=left_out[1]))
    return cells, notes


def one_grid(trace: Trace, stage: str, head: int | None, query: int | None) -> Grid:
    """The grid of one head (or of a stage that has no heads), for all queries or one."""
    read = stage in ("k", "v") or stage[:2] == "w_" or stage == "x"
    grids = grids_of(trace, stage, None if query is None or read else [query])
    if not grids:
        raise InputError(
            en=f"this record does not hold {stage}, so it cannot be drawn. A record made from q, k and v has no x and no weights.",
            ko=f"이 기록에는 {stage}이(가) 없어서 그릴 수 없습니다. q, k, v로 만든 기록에는 x와 투영 행렬이 없습니다.",
        )
    return next((grid for grid in grids if grid.head in (None, head)), grids[0])


def _told(cells: Cells, lang: str) -> list[str]:
    """Each row in words: its three largest numbers."""
    if cells.texts is None:
        return []
    told = []
    for r, name in enumerate(cells.rows[:12]):
        values = np.asarray(cells.values[r], dtype=float)
        seen = [c for c in np.argsort(-values, kind="stable") if cells.hidden is None or not cells.hidden[r][c]]
        keys = ", ".join(f"{brief(cells.columns[c])} {cells.texts[r][c]}" for c in seen[:3])
        told.append(say("row_told", lang, query=brief(name), keys=keys or "·"))
    if len(cells.rows) > 12:
        told.append(say("more", lang, n=len(cells.rows) - 12) + ".")
    return told


# long texts ---------------------------------------------------------------------------------------


def _long_map(trace: Trace, head: int, lang: str, theme: Theme) -> tuple[Panel, list[str]]:
    """All weights of a head in at most 256 × 256 pixels, with some of the tokens' names."""
    values = pooled(trace, MOST_PIXELS, [head])[0]
    side = 512.0
    n_rows, n_columns = values.shape
    rows, columns = _some_names(trace, n_rows, side), _some_names(trace, n_columns, side, read=True)
    left = max(_name_width(name, 9.5) for _, name in rows) + 10
    over = max(place + _name_width(name, 9.5) * 0.77 for place, name in columns) - side
    top = max(_name_width(name, 9.5) for _, name in columns) * 0.65 + 16
    nodes: list[Any] = [image(values, left, top, side, side, theme), _frame(left, top, left + side, top + side, theme)]
    ink = css(theme.ink)
    nodes += [_name(name, left - 6, top + place + 3, 9.5, ink, "end") for place, name in rows]
    nodes += [_name(name, left + place + 3, top - 6, 9.5, ink, None, turn=-40.0) for place, name in columns]
    told = say("pooled", lang, n=trace.n_queries, m=trace.n_keys, rows=n_rows, columns=n_columns)
    notes = [told, say("roots_only", lang)]
    if (values == NOTHING).any():
        notes.append(say("hidden_only", lang))
    panel = Panel(left + side + max(over, 2), top + side + 1, tuple(nodes))
    room = paragraph("  ".join(notes), panel.width, theme)
    return stacked([panel, legend(WEIGHTS, theme, say("weight", lang)), room]), [told]


def _some_names(trace: Trace, n_pixels: int, side: float, read: bool = False) -> list[tuple[float, str]]:
    """Where nine tokens stand along a side, and how they are called, with their positions."""
    names = token_names(trace, read)
    first = starts(len(names), n_pixels)
    some = sorted({round(at * (n_pixels - 1) / 8) for at in range(9)})
    return [((at + 0.5) * side / n_pixels, f"{names[first[at]]} #{first[at]}") for at in some]


def image(values: Any, x: float, y: float, width: float, height: float, theme: Theme) -> Node:
    """(row, column) weights as one picture inside the picture; each number a pixel, unsmoothed."""
    place = np.sqrt(np.clip(values, 0, 1))
    pixels = np.where(values == NOTHING, 255, np.rint(place * 254)).astype(np.uint8)
    data = palette(pixels, [*(CIVIDIS[round(at * 255 / 254)] for at in range(255)), theme.hidden])
    return Node(
        "image",
        {
            "x": x,
            "y": y,
            "width": width,
            "height": height,
            "preserveAspectRatio": "none",
            "image-rendering": "optimizeSpeed",  # unsmoothed where SVG 1.1 is read, and by resvg
            "style": "image-rendering:pixelated",  # unsmoothed in browsers
            "href": "data:image/png;base64," + base64.b64encode(data).decode("ascii"),
        },
    )
