"""Sparse attention: each pattern against full attention under the same rule, and how little of the table it looks at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from cases import drawn
from jumok import Rule, allowed, variants
from jumok.errors import InputError, ShapeError
from jumok.variants import patterns
from jumok.variants.asked import Asked
from libraries import Library

N = 41
PATTERNS = {
    "BigBird": patterns.big_bird(N, size=4, n_window=3, n_global=1, n_random=2),
    "BigBird, no global": patterns.big_bird(N, size=5, n_window=1, n_global=0, n_random=1, seed=5),
    "strided": patterns.strided(6),
    "strided by 1": patterns.strided(1),
    "strided beyond": patterns.strided(100),
    "sink and window": patterns.streaming(n_sink=4, n_back=5),
    "no sink": patterns.streaming(n_sink=0, n_back=3),
    "blocks, some rows nothing": patterns.blocks(drawn(6, 6) > 0.8, 7),
    "a table": allowed.table(drawn(N, N) > 1.2),
    "documents": allowed.document([0] * 10 + [1] * 20 + [0] * 11),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_every_pattern_is_full_attention_under_that_rule(name: str, library: Library) -> None:
    if library.compiles and name != "strided by 1":
        return  # what differs by library is in all of them
    numbers = [drawn(*shape, seed=1) for shape in ((4, N, 8), (2, N, 8), (2, N, 6))]
    arrays = [library.array(array) for array in numbers]
    rules = [Rule(0.5, allowed.causal(), 2.0, sink=drawn(4)), Rule()]
    for rule in rules[: 1 if library.compiles else 2]:
        tile = N if library.compiles else 8  # each shape is compiled for itself
        got = library.numpy(variants.sparse(*arrays, rule, pattern=PATTERNS[name], tile=tile))
        wanted = variants.full(*numbers, Rule(rule.scale, rule.allowed & PATTERNS[name], rule.softcap, sink=rule.sink))
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("pattern", [patterns.strided(4, offset=30), patterns.streaming(3, 4, offset=30)], ids=str)
def test_a_pattern_with_a_cache(pattern: Any) -> None:
    q, k, v = (drawn(2, n, 4, seed=n) for n in (11, N, N))
    np.testing.assert_allclose(
        variants.sparse(q, k, v, pattern, tile=3), variants.full(q, k, v, pattern), rtol=1e-12, atol=1e-13
    )


@pytest.mark.parametrize("name", ["BigBird", "strided", "sink and window"])
def test_only_a_part_of_the_table_is_looked_at(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs, tile = [], Asked.tile

    def counted(self: Any, queries: Any, keys: Any, allowed: Any = None) -> Any:
        pairs.append(len(queries) * len(keys))
        return tile(self, queries, keys, allowed)

    monkeypatch.setattr(Asked, "tile", counted)
    n = 400
    pattern = {"BigBird": patterns.big_bird(n, size=10), "strided": patterns.strided(20)}.get(name, PATTERNS[name])
    q, k, v = (drawn(1, n, 4, seed=at) for at in range(3))
    variants.sparse(q, k, v, pattern, tile=10)
    read = pattern.block(np.arange(n), np.arange(n)).sum()
    assert read <= sum(pairs) <= 2.5 * read


def test_a_pattern_says_what_its_paper_says() -> None:
    at = np.arange(40)
    table = patterns.big_bird(40, size=4, n_window=3, n_global=1, n_random=2, seed=1).block(at, at)
    by_block = table.reshape(10, 4, 10, 4).transpose(0, 2, 1, 3)
    assert (by_block.all((2, 3)) == by_block.any((2, 3))).all()
    rows = by_block.all((2, 3))
    assert rows[0].all()
    assert rows[:, 0].all()
    assert all(rows[b, b - 1 : b + 2].all() for b in range(1, 9))
    assert rows[2:9].sum(1).tolist() == [6] * 7  # three neighbours, one global, two random
    again = patterns.big_bird(40, size=4, n_window=3, n_global=1, n_random=2, seed=1)
    other = patterns.big_bird(40, size=4, n_window=3, n_global=1, n_random=2, seed=2)
    assert (again.block(at, at) == table).all()
    assert not (other.block(at, at) == table).all()
    far = patterns.strided(6).block(at, at)[39]
    assert np.flatnonzero(far).tolist() == [3, 9, 15, 21, 27, *range(33, 40)]


@pytest.mark.parametrize("n_kept", [1, 3, 100])
def test_top_k_keeps_the_best_keys_of_each_head_and_query(n_kept: int, library: Library) -> None:
    if library.compiles and n_kept != 3:
        return
    numbers = [drawn(*shape, seed=2) for shape in ((4, 9, 8), (2, 13, 8), (2, 13, 6))]
    tile = 9 if library.compiles else 4
    got = library.numpy(
        variants.sparse(*map(library.array, numbers), "causal", pattern=patterns.top_k(n_kept), tile=tile)
    )
    q, k, v = numbers
    for head in range(4):
        scores = np.where(np.tri(9, 13, dtype=bool), q[head] @ k[head // 2].T, -np.inf)
        best = np.argsort(-scores, axis=-1)[:, :n_kept]
        table = np.zeros((9, 13), bool)
        np.put_along_axis(table, best, True, -1)
        one = q[head : head + 1], k[head // 2][None], v[head // 2][None]
        wanted = variants.full(*one, allowed.causal() & allowed.table(table))
        np.testing.assert_allclose(got[head], wanted[0], rtol=1e-12, atol=1e-13)


def test_its_gradient_is_that_of_full_attention() -> None:
    def gradients(variant: Any) -> Any:
        arrays = [torch.from_numpy(drawn(2, N, 4, seed=at)).requires_grad_() for at in range(3)]
        return torch.autograd.grad(variant(*arrays, patterns.strided(5)).square().sum(), arrays)

    for got, wanted in zip(gradients(variants.sparse), gradients(variants.full), strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-11, atol=1e-12)


ONE = np.ones((1, 3, 2))
REFUSED = {
    "no pattern": (lambda: variants.sparse(ONE, ONE, ONE, pattern="bigbird"), "pattern expects one of", "pattern에는"),
    "flex on NumPy": (
        lambda: variants.sparse(ONE, ONE, ONE, flex=True),
        "FlexAttention, for PyTorch",
        "flex=True는 PyTorch",
    ),
    "flex 1": (lambda: variants.sparse(ONE, ONE, ONE, flex=1), "flex expects True or False", "flex에는"),
    "an even window": (lambda: patterns.big_bird(9, n_window=2), "n_window expects an odd number", "n_window에는 홀수"),
    "no stride": (lambda: patterns.strided(0), "stride expects a whole number, 1 or more, got 0", "stride에는 1 이상"),
    "a sink below 0": (lambda: patterns.streaming(-1, 2), "n_sink expects a whole number of tokens", "n_sink에는"),
    "none kept": (lambda: patterns.top_k(0), "n_kept expects a whole number, 1 or more", "n_kept에는 1 이상"),
    "a flat table": (
        lambda: patterns.blocks([True], 2),
        "blocks\\(table\\) expects \\(block of queries",
        "blocks\\(table\\)에는",
    ),
    "a random seed": (
        lambda: patterns.big_bird(9, seed=-1),
        "seed expects a whole number, 0 or more",
        "seed에는 0 이상",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_pattern_is_refused(name: str) -> None:
    make, en, ko = REFUSED[name]
    with pytest.raises(InputError, match=en) as told:
        make()
    assert ko.replace("\\", "") in told.value.ko


def test_a_pattern_made_for_another_length_is_refused() -> None:
    q, k, v = (drawn(1, 90, 4, seed=at) for at in range(3))
    with pytest.raises(ShapeError, match="blocks"):
        variants.sparse(q, k, v, patterns.big_bird(40, size=4))
