"""What variants lose: against whole tables, which a small text can afford."""

import json
import sys

import numpy as np
import pytest

import jumok
from jumok import variants
from jumok.errors import InputError, ShapeError, UnknownName
from jumok.path import allowed
from jumok.path.rule import Rule
from jumok.trace import Trace
from jumok.variants import patterns

error_module = sys.modules["jumok.variants.error"]  # under its name stands the function


def trace_of(rule=None, n=20, heads=2, kv_heads=1, seed=0):
    draw = np.random.default_rng(seed)
    q, k, v = (draw.standard_normal((h, n, 4)) for h in (heads, kv_heads, kv_heads))
    return Trace(tokens=[str(at) for at in range(n)], q=2 * q, k=k, v=v, rule=Rule.of(rule))


def full_weights(trace, block):
    """(head, query, key) weights under a block of who may read whom, in plain NumPy."""
    k = np.repeat(trace.k, trace.n_heads // trace.n_kv_heads, axis=0)
    scores = trace.q @ k.transpose(0, 2, 1) * trace.rule.scale_for(trace.d_head)
    exp = np.exp(np.where(block, scores - scores.max(-1, keepdims=True), -np.inf))
    return exp / exp.sum(-1, keepdims=True)


@pytest.mark.parametrize("name", ["full", "flash"])
@pytest.mark.parametrize("rule", [None, "causal"])
def test_exact_variants_lose_nothing(name, rule):
    loss = variants.error(trace_of(rule), name)
    assert loss.output.max() < 1e-12
    assert loss.distance.max() < 1e-12
    assert loss.outside.max() == 0


@pytest.mark.parametrize("tile_bytes", [1, 2**25], ids=["a column at a time", "all at once"])
def test_a_window_loses_what_lies_outside(monkeypatch, tile_bytes):
    monkeypatch.setattr(error_module, "TILE_BYTES", tile_bytes)
    trace = trace_of("causal")
    at = np.arange(trace.n_queries)
    causal = allowed.causal().block(at, at)
    inside = causal & allowed.window(3).block(at, at)
    exact, less = full_weights(trace, causal), full_weights(trace, inside)
    loss = variants.error(trace, "window", n_back=3)
    v = np.repeat(trace.v, 2, axis=0)
    difference = np.linalg.norm((exact - less) @ v, axis=-1) / np.linalg.norm(exact @ v, axis=-1)
    assert np.allclose(loss.output, difference)
    assert np.allclose(loss.distance, np.abs(exact - less).sum(-1) / 2)
    assert np.allclose(loss.outside, np.where(inside, 0, exact).sum(-1))
    assert loss.outside.max() > 0.1


def test_without_sinks_the_distance_is_the_weight_outside():
    loss = variants.error(trace_of("causal"), "sparse", pattern=patterns.streaming(1, 4))
    assert np.allclose(loss.distance, loss.outside)


def test_with_a_sink_it_is_not():
    trace = trace_of(Rule(allowed="causal", sink=np.array([1.0, 2.0])))
    loss = variants.error(trace, "window", n_back=2)
    assert np.abs(loss.distance - loss.outside).max() > 1e-3


@pytest.mark.parametrize("rule", [None, "causal"])
def test_linear_loses_weight_everywhere_and_reads_everything(rule):
    trace = trace_of(rule)
    loss = variants.error(trace, "linear")
    assert loss.outside.max() == 0
    assert 0.01 < loss.distance.mean() < 1
    feature = lambda a: np.where(a > 0, a + 1, np.exp(np.minimum(a, 0)))  # noqa: E731
    table = feature(trace.q) @ np.repeat(feature(trace.k), 2, axis=0).transpose(0, 2, 1)
    at = np.arange(trace.n_queries)
    table = np.where(trace.rule.allowed.block(at, at), table, 0)
    theirs = table / table.sum(-1, keepdims=True)
    exact = full_weights(trace, trace.rule.allowed.block(at, at))
    assert np.allclose(loss.distance, np.abs(exact - theirs).sum(-1) / 2)


def test_a_function_of_ones_own_is_a_variant():
    def lazy(q, k, v, rule=None):
        return variants.window(q, k, v, rule, n_back=0)

    loss = variants.error(trace_of("causal"), lazy)
    assert loss.variant == "lazy"
    assert np.allclose(loss.output, variants.error(trace_of("causal"), "window", n_back=0).output)


def test_rows_that_read_nothing_lose_nothing():
    table = np.tril(np.ones((20, 20), bool), -1)
    loss = variants.error(trace_of(allowed.table(table)), "window", n_back=3)
    assert loss.output[:, 0].tolist() == [0, 0]
    assert loss.outside[:, 0].tolist() == [0, 0]
    assert np.isfinite(loss.output).all()


def test_a_real_models_heads_are_told_one_by_one():
    layer = jumok.load("minilm-tired")[0]
    loss = variants.error(layer, "window", n_back=2, n_ahead=2)
    assert [head.head for head in loss.heads] == list(range(layer.n_heads))
    assert loss.heads[2].outside == pytest.approx(float(loss.outside[2].mean()))
    assert loss.heads[2].worst == loss.output[2].max()
    json.dumps(loss.to_json(), allow_nan=False)


def test_what_is_kept_is_what_lies_inside():
    trace = trace_of("causal")
    at = np.arange(trace.n_queries)
    found = error_module.kept(trace, allowed.window(3))
    causal = allowed.causal().block(at, at)
    inside = causal & allowed.window(3).block(at, at)
    assert np.allclose(found.inside, np.where(inside, full_weights(trace, causal), 0).sum(-1))
    assert found.n_allowed.tolist() == causal.sum(-1).tolist()
    assert found.n_read.tolist() == inside.sum(-1).tolist()
    assert found.loses.tolist() == [False] * 4 + [True] * 16
    assert not found.reads_ahead
    assert error_module.kept(trace_of(), allowed.window(3)).reads_ahead


def test_a_name_that_is_no_variant_is_refused():
    with pytest.raises(UnknownName, match="unknown variant 'windows'; known: full, flash") as refused:
        variants.error(trace_of(), "windows")
    assert "알 수 없는 변형 'windows'" in refused.value.text("ko")


def test_what_the_variant_refuses_is_told():
    with pytest.raises(InputError, match="every query must read every key"):
        variants.error(trace_of("causal"), "lowrank")
    with pytest.raises(InputError):
        variants.error(trace_of("causal"), "window", n_back=-1)


@pytest.mark.parametrize("what", ["a reading", None])
def test_what_is_no_trace_is_refused(what):
    record = jumok.load("minilm-tired") if what else None
    with pytest.raises(
        InputError, match=r"error expects a Trace, got (Reading|NoneType)\. Of a Reading take a layer"
    ) as refused:
        variants.error(record, "window", n_back=2)
    assert "층을 하나 고르십시오" in refused.value.text("ko")


OWN = {
    "another width": (lambda q, k, v, rule: v[:, :3], ShapeError, r"= \(2, 20, 4\) for these .* it gave \(1, 3, 4\)", "모양"),
    "nothing": (lambda q, k, v, rule: None, ShapeError, r"it gave \(\)", "모양"),
    "NaN": (lambda q, k, v, rule: q * np.nan, InputError, "is to give finite numbers", "유한한 수"),
    "letters": (lambda q, k, v, rule: q.astype(str), InputError, "is to give finite numbers", "유한한 수"),
    "uneven lists": (lambda q, k, v, rule: [[1], [1, 2]], InputError, "is to give an array", "배열을 내놓아야"),
    "NaN for one-hot values": (
        lambda q, k, v, rule: q if v.shape[-1] == 4 else np.full((2, 20, v.shape[-1]), np.inf), InputError, "finite", "유한한 수",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OWN)
def test_a_function_of_ones_own_that_gives_no_result_is_refused(name):
    function, kind, en, ko = OWN[name]
    with pytest.raises(kind, match=en) as refused:
        variants.error(trace_of(), function)
    assert ko in refused.value.text("ko")


def test_an_option_that_the_variant_has_not_is_refused():
    with pytest.raises(UnknownName, match="window has no option 'foo'; it has n_back, n_ahead, tile, fast") as refused:
        variants.error(trace_of(), "window", n_back=2, foo=2)
    assert "'foo' 옵션이 없습니다" in refused.value.text("ko")
    with pytest.raises(UnknownName, match="_lazy has no option 'n_back'; it has none"):
        variants.error(trace_of(), _lazy, n_back=2)
    one = np.ones((1, 2, 2))
    with pytest.raises(UnknownName, match="flash has no option 'return_lsd'"):
        variants.route(one, one, one, None, "flash", return_lsd=True)


def _lazy(q, k, v, rule):
    return v


def test_whatever_a_function_takes_is_handed_on():
    seen = []
    loss = variants.error(
        trace_of(), lambda q, k, v, rule, **more: seen.append(more) or variants.full(q, k, v, rule), depth=3
    )
    assert seen[0] == {"depth": 3}
    assert loss.options == {"depth": 3}
