"""Attention rollout: against the product written out, its normalisation, and what it refuses."""

import numpy as np
import pytest

import jumok
from jumok.errors import InputError, TooLargeError
from jumok.measurement.rollout import rollout
from jumok.trace import Reading, Trace


def layer(n=5, n_heads=3, seed=0, rule=None, **more):
    rng = np.random.default_rng(seed)
    q, k, v = (rng.normal(size=(n_heads, n, 4)) for _ in range(3))
    return Trace(tokens=[f"t{at}" for at in range(n)], q=q, k=k, v=v, rule=rule or jumok.Rule(), **more)


def reading(n=5, rule=None, n_layers=3):
    return Reading(tuple(layer(n, seed=seed, rule=rule) for seed in range(n_layers)))


def written_out(layers, residual=0.5, tables=None):
    product = np.eye(layers[0].n_tokens)
    for at, one in enumerate(layers):
        mean = one.weights.mean(axis=0) if tables is None else tables[at]
        product = ((1 - residual) * mean + residual * np.eye(one.n_tokens)) @ product
    return product


def test_it_is_the_product_of_the_layers():
    some = reading()
    found = rollout(some)
    assert not found.normalised
    assert np.allclose(found.shares, written_out(some), atol=1e-12)
    assert np.allclose(found.shares.sum(axis=1), 1)


@pytest.mark.parametrize("queries", [[3], [4, 0], "t2"])
def test_a_row_asked_for_is_that_row_of_all(queries):
    some = reading()
    found = rollout(some, queries)
    assert np.allclose(found.shares, rollout(some).shares[list(found.queries)], atol=1e-15)


def test_tiles_change_nothing(monkeypatch):
    some = reading(n=9)
    whole = rollout(some).shares
    monkeypatch.setattr("jumok.door.TILE_BYTES", 200)
    assert np.allclose(rollout(some).shares, whole, atol=1e-15)


def test_the_residual_alone_leaves_each_token_to_itself():
    assert np.allclose(rollout(reading(), residual=1 - 1e-12).shares, np.eye(5), atol=1e-9)


def test_a_causal_model_is_held_against_even_attention():
    some = reading(rule=jumok.Rule.of("causal"))
    plain, found = rollout(some, normalise=False), rollout(some)
    even = np.tril(np.ones((5, 5)))
    even = written_out(some, tables=[even / even.sum(axis=1, keepdims=True)] * 3)
    wanted = np.where(even > 0, plain.shares / np.where(even > 0, even, 1), 0)
    assert found.normalised
    assert np.allclose(found.shares, wanted / wanted.sum(axis=1, keepdims=True), atol=1e-12)


def test_heads_that_attend_evenly_leave_nothing_to_tell_in_a_causal_model():
    flat = layer(rule=jumok.Rule.of("causal"))
    flat = Trace(tokens=flat.tokens, q=np.zeros_like(flat.q), k=flat.k, v=flat.v, rule=flat.rule)
    shares = rollout(Reading((flat, flat))).shares
    assert np.allclose(shares, np.tril(np.ones((5, 5))) / np.arange(1, 6)[:, None])


def test_a_row_that_may_read_nothing_keeps_itself():
    table = np.ones((5, 5), dtype=bool)
    table[2] = False
    shares = rollout(Reading((layer(rule=jumok.Rule(allowed=jumok.allowed.table(table))),)), 2).shares
    assert shares.tolist() == [[0, 0, 1, 0, 0]]


def test_a_trace_is_one_layer():
    assert np.allclose(rollout(layer()).shares, written_out([layer()]))


@pytest.mark.parametrize(
    "wrong", [Reading(()), Reading((layer(5), layer(6))), Reading((layer(key_tokens=["a", "b", "c", "d", "e"]),))]
)
def test_layers_of_other_tokens_are_refused(wrong):
    with pytest.raises(InputError, match="all read the same tokens") as told:
        rollout(wrong)
    assert "크로스 어텐션" in told.value.ko


@pytest.mark.parametrize("residual", [-0.1, 1, 2])
def test_a_residual_that_is_no_share_is_refused(residual):
    with pytest.raises(InputError, match="from 0 to below 1"):
        rollout(reading(), residual=residual)


def test_all_rows_of_a_long_text_are_refused_and_one_is_not():
    n = 4000
    one = np.zeros((1, n, 1))
    long = Trace(tokens=[str(at) for at in range(n)], q=one, k=one, v=one)
    with pytest.raises(TooLargeError, match=r"384 MB.*rollout\(reading, queries=\[0\]\)") as told:
        rollout(long)
    assert told.value.bytes_needed == 3 * n * n * 8
    assert rollout(long, 0).shares.shape == (1, n)
