"""The summaries of every head against the whole table of weights, which they never make."""

import tracemalloc

import numpy as np
import pytest

from jumok import Rule, Trace, allowed, positions
from jumok.errors import InputError
from jumok.measurement import summaries as module
from jumok.measurement.summaries import summaries
from jumok.trace import Reading

RULES = {
    "everything": (Rule(), 37),
    "causal": (Rule(allowed="causal"), 37),
    "window": (Rule(allowed=allowed.causal() & allowed.window(3)), 37),
    "padding": (Rule(allowed=allowed.padding(np.arange(37) < 30)), 37),
    "cross": (Rule(), 50),
    "all at once": (
        Rule(allowed="causal", softcap=2.0, bias=positions.alibi([0.1, 0.2, 0.3, 0.4]), sink=[0.1, 2.0, -1.0, 0.0]),
        37,
    ),
    "some read nothing": (Rule(allowed=allowed.table(np.tril(np.ones((37, 37), dtype=bool), -2))), 37),
}


def trace_of(rule, n_keys, n=37, n_heads=4, n_kv_heads=2, dtype=np.float64):
    draw = np.random.default_rng(0).standard_normal
    return Trace(
        tokens=[str(i) for i in range(n)],
        q=draw((n_heads, n, 8)).astype(dtype),
        k=draw((n_kv_heads, n_keys, 8)).astype(dtype),
        v=draw((n_kv_heads, n_keys, 8)).astype(dtype),
        rule=rule,
        key_tokens=None if n == n_keys else [str(i) for i in range(n_keys)],
    )


def from_the_whole_table(trace):
    """(head,) each number, from all weights at once."""
    weights, may = trace.weights, trace.allowed.any(axis=1)
    far = np.abs(np.arange(trace.n_queries)[:, None] - np.arange(trace.n_keys))
    entropy = -np.sum(weights * np.log(np.where(weights > 0, weights, 1)), axis=-1)
    later = [i for i in range(1, trace.n_queries) if may[i]]
    return {
        "entropy": entropy[:, may].mean(axis=1),
        "first": weights[:, may, 0].mean(axis=1),
        "previous": weights[:, later, [i - 1 for i in later]].mean(axis=1),
        "distance": (weights * far).sum(axis=-1)[:, may].mean(axis=1),
    }


@pytest.mark.parametrize("tile", [1, 300, 2**17])
@pytest.mark.parametrize("name", RULES)
def test_the_numbers_are_those_of_the_whole_table(name, tile, monkeypatch):
    monkeypatch.setattr(module, "TILE_NUMBERS", tile)
    trace = trace_of(*RULES[name])
    found = summaries(trace)
    for number, expected in from_the_whole_table(trace).items():
        np.testing.assert_allclose(getattr(found, number)[0], expected, atol=1e-12, err_msg=number)


@pytest.mark.parametrize("name", ["causal", "all at once"])
def test_half_precision_is_read_as_single(name):
    half = trace_of(*RULES[name], dtype=np.float16)
    found = summaries(half, top=3)
    assert found.top_weights[0].dtype == np.float32
    for number, expected in from_the_whole_table(half).items():
        np.testing.assert_allclose(getattr(found, number)[0], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", RULES)
def test_the_largest_weights_of_each_row_are_kept_in_order(name):
    trace = trace_of(*RULES[name])
    found = summaries(trace, top=5)
    expected = -np.sort(-trace.weights, axis=-1)[..., :5]
    np.testing.assert_allclose(found.top_weights[0], expected, atol=1e-12)
    there = np.take_along_axis(trace.weights, found.top[0].astype(int), axis=-1)
    np.testing.assert_allclose(there, expected, atol=1e-12)


def test_layers_with_different_numbers_of_heads_stand_side_by_side():
    reading = Reading((trace_of(Rule(), 37), trace_of(Rule(), 37, n_heads=2)))
    assert np.isnan(summaries(reading).entropy[1]).tolist() == [False, False, True, True]


def test_memory_does_not_grow_with_the_square_of_the_length():
    def peak(n):
        trace = trace_of(Rule(allowed="causal"), n, n, n_heads=1, n_kv_heads=1, dtype=np.float32)
        tracemalloc.start()
        summaries(trace)
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    assert peak(8192) < 4 * peak(2048)  # 16 times, if it did


@pytest.mark.parametrize(("record", "top", "text"), [
    (Reading(()), 0, "no layers"),
    (trace_of(Rule(), 37), -1, "from 0 to 64|expects 0 to 64"),
    (trace_of(Rule(), 37), True, "expects 0 to 64"),
])  # fmt: skip
def test_what_cannot_be_summarised_is_refused(record, top, text):
    with pytest.raises(InputError, match=text):
        summaries(record, top)
