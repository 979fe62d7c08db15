"""Stages as plain text for other programs: Markdown tables, CSV with every digit."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

import numpy as np

from ..errors import InputError
from ..explanation.facts import scale_steps
from ..explanation.phrases import STAGE_PHRASES
from ..layer_numbers import layer_numbers
from ..trace import Reading, Trace, layers_of
from ..words import LANGS, number, shown
from .grids import Grid, grids_of, pared

__all__ = ["escaped", "n_numbers", "refuse_beyond", "refuse_too_much", "to_csv", "to_markdown"]

MOST_NUMBERS = 5_000_000  # written as text at once

CSV_HEADER = ("layer", "head", "stage", "query", "query_token", "key", "key_token", "dimension", "value")


def to_markdown(
    trace: Trace | Reading,
    stages: Iterable[str],
    queries: list[int] | None = None,
    lang: str = "en",
    head: int | None = None,
    most: tuple[int, int] | None = None,
) -> str:
    """The stages as Markdown tables, numbers rounded as on the screen (which it says).

    head : one, where a stage has several; None for all
    most : rows and columns of a table, the largest numbers of it; None for all

    Errors: ``InputError`` beyond 5 million numbers.
    """
    stages = list(stages)
    lines: list[str] = []
    layers = layers_of(trace)
    if most is None:
        refuse_too_much(layers, stages, queries, head)
    for at, one in zip(layer_numbers(trace), layers, strict=True):
        if len(layers) > 1:
            lines += [f"## Layer {at}" if lang == "en" else f"## {at}층", ""]
        for stage in stages:
            for grid in _grids(one, stage, queries, head):
                lines += _markdown_grid(one, grid if most is None else pared(grid, *most), lang)
    rounded = ("Numbers are rounded to three decimals.", "숫자는 소수점 아래 셋째 자리까지 반올림했습니다.")
    return "\n".join([*lines, rounded[LANGS.index(lang)], ""])


def refuse_too_much(
    layers: Sequence[Trace], stages: Iterable[str], queries: list[int] | None = None, head: int | None = None
) -> None:
    """Before anything is computed: tables that would fill the disk as text are refused, with what to ask for instead."""
    refuse_beyond(
        n_numbers(layers, stages, queries, head),
        "Choose a token (query=, --token), a head, a layer or another stage (--stage output), or save the record "
        'itself: trace.save("out.safetensors"), jumok attend NAME -o out.safetensors.',
        "토큰(query=, --token), 헤드, 층, 다른 단계(--stage output)를 고르거나 기록 자체를 저장하십시오: "
        'trace.save("out.safetensors"), jumok attend NAME -o out.safetensors.',
    )


def refuse_beyond(n: int, instead: str, instead_ko: str) -> None:
    """Refuse to write more numbers as text than anybody reads."""
    if n > MOST_NUMBERS:
        raise InputError(
            en=f"this would write {n:,} numbers as text, more than {MOST_NUMBERS:,}. {instead}",
            ko=f"숫자 {n:,}개를 글로 쓰게 되어 한도 {MOST_NUMBERS:,}개를 넘습니다. {instead_ko}",
        )


def n_numbers(
    layers: Sequence[Trace], stages: Iterable[str], queries: list[int] | None = None, head: int | None = None
) -> int:
    """How many numbers these stages have; projections, which no text makes longer, are not counted."""
    stages = list(stages)
    return sum(_sizes(one, queries, head).get(stage, 0) for one in layers for stage in stages)


def _sizes(trace: Trace, queries: list[int] | None, head: int | None) -> dict[str, int]:
    n, heads = trace.n_queries if queries is None else len(queries), trace.n_heads if head is None else 1
    d_value, table = int(trace.v.shape[2]), n * trace.n_keys
    of_pairs = dict.fromkeys(("scores", "scaled", "weights"), heads * table)
    of_rows = {"q": heads * n * trace.d_head, "mixed": heads * n * d_value, "output": n * trace.n_heads * d_value}
    of_keys = {"k": trace.k.size, "v": trace.v.size, "x": 0 if trace.x is None else trace.x.size}
    return of_pairs | {"allowed": table, "weighted_values": heads * table * d_value} | of_rows | of_keys


def _grids(trace: Trace, stage: str, queries: list[int] | None, head: int | None) -> list[Grid]:
    return [grid for grid in grids_of(trace, stage, queries) if head is None or grid.head in (None, head)]


def _markdown_grid(trace: Trace, grid: Grid, lang: str) -> list[str]:
    title = heading(trace, grid, lang)
    said = STAGE_PHRASES[grid.stage][1 + LANGS.index(lang)] if grid.stage in STAGE_PHRASES else ""
    header = ["", *(label(column, lang) for column in grid.columns)]
    lines = [f"### {escaped(title)}", "", *([escaped(said), ""] if said else [])]
    lines.append("| " + " | ".join(escaped(cell) for cell in header) + " |")
    lines.append("|" + "---|" + "---:|" * len(grid.columns))
    for row, cells in enumerate(cell_texts(grid)):
        lines.append("| " + " | ".join([escaped(label(grid.rows[row], lang)), *cells]) + " |")
    return [*lines, ""]


def heading(trace: Trace, grid: Grid, lang: str) -> str:
    """What a grid is called: its formula, and its head or query where there are several."""
    title = STAGE_PHRASES[grid.stage][0] if grid.stage in STAGE_PHRASES else f"W_{grid.stage[-1].upper()}"
    if grid.stage == "scaled":
        title = _scaled_title(trace)
    if grid.stage == "x" and trace.source.details.get("positions") == "sinusoidal":
        title = "X + position"
    if grid.query is not None:
        title += f" ({shown(trace.tokens[grid.query].text)})"
    if grid.head is not None:
        title += f" · head {grid.head}" if lang == "en" else f" · {grid.head}번 헤드"
    return title


def _scaled_title(trace: Trace) -> str:
    rule = trace.rule
    signs = {"root": "÷ √{}", "temperature": "÷ {}", "scale": "× {}"}
    title = " ".join(["q · k", *(signs[kind].format(number(a)) for kind, a in scale_steps(trace))])
    title = title if rule.softcap is None else f"{number(rule.softcap)} · tanh({title} ÷ {number(rule.softcap)})"
    return title if rule.bias is None else f"{title} + bias"


def label(name: str | int, lang: str) -> str:
    """The label of a row or column: a token or dimension as it can be seen, or the number of a dimension."""
    if isinstance(name, int):
        return f"dim {name + 1}" if lang == "en" else f"차원 {name + 1}"
    return shown(name)


def cell_texts(grid: Grid, yes: str = "●", no: str = "·") -> list[list[str]]:
    """The cells as texts: numbers rounded alike, so that they line up; 0 alone is exactly 0; signs for hidden cells."""
    values = np.asarray(grid.values)
    if grid.stage == "allowed":
        return [[yes if cell else no for cell in row] for row in values]
    hidden = np.zeros(values.shape, bool) if grid.hidden is None else grid.hidden
    seen = [number(a) for a in values[~hidden].tolist()]
    decimals = max((len(text.partition(".")[2]) for text in seen if "e" not in text), default=0)

    def text(value: float) -> str:
        short = number(value)
        return short if short == "0" or "e" in short else f"{value:.{decimals}f}"

    return [
        [no if is_hidden else text(float(cell)) for cell, is_hidden in zip(row, off, strict=True)]
        for row, off in zip(values, hidden, strict=True)
    ]


def escaped(text: str) -> str:
    """Text in which Markdown and HTML see no sign of their own."""
    return re.sub(r"([\\`*_\[\]<>|~&#$])", r"\\\1", text)


def to_csv(
    trace: Trace | Reading,
    stages: Iterable[str],
    queries: list[int] | None = None,
    head: int | None = None,
    layer: int | None = None,
) -> str:
    """The stages as CSV in long form, one number a line, every digit; tokens exactly as they are.

    Columns: layer, head, stage, query, query_token, key, key_token, dimension, value. Positions count from 0.

    head : one, where a stage has several; None for all;  layer : the number that a Trace goes by; None for 0

    Errors: ``InputError`` beyond 5 million numbers.
    """
    stages = list(stages)
    refuse_too_much(layers_of(trace), stages, queries, head)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_HEADER)
    numbers = layer_numbers(trace) if layer is None else (layer,)
    for at, one in zip(numbers, layers_of(trace), strict=True):
        for stage in stages:
            for grid in _grids(one, stage, queries, head):
                _csv_grid(writer, at, grid, one)
    return out.getvalue()


def _csv_grid(writer: object, layer: int, grid: Grid, trace: Trace) -> None:
    head = "" if grid.head is None else grid.head
    read = grid.stage in ("k", "v")
    for row, values in enumerate(grid.values):
        for column, value in enumerate(values):
            query: list[object] = ["", ""]
            key: list[object] = ["", ""]
            if grid.query is not None:
                query = [grid.query, trace.tokens[grid.query].text]
            if grid.row_at is not None:
                place: list[object] = [grid.row_at[row], grid.rows[row]]
                if read or grid.query is not None:
                    key = place
                else:
                    query = place
            if grid.column_at is not None:
                key = [grid.column_at[column], grid.columns[column]]
            dimension = "" if grid.column_at is not None else grid.columns[column]
            if grid.row_at is None:  # a projection: from one dimension to another
                dimension = f"{grid.rows[row]} -> {grid.columns[column]}"
            said = int(value) if grid.stage == "allowed" else repr(float(value))
            writer.writerow([layer, head, grid.stage, *query, *key, dimension, said])  # type: ignore[attr-defined]
