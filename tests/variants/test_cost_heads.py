"""Heads that could do with a window: made ones of which it is known, and real ones."""

import json

import numpy as np
import pytest

import jumok
from jumok.errors import InputError
from jumok.trace import Reading, Trace
from jumok.variants import window_heads


def looking_back(n_back, n=24):
    """(query, d) and (key, d) of a head that reads the token so many before its own (the first token where there is none)."""
    key = np.eye(n)
    return 60 * key[np.maximum(0, np.arange(n) - n_back)], key


def reading(kv_heads=3, rule="causal"):
    """A layer of three heads: one reads the token before, one the tenth before, one the first token."""
    q, k = zip(*(looking_back(n) for n in (1, 10, 100)), strict=True)
    n = len(q[0])
    k = np.stack(k)[:kv_heads]
    return Reading(
        [Trace(tokens=[f"t{at}" for at in range(n)], q=np.stack(q), k=k, v=k, rule=jumok.Rule(allowed=rule))]
    )


def test_the_head_that_looks_near_is_named():
    found = window_heads(reading(), window=4)
    assert [(one.layer, one.head) for one in found.kept] == [(0, 0)]
    assert found.n_rows == 20
    assert found.heads[0].inside == pytest.approx(1, abs=1e-3)
    assert found.heads[2].inside < 0.01


def test_with_a_sink_the_one_that_looks_at_the_first_token_is_named_too():
    assert [one.head for one in window_heads(reading(), window=4, n_sink=1).kept] == [0, 2]
    assert [one.head for one in window_heads(reading(), window=11, n_sink=1).kept] == [0, 1, 2]


def test_the_saving_is_counted_pair_by_pair():
    found = window_heads(reading(), window=4)
    width, n = 48, 24
    whole = n * (n + 1) // 2
    near = sum(min(4, at + 1) for at in range(n))
    assert found.multiply_adds == (3 * whole * width, (2 * whole + near) * width)
    assert found.cache_bytes == (3 * n * width * 2, (2 * n + 4) * width * 2)


def test_shared_keys_are_saved_only_together():
    alone = window_heads(reading(kv_heads=1), window=4)
    assert len(alone.kept) == 1
    assert alone.cache_bytes[0] == alone.cache_bytes[1]
    together = window_heads(reading(kv_heads=1), window=11, n_sink=1)
    assert together.cache_bytes == (24 * 48 * 2, 12 * 48 * 2)


def test_queries_that_read_ahead_have_no_cache():
    found = window_heads(reading(rule=None), window=4)
    assert found.reads_ahead
    assert found.cache_bytes == (0, 0)
    assert "no cache" in found.text()
    assert "캐시는 없습니다" in found.text("ko")


def test_a_text_that_is_shorter_than_the_window_says_nothing():
    found = window_heads(reading(), window=24)
    assert found.n_rows == 0
    assert found.kept == ()
    assert "too short" in found.text()
    assert "너무 짧습니다" in found.text("ko")
    assert json.dumps(found.to_json(), allow_nan=False)


@pytest.mark.parametrize("what", [None, 5, "minilm-tired", [1]])
def test_what_is_no_reading_is_refused(what):
    with pytest.raises(InputError, match="window_heads expects a Reading or a Trace, got") as refused:
        window_heads(what)
    assert "jumok.load로" in refused.value.text("ko")


def test_a_window_of_one_token_is_no_tokens():
    assert window_heads(reading(), window=1).text().startswith("Window of 1 token; text of 24 tokens.")
    assert window_heads(reading(), window=2).text().startswith("Window of 2 tokens; text of 24 tokens.")
    assert window_heads(reading(), window=1).text("ko").startswith("토큰 1개짜리 윈도우, 토큰 24개인 글.")


@pytest.mark.parametrize("name", ["minilm-tired", "minilm-soft"])
def test_a_real_model(name):
    record = jumok.load(name)
    found = window_heads(record, window=4, keep=0.9)
    for one, layer in zip(np.array_split(found.heads, len(record)), record, strict=True):
        at = np.arange(layer.n_tokens)
        near = np.abs(at[:, None] - at) < 4
        inside = (layer.weights * near).sum(-1)[:, ~near.all(-1)]
        assert np.allclose([head.inside for head in one], inside.mean(-1), atol=1e-4)
        assert np.allclose([head.least for head in one], inside.min(-1), atol=1e-4)
        assert {head.layer for head in one} == {layer.source.layer}
    for head in found.kept[:3]:
        assert f"{head.layer}.{head.head} ({100 * head.inside:.1f}%)" in found.text()
        assert f"{head.layer}.{head.head} ({100 * head.inside:.1f}%)" in found.text("ko")


@pytest.mark.parametrize(
    ("options", "en", "ko"),
    [
        ({"window": 0}, "window expects a whole number, 1 or more, got 0", "window에는 1 이상의 정수"),
        ({"n_sink": -1}, "n_sink expects a whole number, 0 or more", "n_sink에는 0 이상의 정수"),
        ({"keep": 1.5}, "keep expects a share above 0", "keep에는 0보다 크고"),
        ({"keep": "all"}, "keep expects a share above 0", "keep에는 0보다 크고"),
    ],
)
def test_wrong_numbers_are_refused(options, en, ko):
    with pytest.raises(InputError, match=en) as refused:
        window_heads(reading(), **options)
    assert ko in refused.value.text("ko")


def test_a_reading_without_layers_is_refused():
    with pytest.raises(InputError, match="no layer"):
        window_heads(Reading([]))
