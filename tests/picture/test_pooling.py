"""Weights made small: the largest under each pixel, tile by tile, as the page's thumbnails have them."""

import itertools
import tracemalloc

import numpy as np
import pytest

from jumok import Trace, allowed, door
from jumok.picture.pooling import NOTHING, pooled, starts
from jumok.picture.streamed import summary


def record(n, m=None, n_heads=2, rule="causal", seed=0):
    draw = np.random.default_rng(seed)
    q, k = draw.normal(size=(n_heads, n, 3)), draw.normal(size=(1, m or n, 3))
    keys = None if m is None else [str(i) for i in range(m)]
    return Trace(tokens=[str(i) for i in range(n)], q=q, k=k, v=k, rule=rule, key_tokens=keys)


def plain(trace, most):
    rows, columns = ([*starts(n, most), n] for n in (trace.n_queries, trace.n_keys))
    seen = np.where(trace.allowed, trace.weights, NOTHING)
    return [
        [[part[a:b, c:d].max() for c, d in itertools.pairwise(columns)] for a, b in itertools.pairwise(rows)]
        for part in seen
    ]


@pytest.mark.parametrize("most", [1, 3, 7, 20, 99])
@pytest.mark.parametrize("tile_bytes", [1, 700, 2**22])
def test_each_pixel_is_the_largest_weight_under_it(monkeypatch, most, tile_bytes):
    monkeypatch.setattr(door, "TILE_BYTES", tile_bytes)
    for trace in (record(20), record(13, 20, rule=allowed.window(3)), record(1, 4, rule=None)):
        assert pooled(trace, most) == pytest.approx(np.array(plain(trace, most), np.float32))


def test_some_heads_alone():
    trace = record(9, n_heads=4)
    assert np.array_equal(pooled(trace, 4, [2, 0]), pooled(trace, 4)[[2, 0]])


def test_it_agrees_with_the_thumbnails_of_the_page():
    trace = record(40)
    assert pooled(trace, 8) == pytest.approx(summary(trace.steps, 8).thumbnail, abs=1e-6)


def test_no_table_of_all_pairs_is_made():
    trace = record(4_000, n_heads=1)
    tracemalloc.start()
    pooled(trace, 256)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4_000 * 4_000 * 8 / 2
