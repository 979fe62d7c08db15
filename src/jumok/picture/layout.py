"""Parts of a picture, set beside and below each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .svg import Node, Text, cut, wrapped
from .theme import Theme, css

__all__ = ["Panel", "apart", "beside", "flowing", "padded", "paragraph", "placed", "stacked"]

BOLD = 1.15  # how much wider bold letters are, in a wide font such as DejaVu Sans


@dataclass(frozen=True)
class Panel:
    """A part of a picture: its size, and its nodes from (0, 0) on."""

    width: float
    height: float
    nodes: tuple[Any, ...] = ()


def placed(panel: Panel, x: float, y: float) -> Node:
    """The nodes of a part, moved to a place."""
    return Node("g", {"transform": f"translate({x:g} {y:g})" if x or y else None}, panel.nodes)


def beside(panels: Sequence[Panel], gap: float = 24, middle: bool = False) -> Panel:
    """Parts in a row, aligned at the top or at their middle."""
    height = max(panel.height for panel in panels)
    nodes, x = [], 0.0
    for panel in panels:
        nodes.append(placed(panel, round(x, 1), round((height - panel.height) / 2, 1) if middle else 0))
        x += panel.width + gap
    return Panel(x - gap, height, tuple(nodes))


def stacked(panels: Sequence[Panel], gap: float = 12) -> Panel:
    """Parts one below the other, aligned at the left; empty ones take no room."""
    nodes, y = [], 0.0
    some = [panel for panel in panels if panel.height]
    for panel in some:
        nodes.append(placed(panel, 0, round(y, 1)))
        y += panel.height + gap
    return Panel(max(panel.width for panel in some), y - gap, tuple(nodes))


def flowing(panels: Sequence[Panel], room: float, gap: float = 24) -> Panel:
    """Parts in rows, as words on a page."""
    rows: list[list[Panel]] = [[]]
    for panel in panels:
        used = sum(one.width + gap for one in rows[-1])
        if rows[-1] and used + panel.width > room:
            rows.append([])
        rows[-1].append(panel)
    return stacked([beside(row, gap) for row in rows], gap)


def padded(panel: Panel, by: float) -> Panel:
    """A part with room around it."""
    return Panel(panel.width + 2 * by, panel.height + 2 * by, (placed(panel, by, by),))


def paragraph(
    text: str, room: float, theme: Theme, size: float = 11, bold: bool = False, most: int | None = None
) -> Panel:
    """A text in as many lines as it takes, or in ``most``, cut; bold ones in ink, others dimmed. Nothing for no text."""
    if not text:
        return Panel(0, 0)
    wide = size * BOLD if bold else size
    lines = wrapped(text, wide, room)
    if most is not None and len(lines) > most:
        lines = [*lines[: most - 1], cut(" ".join(lines[most - 1 : most + 1]), wide, room)]
    fill = css(theme.ink if bold else theme.dim)
    step = size * 1.4
    nodes = tuple(Text(one, 0, round(size + at * step, 1), size, fill, bold=bold) for at, one in enumerate(lines))
    return Panel(room, round(len(lines) * step, 1), nodes)


def apart(ys: Sequence[float], step: float, bottom: float) -> list[float]:
    """Where labels stand that belong at these heights (ascending): none over another, none below ``bottom``.

    >>> apart([0.0, 1.0, 99.0], 10.0, 100.0)
    [0.0, 10.0, 99.0]
    """
    placed: list[float] = []
    for y in ys:
        placed.append(max(y, placed[-1] + step if placed else y))
    return [min(y, bottom - step * (len(placed) - 1 - at)) for at, y in enumerate(placed)]
