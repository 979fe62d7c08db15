"""A table that a program supplies and the rule that is recognised in it say the same, whatever the table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jumok.path import allowed, positions
from jumok.sources.capture.rules import recognise_allowed, recognise_bias

N, M = 6, 9


def table_of(rule, n=N, m=N):
    return np.asarray(rule.block(np.arange(n), np.arange(m)))


IDS = np.array([0, 0, 1, 1, 1, 2])
KNOWN = {
    "everything": (allowed.everything(), N, N),
    "causal": (allowed.causal(), N, N),
    "causal, after a cache": (allowed.causal(M - N), N, M),
    "causal, aligned to the first key": (allowed.causal(), N, M),
    "window": (allowed.window(2, 1), N, N),
    "window, causal": (allowed.window(2), N, N),
    "window, after a cache": (allowed.window(2, 0, M - N), N, M),
    "document": (allowed.document(IDS), N, N),
    "document, causal": (allowed.document(IDS) & allowed.causal(), N, N),
}


@pytest.mark.parametrize("name", KNOWN)
def test_a_rule_is_recognised(name):
    rule, n, m = KNOWN[name]
    found = recognise_allowed(table_of(rule, n, m))
    assert found.kind == name.partition(",")[0]
    np.testing.assert_array_equal(table_of(found.rule, n, m), table_of(rule, n, m))
    assert found.held_bytes <= 8 * m


def test_nothing_said_is_everything():
    assert recognise_allowed(None).kind == "everything"


def test_what_has_no_rule_is_kept():
    table = table_of(allowed.causal())
    table[4, 2] = False
    found = recognise_allowed(table)
    assert (found.kind, found.held_bytes) == ("table", N * N)
    np.testing.assert_array_equal(table_of(found.rule), table)


tables = st.tuples(st.integers(1, 5), st.integers(1, 6)).flatmap(
    lambda size: st.lists(st.booleans(), min_size=size[0] * size[1], max_size=size[0] * size[1]).map(
        lambda cells: np.array(cells).reshape(size)
    )
)


@given(tables)
def test_the_rule_says_what_the_table_says(table):
    found = recognise_allowed(table)
    np.testing.assert_array_equal(table_of(found.rule, *table.shape), table)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=6), st.booleans())
def test_documents_in_any_order(ids, causal):
    rule = allowed.document(np.array(ids))
    table = table_of(rule & allowed.causal() if causal else rule, len(ids), len(ids))
    found = recognise_allowed(table)
    np.testing.assert_array_equal(table_of(found.rule, *table.shape), table)


# biases ------------------------------------------------------------------------------------------------

SLOPES = positions.alibi_slopes(4)
CAUSAL = table_of(allowed.causal())


def bias_of(rule, n=N, m=N):
    return np.asarray(rule.block(np.arange(n), np.arange(m)))


BIASES = {
    "alibi": (positions.alibi(SLOPES), None, N, N),
    "alibi, causal": (positions.alibi(SLOPES), CAUSAL, N, N),
    "alibi, after a cache": (positions.alibi(SLOPES, M - N), table_of(allowed.causal(M - N), N, M), N, M),
    "relative": (positions.relative(np.arange(22.0).reshape(2, 11) ** 2), None, N, N),
    "relative, causal": (positions.relative(np.arange(22.0).reshape(2, 11) ** 2), CAUSAL, N, N),
    "relative, of buckets": (positions.t5(np.arange(16.0).reshape(8, 2) ** 2), None, N, N),
}


@pytest.mark.parametrize("name", BIASES)
def test_a_bias_is_recognised(name):
    rule, table, n, m = BIASES[name]
    bias = bias_of(rule, n, m)
    found = recognise_bias(bias, table, m - n)
    assert found.kind == name.partition(",")[0]
    seen = np.ones((n, m), dtype=bool) if table is None else table
    np.testing.assert_allclose(bias_of(found.rule, n, m)[:, seen], bias[:, seen], rtol=1e-6)
    assert found.held_bytes < bias.nbytes / 2


def test_a_bias_by_the_place_of_the_key_is_alibi_up_to_a_constant_a_row():
    bias = np.broadcast_to((SLOPES[:, None] * np.arange(N))[:, None, :], (4, N, N))
    found = recognise_bias(bias, CAUSAL, 0)
    assert found.kind == "alibi, up to a constant a row"
    off = bias - bias_of(found.rule)
    for row in range(N):
        np.testing.assert_allclose(off[:, row, : row + 1], off[:, row, :1] + np.zeros(row + 1), atol=1e-12)


@pytest.mark.parametrize("table", [None, CAUSAL], ids=["everything", "causal"])
def test_no_bias_is_none(table):
    bias = np.zeros((1, N, N)) if table is None else np.where(table, 0.0, 7.0)[None]
    assert recognise_bias(bias, table, 0).rule is None


@given(st.integers(1, 3), st.integers(2, 5), st.booleans(), st.integers(0, 2**32 - 1))
def test_the_rule_of_a_bias_says_what_the_bias_says(n_heads, n, causal, seed):
    bias = np.random.default_rng(seed).integers(-3, 4, (n_heads, n, n)).astype(float)
    table = table_of(allowed.causal(), n, n) if causal else None
    found = recognise_bias(bias, table, 0)
    seen = np.ones((n, n), dtype=bool) if table is None else table
    mine = np.zeros_like(bias) if found.rule is None else np.broadcast_to(bias_of(found.rule, n, n), bias.shape)
    off = np.where(seen, bias - mine, np.nan)
    if found.kind.endswith("row"):
        off = off - np.nanmean(off, axis=-1, keepdims=True)
    assert np.nanmax(np.abs(off)) < 1e-6
