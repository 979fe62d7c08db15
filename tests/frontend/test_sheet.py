"""The page's editable sheet (frontend/src/engine/sheet.ts): its example files are read to the numbers that it shows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jumok
from jumok.sources.example import attended, parse
from jumok.trace import Reading, Trace

SHOWN = ["x", "q", "k", "v", "scores", "scaled", "weights", "mixed", "output"]
Report = dict[str, dict[str, Any]]

RICH = """
dimensions: [A, B, C, D]
tokens: [{p: [1, 0.5, -1, 2]}, {q: [0.1, 0, 0, 1]}, {r: [0, 3, 0, -1]}, {p: [1, 1, 1, 1]}]
layers:
  - weights: {w_q: [[1, 0, 2, 1], [0, 1, 0, -1], [1, 1, 0, 0], [0, 0.5, 0, 1]], w_k: [[1, 2], [0, 1], [1, 0], [0.3, 0]],
      w_v: [[1, 0], [0, 1], [2, 0], [0, 0]], w_o: [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
      b_q: [0.1, 0.2, 0.3, 0.4], b_k: [1, 2], b_v: [0.5, 0], b_o: [0, 0, 0, 0.25]}
    heads: 2
    kv_heads: 1
    positions: rotary
    mask: {all: [causal, {any: [{window: 1}, {document: [0, 0, 1, 1]}]}, {padding: [r]}]}
    residual: true
  - weights: {w_q: {rows: {A: {B: 2}}, otherwise: zero}, w_v: {diagonal: {A: 0}, otherwise: 1}}
    positions: {alibi: [0.5]}
    temperature: 1.3
    residual: true
  - weights: {w_q: [[1, 0], [0, 1], [0, 0], [0, 0]], w_k: [[1, 0], [0, 1], [0, 0], [0, 0]]}
    positions: sinusoidal
    scale: 0.4
focus: p#2
"""


def records() -> dict[str, Trace | Reading]:
    found = {name: attended(jumok.load(name)) for name in jumok.sources.example.names()}
    return found | {"rich": attended(parse(RICH, "rich"))}


@pytest.fixture(scope="module")
def report(node: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("sheets")
    for name, record in records().items():
        record.save(folder / f"{name}.safetensors")
    node("sheet.parity", JUMOK_SHEETS=folder)
    made: Report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert len(made) == len(records())
    return {name.removesuffix(".safetensors"): variants for name, variants in made.items()}


def numbers(trace: Trace, stage: str) -> list[Any]:
    """(head, …) as the page lists them: k and v once for each head that asks, x and output for each too."""
    a = np.asarray(trace.rows(stage) if stage in jumok.path.STAGES else getattr(trace, stage))
    if stage in ("x", "output"):
        a = np.broadcast_to(a, (trace.n_heads, *a.shape))
    return [a[head // (trace.n_heads // len(a))].ravel() for head in range(trace.n_heads)]


def assert_same(record: Trace | Reading, shown: list[dict[str, Any]]) -> None:
    traces = [record] if isinstance(record, Trace) else list(record)
    assert len(traces) == len(shown)
    for trace, layer in zip(traces, shown, strict=True):
        for stage in SHOWN:
            np.testing.assert_allclose(layer[stage], numbers(trace, stage), rtol=1e-12, atol=1e-12, err_msg=stage)


def test_an_unedited_sheet_is_the_record(report: Report) -> None:
    for name, record in records().items():
        assert_same(record, report[name]["unedited"]["layers"])


def test_example_files_are_read_to_the_numbers_that_are_shown(report: Report) -> None:
    for name, variants in report.items():
        for variant in variants.values():
            assert variant["lost"] == [], name
            example = parse(variant["yaml"], name)
            assert list(example.tokens) == variant["tokens"]
            assert_same(attended(example), variant["layers"])


def test_an_address_leads_to_the_same_sheet(report: Report) -> None:
    for variants in report.values():
        for variant in variants.values():
            assert variant["fromAddress"] == {"yaml": variant["yaml"], "layers": variant["layers"]}


def test_a_file_of_an_unedited_example_says_what_the_packaged_one_says(report: Report) -> None:
    for name in jumok.sources.example.names():
        said, expected = parse(report[name]["unedited"]["yaml"], name), jumok.load(name)
        for part in ("tokens", "dimensions", "sentence", "title", "meaning", "focus", "pair", "wanted"):
            assert getattr(said, part) == getattr(expected, part), (name, part)


def test_a_file_is_short_and_readable(report: Report) -> None:
    expected = """\
title: {en: "Who studies what, and how?", ko: "누가 무엇을 어떻게 공부하는가?"}
sentence: The student studies deep learning carefully.
dimensions: [Person, Action, Knowledge, Method]
tokens:
  - The: {}
  - student: {Person: 1}
  - studies: {Action: 1}
  - deep learning: {Knowledge: 1}
  - carefully: {Method: 1}
weights:
  w_q: {rows: {Action: {Person: 4.605, Action: 1.833, Knowledge: 6.628, Method: 4.394}}, otherwise: identity}
  w_k: identity
  w_v: {diagonal: {Knowledge: 3, Method: 2}, otherwise: 1}
wanted: {studies: {The: 0.02, student: 0.2, studies: 0.05, deep learning: 0.55, carefully: 0.18}}
focus: studies
meaning:
  Person: {en: who, ko: 누가}
  Action: {en: what is done, ko: 무엇을 하는가}
  Knowledge: {en: what is studied, ko: 무엇을 공부하는가}
  Method: {en: how, ko: 어떻게}
"""
    assert report["student"]["unedited"]["yaml"] == expected


def test_comparing_nothing_is_no_success(node: Callable[..., str], tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"sheet\.parity"):
        node("sheet.parity", JUMOK_SHEETS=tmp_path)
