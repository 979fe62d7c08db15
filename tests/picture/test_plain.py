"""Markdown and CSV: every stage, exact numbers, tokens that stay inside their cell."""

import csv
import io
import re

import numpy as np
import pytest

import jumok
from jumok.errors import UnknownName
from jumok.picture.grids import SHOWN, grids_of, pared
from jumok.picture.plain import CSV_HEADER, cell_texts, escaped, n_numbers, to_csv, to_markdown

ODD = ["a|b", "</script>", 'quo"te', "line\nbreak", "", "*bold*", "한글", "👩\u200d👧", "=1+1", "`code`", "$x$", "\\"]


def odd_trace() -> jumok.Trace:
    x = np.eye(len(ODD))
    return jumok.attend(x=x, w_q=x, w_k=x, w_v=x, tokens=ODD, dimensions=[f"d{i}" for i in range(len(ODD))])


def test_csv_holds_every_digit_and_every_token() -> None:
    trace = odd_trace()
    rows = list(csv.DictReader(io.StringIO(to_csv(trace, ["weights", "allowed", "output", "k", "w_q"]))))
    assert tuple(rows[0]) == CSV_HEADER
    weights = [row for row in rows if row["stage"] == "weights"]
    assert len(weights) == len(ODD) ** 2
    for row in weights:
        query, key = int(row["query"]), int(row["key"])
        assert (row["query_token"], row["key_token"]) == (ODD[query], ODD[key])
        assert float(row["value"]) == trace.weights[0, query, key]
    assert {row["value"] for row in rows if row["stage"] == "allowed"} == {"1"}
    assert all(row["query"] == "" and row["key"] != "" for row in rows if row["stage"] == "k")
    assert rows[-1]["dimension"] == "d11 -> d11"


def test_csv_of_several_layers_and_heads() -> None:
    reading = jumok.attend(jumok.load("it-tired"))
    rows = list(csv.DictReader(io.StringIO(to_csv(reading, ["weights"]))))
    assert {row["layer"] for row in rows} == {"0", "1"}
    trace = jumok.attend(x=np.eye(4), w_q=np.eye(4), w_k=np.eye(4), w_v=np.eye(4), n_heads=2)
    rows = list(csv.DictReader(io.StringIO(to_csv(trace, ["weights", "mixed"]))))
    assert {row["head"] for row in rows} == {"0", "1"}


def test_csv_of_weighted_values_names_query_and_key() -> None:
    trace = jumok.attend(jumok.load("student"))
    rows = list(csv.DictReader(io.StringIO(to_csv(trace, ["weighted_values"], [2]))))
    assert {row["query_token"] for row in rows} == {"studies"}
    found = {(row["key_token"], row["dimension"]): float(row["value"]) for row in rows}
    assert found["deep learning", "Knowledge"] == pytest.approx(1.649939, abs=5e-7)


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_markdown_keeps_odd_tokens_inside_their_cells(lang: str) -> None:
    text = to_markdown(odd_trace(), ["weights"], lang=lang)
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert len(tables) == len(ODD) + 2
    for line in tables:
        assert len(re.findall(r"(?<!\\)\|", line)) == len(ODD) + 2
        assert not re.search(r"(?<!\\)[<>`*$]", line)


def test_markdown_says_that_numbers_are_rounded() -> None:
    assert "rounded" in to_markdown(odd_trace(), ["weights"])
    assert "반올림" in to_markdown(odd_trace(), ["weights"], lang="ko")


def test_escaped() -> None:
    assert escaped("a|b<c>\\") == "a\\|b\\<c\\>\\\\"


def test_cells_line_up_and_zero_is_exactly_zero() -> None:
    (grid,) = grids_of(jumok.attend(jumok.load("student")), "scores")
    assert cell_texts(grid)[2] == ["0", "4.605", "1.833", "6.628", "4.394"]
    (grid,) = grids_of(jumok.attend(jumok.load("student")), "v")
    assert cell_texts(grid)[3] == ["0", "0", "3", "0"]


@pytest.mark.parametrize("stage", SHOWN)
def test_every_stage_has_grids(stage: str) -> None:
    trace = jumok.attend(jumok.load("student"))
    grids = grids_of(trace, stage)
    assert grids or stage == "w_o"
    for grid in grids:
        assert np.shape(grid.values) == (len(grid.rows), len(grid.columns))


def test_an_unknown_stage_is_refused() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'weights'"):
        grids_of(jumok.attend(jumok.load("student")), "weihgts")


def test_a_pared_grid_keeps_the_largest_numbers_in_their_order() -> None:
    x = np.eye(6)
    trace = jumok.attend(x=x, w_q=np.diag([1.0, 9, 2, 3, 8, 1]), w_k=x, w_v=x, tokens=list("abcdef"))
    (grid,) = grids_of(trace, "weights")
    small = pared(grid, 2, 3, focus=0)
    assert small.rows == ["a", "b"]
    assert small.columns == ["a", "b", "e"]
    assert small.row_at == [0, 1]
    assert small.column_at == [0, 1, 4]
    assert np.array_equal(small.values, trace.weights[0][np.ix_([0, 1], [0, 1, 4])])
    assert pared(grid, 6, 6) is grid


@pytest.mark.parametrize("head", [None, 1])
@pytest.mark.parametrize("queries", [None, [0, 2]])
@pytest.mark.parametrize("stage", [stage for stage in SHOWN if stage[:2] != "w_"])
def test_numbers_are_counted_before_they_are_written(stage: str, queries: list[int] | None, head: int | None) -> None:
    draw = np.random.default_rng(0)
    x = draw.normal(size=(5, 3))
    projections = {name: draw.normal(size=(3, 8 if name == "w_q" else 4)) for name in ("w_q", "w_k", "w_v")}
    trace = jumok.attend(x=x, **projections, n_heads=4, n_kv_heads=2)
    written = len(to_csv(trace, [stage], queries, head).splitlines()) - 1
    counted = n_numbers([trace], [stage], queries, head)
    assert written == counted or (stage in ("x", "k", "v") and written < counted), "a part of these is counted whole"
