"""A first look at heads: places and arrows against whole tables, at any tile size."""

import numpy as np
import pytest

import jumok
from jumok.measurement.first_look import arrows, head_looks, some_queries
from jumok.trace import Reading, Trace


def layer(n=7, n_heads=3, seed=0, rule=None, **more):
    rng = np.random.default_rng(seed)
    q, k, v = (rng.normal(size=(n_heads, n, 4)) * 2 for _ in range(3))
    return Trace(tokens=[f"t{at}" for at in range(n)], q=q, k=k, v=v, rule=rule or jumok.Rule(), **more)


@pytest.fixture(params=[None, 300])
def reading(request, monkeypatch):
    if request.param:
        monkeypatch.setattr("jumok.door.TILE_BYTES", request.param)
    return Reading((layer(seed=1), layer(seed=2, rule=jumok.Rule.of("causal"))))


def test_places_are_those_of_the_whole_table(reading):
    looks = head_looks(reading)
    assert [(look.layer, look.head) for look in looks] == [(at, head) for at in range(2) for head in range(3)]
    for look in looks:
        weights = reading[look.layer].weights[look.head]
        rest = weights[:, 1:].sum()
        assert look.first == pytest.approx(weights[:, 0].mean())
        assert look.itself == pytest.approx(np.trace(weights[1:, 1:]) / rest)
        assert look.previous == pytest.approx(np.trace(weights[2:, 1:-1]) / rest)
        assert look.next == pytest.approx(np.trace(weights[:-1, 1:]) / rest)


def test_nothing_but_the_first_token_leaves_no_shares():
    one = Trace(tokens=["a"], q=[[[1.0]]], k=[[[1.0]]], v=[[[1.0]]])
    assert [(look.first, look.itself, look.previous, look.next) for look in head_looks(one)] == [(1.0, 0.0, 0.0, 0.0)]


def test_cross_attention_has_no_places():
    assert head_looks(layer(key_tokens=[f"k{at}" for at in range(7)])) == ()


def test_arrows_are_the_largest_weights(reading):
    everything = sorted(
        (-w, at, *place) for at, one in enumerate(reading) for place, w in np.ndenumerate(one.weights) if w > 0
    )
    found = arrows(reading, 9)
    assert [(-a.weight, a.layer, a.head, a.query, a.key) for a in found] == everything[:9]


def test_arrows_of_one_head_without_some_tokens(reading):
    found = arrows(reading, 5, layer=1, head=2, apart={0, 3}, near=False)
    assert all((a.layer, a.head) == (1, 2) for a in found)
    assert not {0, 3} & {place for a in found for place in (a.query, a.key)}
    assert all(abs(a.query - a.key) > 1 for a in found)
    table = reading[1].weights[2].copy()
    table[[0, 3]] = table[:, [0, 3]] = 0
    table[np.abs(np.subtract.outer(np.arange(7), np.arange(7))) <= 1] = 0
    assert [a.weight for a in found] == pytest.approx(np.sort(table.ravel())[::-1][:5])


def test_of_a_long_text_rows_that_are_spread_evenly_are_looked_at():
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, 2, 50, 3))
    long = jumok.Trace(tokens=[str(at) for at in range(50)], q=q, k=k, v=v)
    some = some_queries(long, most=2 * 50 * 10)
    assert (len(some), some[0], some[-1]) == (10, 0, 49)
    assert set(np.diff(some)) == {5, 6}
    assert some_queries(long, most=2 * 50 * 50) is None
    assert some_queries(long, most=1) == [0, 49]
    assert some_queries(jumok.Reading([])) is None


def test_rows_that_are_not_looked_at_do_not_count():
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, 2, 50, 3))
    long = jumok.Trace(tokens=[str(at) for at in range(50)], q=q, k=k, v=v)
    some = [3, 40]
    weights = long.weights[:, some]
    for look in head_looks(long, some):
        assert look.first == pytest.approx(weights[look.head, :, 0].mean())
    found = arrows(long, n=3, queries=some, apart={3})
    assert {arrow.query for arrow in found} == {40}
    assert found[0].weight == pytest.approx(np.delete(weights[:, 1], 3, axis=1).max())
    assert found[0].weight == pytest.approx(long.weights[found[0].head, 40, found[0].key])
