"""Two texts side by side, and what changed: A, B, and B − A on a scale that is neutral at 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ..measurement.comparison import Comparison, HeadChange
from ..trace import Trace
from ..words import isolated, number, percent
from .captions import brief, say, title_of, token_names
from .grids import Grid
from .heat import MOST_TOKENS, WEIGHTS, WITH_NUMBERS, Cells, cells_of, cells_panel, legend, one_grid, signed
from .layout import Panel, beside, paragraph, stacked
from .plain import cell_texts
from .theme import Theme

__all__ = ["difference_maps"]


def difference_maps(comparison: Comparison, layer: int, head: int, lang: str, theme: Theme) -> tuple[Panel, list[str]]:
    """One head's weights in both texts, and their difference between matched tokens."""
    a, b = comparison.layer(layer)
    _refuse_long(a, b)
    found = next(one for one in comparison.heads if (one.layer, one.head) == (layer, head))
    maps = [_own(one, which, head, lang, theme) for one, which in ((a, "first"), (b, "second"))]
    cells = _change(comparison, layer, head, lang)
    if cells is not None:
        panel = cells_panel(cells, theme)
        headed = _headed(say("change", lang), panel, legend(cells.scale, theme, "B − A"), theme)
        maps.append(headed)
    wide = sum(one.width for one in maps) > 1720
    body = stacked(maps, 24) if wide else beside(maps, 36)
    notes = paragraph("  ".join(_notes(comparison, found, lang)), max(body.width, 380), theme)
    return stacked([body, notes]), _told(comparison, found, lang)


def _refuse_long(a: Trace, b: Trace) -> None:
    longest = max(a.n_queries, a.n_keys, b.n_queries, b.n_keys)
    if longest > MOST_TOKENS:
        raise InputError(
            en=f'a difference of {longest:,} tokens is too large for a picture (at most {MOST_TOKENS}). Draw kind="heads".',
            ko=f'토큰 {longest:,}개의 차이는 그림으로 그리기에 너무 큽니다(최대 {MOST_TOKENS}개). kind="heads"로 그리십시오.',
        )


def _headed(title: str, panel: Panel, below: Panel, theme: Theme) -> Panel:
    return stacked([paragraph(title, max(panel.width, 220), theme, 12, bold=True), panel, below], 10)


def _own(trace: Trace, which: str, head: int, lang: str, theme: Theme) -> Panel:
    """The weights of one text, all of its tokens."""
    title = title_of(trace, lang)
    named = say(which, lang) + (f": {title}" if title else "")
    cells = cells_of(trace, one_grid(trace, "weights", head, None), lang)
    return _headed(named, cells_panel(cells, theme), legend(WEIGHTS, theme, say("weight", lang)), theme)


def _change(comparison: Comparison, layer: int, head: int, lang: str) -> Cells | None:
    """B − A between matched tokens; None where there are none."""
    keys = comparison.key_pairs(layer)
    if not comparison.pairs or not keys:
        return None
    values = comparison.difference(layer, head)
    values[np.abs(values) <= _floor(comparison)] = 0  # which the notes say
    a, b = comparison.layer(layer)
    rows = _paired(token_names(a), token_names(b), comparison.pairs)
    columns = _paired(token_names(a, read=True), token_names(b, read=True), keys)
    grid = Grid("difference", [*rows], [*columns], values)
    texts = cell_texts(grid) if max(values.shape) <= WITH_NUMBERS else None
    return Cells(rows, columns, values, texts, None, signed(values), say("query_key", lang))


def _floor(comparison: Comparison) -> float:
    return 0.0 if comparison.noise_floor is None else comparison.noise_floor.weight


def _paired(a: list[str], b: list[str], pairs: Any) -> list[str]:
    return [a[i] if a[i] == b[j] else f"{isolated(a[i])} → {isolated(b[j])}" for i, j in pairs]


def _notes(comparison: Comparison, found: HeadChange, lang: str) -> list[str]:
    notes = [say("roots", lang)]
    if max(found.unmatched) > 0:
        notes.append(say("shared_out", lang, a=percent(found.unmatched[0]), b=percent(found.unmatched[1])))
    if floor := _floor(comparison):
        notes.append(say("floor", lang, floor=floor))
    if found.distance is not None:
        notes.append(say("distance", lang, distance=number(found.distance)))
    return notes


def _told(comparison: Comparison, found: HeadChange, lang: str) -> list[str]:
    if found.query is None or found.key is None or not np.any(found.largest):
        return [comparison.text(lang)]
    _, b = comparison.layer(found.layer)
    query, key = brief(token_names(b)[found.query[1]]), brief(token_names(b, read=True)[found.key[1]])
    return [
        f"{isolated(query)} → {isolated(key)}: {'+' if found.largest > 0 else '-'}{number(abs(found.largest))}.",
        comparison.text(lang),
    ]
