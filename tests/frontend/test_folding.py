"""Flash attention in the page (frontend/src/engine/folding.ts): every fold of every row, and its sentences, are Python's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jumok
from jumok.explanation.variants import PHRASES, explain_flash
from jumok.path.allowed import causal, padding, table, window
from jumok.path.positions import alibi
from jumok.trace import Trace
from jumok.variants.steps import Fold, few_tiles, flash_steps

REAL = np.array([False, True, True, False, True, True, False])
HOSTILE = ["</script>", "\u202eabc", "👩‍👩‍👧", "은행", "it", "", "a|b"]


def record(n: int = 7, heads: int = 2, kv_heads: int = 2, **more: Any) -> Trace:
    draw = np.random.default_rng(n)
    q, k, v = (draw.standard_normal((of, n, width)) * 2 for of, width in ((heads, 4), (kv_heads, 4), (kv_heads, 3)))
    tokens = HOSTILE if n == 7 else [f"t{at}" for at in range(n)]
    return Trace(**{"tokens": tokens, "q": q, "k": k, "v": v, **more})


RECORDS: dict[str, Trace] = {
    "plain": record(),
    "causal, heads share": record(heads=4, kv_heads=2, rule="causal"),
    "a window and padding": record(rule=window(2) & padding(REAL)),
    "nothing is read in some rows": record(rule=table(np.tri(7, k=-3, dtype=bool))),
    "sink, cap, bias": record(rule=jumok.Rule(0.4, causal(), 3.0, alibi([0.5, 0.1]), sink=np.array([0.5, -1.0]))),
    "many keys": record(40, 1, 1),
    "one token": record(1, 1, 1),
}


def row_of(trace: Trace, head: int, query: int, tile: int) -> dict[str, Any]:
    steps = flash_steps(trace.q, trace.k, trace.v, trace.rule, query=query, head=head, tile=tile)
    said = explain_flash(trace, query, head=head, tile=tile)
    return {
        "head": head,
        "query": query,
        "tile": tile,
        "folds": [_fold(fold) for fold in steps.folds],
        "mixed": steps.mixed,
        "lse": steps.lse,
        "said": {lang: said.text(lang).splitlines() for lang in ("en", "ko")},
    }


def _fold(fold: Fold) -> dict[str, Any]:
    numbers = [fold.rescale, fold.added, fold.total, *fold.scores, *fold.mixed]
    return {"tops": [fold.top_before, fold.top], "read": fold.read, "numbers": numbers}


@pytest.fixture(scope="module")
def compared(node: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder: Path = tmp_path_factory.mktemp("folds")
    cases = []
    for name, trace in RECORDS.items():
        file = f"{len(cases)}.safetensors"
        trace.save(folder / file)
        queries = range(0, trace.n_queries, 1 if trace.n_queries < 10 else 13)
        asked = [(head, query, tile) for head in range(trace.n_heads) for query in queries for tile in (1, 2, 9, 99)]
        rows = [row_of(trace, *each) for each in asked]
        cases.append({"name": name, "file": file, "tile": few_tiles(trace.n_keys), "rows": rows})
    (folder / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    node("folding.parity", JUMOK_FOLDS=folder)
    return json.loads((folder / "results.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", RECORDS)
def test_every_fold_is_that_of_python(compared: dict[str, Any], name: str) -> None:
    assert compared[name]["numbers"] > 10
    assert compared[name]["worst"] <= 1e-12


def test_every_sentence_of_flash_is_compared() -> None:
    kinds = set()
    for trace in RECORDS.values():
        for query in range(trace.n_queries):
            for fact in (fact for tile in (1, 9) for fact in explain_flash(trace, query, tile=tile).facts):
                kinds |= {fact.kind} | ({"flash.many_keys"} if "n_keys" in fact.data else {"flash.few_keys"})
    assert kinds == {kind for kind in PHRASES if kind.startswith("flash.")}
