"""All heads at once: a small map for every head of every layer, or how much each changed between two texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..layer_numbers import layer_numbers
from ..measurement.comparison import Comparison
from ..trace import Reading, Trace, layers_of
from .captions import say
from .heat import CRISP, WEIGHTS, Cells, cells_panel, image, legend
from .layout import Panel, paragraph, stacked
from .pooling import NOTHING, pooled
from .svg import Node, Text, rect, width_of
from .theme import Theme, css

__all__ = ["changed_heads", "heads_gallery"]

MOST_CELLS = 4_000  # drawn one by one, so that the file can be read; more are pixels of an image
MOST_PIXELS = 48


def heads_gallery(record: Reading | Trace, lang: str, theme: Theme) -> tuple[Panel, list[str]]:
    """A row for each layer, a column for each head."""
    layers = layers_of(record)
    side = 72.0 if max(layer.n_heads for layer in layers) <= 12 else 52.0
    numbers = layer_numbers(record)
    left = width_of(say("layer", lang, n=numbers[-1]), 10.5) + 10
    step, top = side + 8, 20.0
    n_columns = max(layer.n_heads for layer in layers)
    nodes: list[Any] = [
        Text(say("head", lang, n=head), left + head * step + side / 2, 12, 10.5, css(theme.dim), "middle")
        for head in range(n_columns)
    ]
    one_by_one = sum(layer.n_heads * layer.n_queries * layer.n_keys for layer in layers) <= MOST_CELLS
    for at, layer in enumerate(layers):
        y = top + at * step
        nodes.append(Text(say("layer", lang, n=numbers[at]), left - 6, y + side / 2 + 4, 10.5, css(theme.dim), "end"))
        for head, values in enumerate(pooled(layer, MOST_PIXELS)):
            draw = _squares if one_by_one else image
            drawn = draw(values, left + head * step, y, side, side, theme)
            nodes += drawn if isinstance(drawn, list) else [drawn]
    panel = Panel(left + n_columns * step, top + len(layers) * step, tuple(nodes))
    notes = [say("whole_head", lang), say("roots_only", lang)]
    if max(max(layer.n_queries, layer.n_keys) for layer in layers) > MOST_PIXELS:
        notes.append(say("largest_shown", lang))
    told = paragraph(" ".join(notes), max(panel.width, 380), theme)
    return stacked([panel, legend(WEIGHTS, theme, say("weight", lang)), told]), notes


def _squares(values: Any, x: float, y: float, width: float, height: float, theme: Theme) -> list[Any]:
    """A small map as rectangles; cells of nothing show the ground."""
    n_rows, n_columns = values.shape
    w, h = width / n_columns, height / n_rows
    made: list[Any] = [rect(x, y, width, height, css(theme.hidden))]
    for r, c in np.argwhere(values != NOTHING):
        made.append(rect(x + c * w, y + r * h, w, h, css(WEIGHTS.colour(float(values[r, c])))))
    return [Node("g", CRISP, tuple(made))]


def changed_heads(comparison: Comparison, lang: str, theme: Theme) -> tuple[Panel, list[str]]:
    """How far the rows of each head are apart in the two texts: a row for each layer, a column for each head."""
    n_heads = max(head.head for head in comparison.heads) + 1
    values, hidden = np.zeros((comparison.n_layers, n_heads)), np.ones((comparison.n_layers, n_heads), bool)
    for head in comparison.heads:
        hidden[head.layer, head.head] = head.distance is None
        values[head.layer, head.head] = head.distance or 0.0
    texts = [
        ["·" if off else f"{a:.2f}" for a, off in zip(row, gone, strict=True)]
        for row, gone in zip(values, hidden, strict=True)
    ]
    rows = [say("layer", lang, n=number) for number in comparison.layer_numbers]
    columns = [say("head", lang, n=at) for at in range(n_heads)]
    panel = cells_panel(Cells(rows, columns, values, texts, hidden, WEIGHTS), theme)
    told = paragraph(say("distances", lang), max(panel.width, 380), theme)
    top = comparison.heads[0]
    place = say("place", lang, layer=comparison.layer_numbers[top.layer], head=top.head)
    said = "" if top.distance is None else f"{place}: {top.distance:.3f}."
    return stacked([panel, legend(WEIGHTS, theme, say("distance_short", lang)), told]), [said]
