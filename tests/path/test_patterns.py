"""Patterns as rules: the same made of basic rules, which a page knows, and saved ones, which any process loads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import jumok
from jumok.errors import InputError, TooLargeError
from jumok.path import patterns
from jumok.path.allowed import Allowed, causal, padding
from jumok.path.described import described
from jumok.picture.packed import pack
from test_cli import at_home as at_home
from test_cli import run

BASIC = {"everything", "causal", "window", "padding", "document", "table", "both", "either"}
PATTERNS = {
    "streaming": patterns.streaming(2, 3),
    "no sink": patterns.streaming(0, 3),
    "a sink beyond the keys": patterns.streaming(99, 1),
    "strided": patterns.strided(3),
    "a stride beyond the keys": patterns.strided(50),
    "blocks": patterns.blocks(np.tri(5, dtype=bool), 4),
    "joined": causal() & (patterns.strided(4) | padding(np.arange(17) % 2 == 0)),
    "with a cache": patterns.streaming(2, 3, offset=6) | patterns.strided(4, offset=6),
}


def kinds(plain: object) -> set[str]:
    if not isinstance(plain, dict):
        return set()
    own = {plain["kind"]} if "kind" in plain else set()
    return own.union(*map(kinds, plain.values()))


@pytest.mark.parametrize("name", PATTERNS)
def test_of_basic_rules_it_says_the_same_of_every_pair(name: str) -> None:
    rule, (n, m) = PATTERNS[name], (11, 17) if name == "with a cache" else (17, 17)
    basic = rule.basic(n, m)
    assert kinds(described(basic, {})) <= BASIC
    at, keys = np.arange(n), np.arange(m)
    np.testing.assert_array_equal(basic.block(at, keys), rule.block(at, keys))


def test_a_basic_rule_stays_the_same_object() -> None:
    rule = causal() & padding([True, False])
    assert rule.basic(2, 2) is rule


def test_a_large_table_of_blocks_is_refused() -> None:
    rule = patterns.blocks([[True]], 10_000)
    with pytest.raises(TooLargeError, match="10,000 × 10,000, and at most 16,777,216 cells") as refused:
        rule.basic(10_000, 10_000)
    assert "칸은 16,777,216개까지" in refused.value.ko


def trace_of(rule: Allowed) -> jumok.Trace:
    draw = np.random.default_rng(0)
    q, k, v = (draw.standard_normal((2, 17, 4)) for _ in range(3))
    return jumok.attend(q=q, k=k, v=v, tokens=[f"t{at}" for at in range(17)], rule=rule)


def test_a_saved_pattern_is_loaded_by_a_fresh_process(tmp_path: Path) -> None:
    whole = [(name, trace_of(rule)) for name, rule in PATTERNS.items() if name != "with a cache"]
    for name, trace in whole:
        trace.save(tmp_path / f"{name}.safetensors")
    program = "import sys, jumok\nfor path in sys.argv[1:]:\n    trace = jumok.load(path)\n    print(float(trace.mixed.sum()))\n"
    paths = [str(tmp_path / f"{name}.safetensors") for name, _ in whole]
    done = subprocess.run([sys.executable, "-c", program, *paths], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert list(map(float, done.stdout.split())) == [float(trace.mixed.sum()) for _, trace in whole]


@pytest.mark.parametrize("name", [name for name in PATTERNS if name != "with a cache"])
def test_the_page_is_given_rules_that_it_knows(name: str) -> None:
    trace = trace_of(PATTERNS[name])
    record = json.loads(json.loads(pack(trace).header)["__metadata__"]["record"])
    assert kinds(record["layers"][0]["rule"]) <= BASIC | {"rule"}
    assert trace.rule.allowed is PATTERNS[name]


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_pictures_and_sentences_of_a_pattern(lang: str, tmp_path: Path) -> None:
    trace = trace_of(PATTERNS["streaming"])
    for kind in ("heat", "arrows", "arcs", "strip", "heads"):
        assert jumok.draw(trace, kind, lang=lang).svg()
    assert jumok.explain(trace, 9, lang).text()
    jumok.draw(trace, lang=lang).save(tmp_path / "a.html")
    trace.save(tmp_path / "a.safetensors")
    for command in (["attend"], ["explain", "--variant", "flash"]):
        assert run(command[0], tmp_path / "a.safetensors", *command[1:], "--lang", lang).text


def test_more_blocks_than_may_be_held_are_refused_before_anything_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns.BigBird, "rows", None)
    with pytest.raises(
        TooLargeError, match=r"15,625,000 × 15,625,000 blocks, 244,140\.6 GB, and at most 0\.3 GB"
    ) as refused:
        patterns.big_bird(10**9)
    assert refused.value.bytes_needed == 15_625_000**2
    assert "244,140.6 GB가 필요한데" in refused.value.ko


@pytest.mark.parametrize("sizes", [(40, 4, 3, 1, 2, 1), (37, 5, 1, 0, 1, 5), (10, 4), (100, 3, 5, 2, 3), (9, 2, 3, 99)])
def test_big_bird_row_by_row_is_its_table(sizes: tuple[int, ...]) -> None:
    rows, whole = patterns.BigBird(*sizes), patterns.big_bird(*sizes)
    n = rows.n_tokens
    one, other = ([(list(q), list(k)) for q, k in of.tiles(n, n, 3)] for of in (rows, whole))
    assert one == other
    table, at = rows.table(), np.arange(rows.n_blocks)
    near = np.abs(at[:, None] - at) <= rows.n_window // 2
    near[: rows.n_global] = near[:, : rows.n_global] = True
    assert table[near].all()
    assert table.sum(1).tolist() == np.minimum(len(at), near.sum(1) + rows.n_random).tolist()


def test_tab_shows_what_is_offered_and_nothing_else() -> None:
    for module in (patterns, jumok.allowed):
        assert dir(module) == sorted(module.__all__)


def test_top_k_as_a_rule_is_refused_with_the_place_where_it_belongs() -> None:
    with pytest.raises(
        InputError, match=r"Give it to sparse: jumok\.variants\.sparse\(q, k, v, pattern=top_k"
    ) as refused:
        jumok.Rule(allowed=patterns.top_k(2))
    assert "sparse에 주십시오" in refused.value.ko
