"""The heat map in a matplotlib Axes, for those who lay out their figures with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..trace import Trace
from .captions import say
from .fonts import font_file, visible
from .heat import Cells, shown_cells
from .svg import cut
from .theme import THEMES, css, ink_on

__all__ = ["heat_into"]

LONGEST_NAME = 170.0


def heat_into(ax: Any, trace: Trace, stage: str, head: int, query: int | None, lang: str) -> None:
    """Draw a stage of one head into an Axes: colours, names on both axes, numbers where they fit.

    Names in ASCII keep the figure's own font; others take the font that jumok declares, with codes for what
    it lacks, so that matplotlib has a glyph for every letter.

    Errors: ``MissingExtra`` where names need the extra ``picture``.
    """
    cells, _ = shown_cells(trace, stage, head, query, lang)
    ax.imshow(_pixels(cells), aspect="auto", interpolation="nearest")
    _name_ticks(ax.xaxis, cells.columns)
    _name_ticks(ax.yaxis, cells.rows)
    if any(len(name) > 4 for name in cells.columns):
        for label in ax.get_xticklabels():
            label.set(rotation=40, ha="right", rotation_mode="anchor")
    if cells.corner:
        _say(ax.set_xlabel(say("key", lang)))
        _say(ax.set_ylabel(say("query", lang)))
    for r, row in enumerate(cells.texts or ()):
        for c, text in enumerate(row):
            ink = css(ink_on(cells.colour(r, c, THEMES["light"])))
            ax.text(c, r, text, ha="center", va="center", color=ink, fontsize="small")


def _pixels(cells: Cells) -> Any:
    """(row, column, 3) the colours themselves, so that they are the same as in every other picture."""
    colours = [[cells.colour(r, c, THEMES["light"]) for c in range(len(cells.columns))] for r in range(len(cells.rows))]
    return np.array(colours, np.uint8)


def _name_ticks(axis: Any, names: Any) -> None:
    short = [cut(name, 11, LONGEST_NAME) for name in names]
    axis.set_ticks(range(len(short)), labels=[_drawable(name) for name in short])
    for label in axis.get_ticklabels():
        _say(label)


def _drawable(text: str) -> str:
    text = text if text.isascii() else visible(text)
    return text.replace("$", r"\$")  # which would begin a formula


def _say(label: Any) -> None:
    """Let a text that is not ASCII take the declared font."""
    if label.get_text().isascii():
        return
    from matplotlib.font_manager import FontProperties  # whoever gives an Axes has it

    size = label.get_fontsize()
    label.set_fontproperties(FontProperties(fname=str(font_file())))
    label.set_fontsize(size)
