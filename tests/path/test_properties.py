"""What must hold for every attention, whatever the numbers: hypothesis looks for the ones where it does not."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis.extra.numpy import arrays

import jumok
from jumok.errors import OverflowRefused
from jumok.path import STAGES, Rule, Steps, attend
from jumok.path.allowed import Allowed, causal, document, everything, padding, table, window
from jumok.path.positions import PositionBias, Rotary, alibi, relative, t5
from jumok.path.positions import table as bias_table
from jumok.path.weights import softmax

SIZES = {"float64": 1e6, "float32": 1e15}  # float32 goes as far as the promise


def numbers(dtype: str, most: float, *shape: int) -> st.SearchStrategy[Any]:
    """Arrays of every kind of finite number: zeros of both signs, subnormals, the largest."""
    most = float(np.dtype(dtype).type(most))
    return arrays(dtype, shape, elements=st.floats(-most, most, width=int(dtype[5:])))


@st.composite
def allowed_tables(draw: Any, n: int, m: int) -> tuple[Allowed, Any]:
    """A rule of who may read whom, and the same as a NumPy table, joined by & and | as often as one likes."""
    rows, columns = np.arange(n)[:, None], np.arange(m)[None, :]
    offset = draw(st.integers(0, 3))
    back, ahead = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    real = draw(arrays(bool, m))
    any_table = draw(arrays(bool, (n, m)))
    ids = draw(arrays(np.int64, n + m, elements=st.integers(0, 2)))
    leaves = [
        (everything(), np.ones((n, m), bool)),
        (causal(offset), columns <= rows + offset),
        (window(back, ahead, offset), (columns >= rows + offset - back) & (columns <= rows + offset + ahead)),
        (padding(real), real[None, :] & np.ones((n, 1), bool)),
        (table(any_table), any_table),
    ]
    if n + offset <= m:
        leaves.append((document(ids[:m], offset), ids[offset : n + offset, None] == ids[None, :m]))

    def joined(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        both = st.tuples(parts, parts).map(lambda p: (p[0][0] & p[1][0], p[0][1] & p[1][1]))
        either = st.tuples(parts, parts).map(lambda p: (p[0][0] | p[1][0], p[0][1] | p[1][1]))
        return both | either

    return draw(st.recursive(st.sampled_from(leaves), joined, max_leaves=5))


@st.composite
def biases(draw: Any, heads: int, n: int, m: int, most: float) -> PositionBias | None:
    offset = draw(st.integers(0, 3))
    of = lambda *shape: draw(numbers("float64", most, *shape))  # noqa: E731
    kinds = {
        "none": lambda: None,
        "alibi": lambda: alibi(of(heads), offset),
        "relative": lambda: relative(of(draw(st.sampled_from([1, heads])), 5), offset),
        "t5": lambda: t5(of(8, heads), draw(st.booleans()), 12, offset),
        "table": lambda: bias_table(of(1, n, m)),
        "sum": lambda: alibi(of(heads)) + bias_table(of(heads, n, m)),
    }
    return kinds[draw(st.sampled_from(list(kinds)))]()


@st.composite
def attentions(draw: Any, most: float | None = None, allowed: Any = None, square: bool = False) -> Steps:
    """Any small attention: sizes, shared heads, rule and numbers."""
    dtype = draw(st.sampled_from(list(SIZES)))
    size = SIZES[dtype] if most is None else most
    kv_heads, group = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    heads, n, d, d_value = kv_heads * group, draw(st.integers(1, 5)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    m = n if square else draw(st.integers(1, 5))
    rule = Rule(
        scale=draw(st.none() | st.floats(1e-3, 1e3)),
        allowed=draw(allowed_tables(n, m))[0] if allowed is None else allowed,
        softcap=draw(st.none() | st.floats(1e-3, 1e3)),
        bias=draw(biases(heads, n, m, min(size, 1e10))),
        sink=draw(st.none() | numbers("float64", min(size, 1e10), heads)),
    )
    q, k = draw(numbers(dtype, size, heads, n, d)), draw(numbers(dtype, size, kv_heads, m, d))
    return Steps(q, k, draw(numbers(dtype, size, kv_heads, m, d_value)), rule)


def rounding(array: Any) -> float:
    return 1e-12 if array.dtype == np.float64 else 2e-5


# weights ------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(attentions())
def test_each_row_is_shared_out_whole_or_not_at_all(steps: Steps) -> None:
    weights, anything = steps.weights, steps.allowed.any(axis=-1)
    assert ((weights >= 0) & (weights <= 1 + rounding(weights))).all()
    assert (weights[:, ~steps.allowed] == 0).all()
    total = weights.sum(axis=-1)
    assert (total[:, ~anything] == 0).all()
    if steps.rule.sink is None:
        np.testing.assert_allclose(total[:, anything], 1, rtol=rounding(weights))
    else:
        np.testing.assert_allclose(total + sink_share(steps), 1, rtol=rounding(weights))


def sink_share(steps: Steps) -> Any:
    """What the sink takes of each row: its exp over the sum of all; everything where nothing may be read."""
    scores = np.where(steps.allowed, steps.scaled.astype(np.float64), -np.inf)
    sink = np.asarray(steps.rule.sink, dtype=steps.scaled.dtype).astype(np.float64)[:, None]
    top = np.maximum(scores.max(axis=-1), sink)
    mine, others = np.exp(sink - top), np.exp(scores - top[..., None]).sum(axis=-1)
    return np.where(steps.allowed.any(axis=-1), mine / (mine + others), 1.0)


@given(st.data())
def test_a_constant_added_to_a_row_of_scores_changes_nothing(data: Any) -> None:
    scaled = data.draw(numbers("float64", 100, 2, 3, 4))
    may = data.draw(arrays(bool, (3, 4)))
    constant = data.draw(numbers("float64", 1e3, 2, 3, 1))
    np.testing.assert_allclose(softmax(scaled + constant, may), softmax(scaled, may), rtol=1e-10, atol=1e-15)


@given(st.data())
def test_the_larger_score_gets_the_larger_weight(data: Any) -> None:
    scaled = data.draw(numbers("float64", 500, 1, 1, 5))
    weights = softmax(scaled, np.ones((1, 5), bool))[0, 0]
    assert (np.diff(weights[np.argsort(scaled[0, 0])]) >= 0).all()


# tokens -------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(attentions(allowed=causal(), square=True), st.data())
def test_the_future_does_not_change_the_past(steps: Steps, data: Any) -> None:
    n = steps.q.shape[1]
    now = data.draw(st.integers(0, n - 1))
    most = SIZES[str(steps.q.dtype)]
    other = {}
    for name in ("q", "k", "v"):
        array = getattr(steps, name).copy()
        array[:, now + 1 :] = data.draw(numbers(str(array.dtype), most, *array[:, now + 1 :].shape))
        other[name] = array
    changed = Steps(**other, rule=steps.rule)
    for stage in ("weights", "mixed"):
        np.testing.assert_array_equal(getattr(changed, stage)[:, : now + 1], getattr(steps, stage)[:, : now + 1])


@settings(max_examples=60)
@given(st.data())
def test_moving_the_tokens_moves_the_table(data: Any) -> None:
    n = data.draw(st.integers(1, 6))
    x = data.draw(numbers("float64", 3, n, 4))
    w_q, w_k, w_v, w_o = (data.draw(numbers("float64", 3, 4, 4)) for _ in range(4))
    order = data.draw(st.permutations(range(n)))
    one, other = (attend(tokens, w_q, w_k, w_v, w_o, n_heads=2) for tokens in (x, x[list(order)]))
    np.testing.assert_allclose(other.weights, one.weights[:, order][:, :, order], rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(other.output, one.output[list(order)], rtol=1e-9, atol=1e-10)


@settings(max_examples=60)
@given(attentions(), st.data())
def test_any_part_is_that_part_of_the_whole(steps: Steps, data: Any) -> None:
    n_heads, n_queries, _ = steps.q.shape
    heads = data.draw(st.lists(st.integers(0, n_heads - 1), min_size=1, max_size=4))
    queries = data.draw(st.lists(st.integers(0, n_queries - 1), max_size=6))
    part = steps.part(heads, queries)
    np.testing.assert_array_equal(part.allowed, steps.allowed[queries])
    for stage in ("scores", "scaled", "weights", "weighted_values", "mixed"):
        whole = getattr(steps, stage)[np.ix_(heads, queries)]
        close = rounding(steps.q)
        size = np.abs(steps.scores if stage in ("scores", "scaled") else steps.v).max(initial=1)
        np.testing.assert_allclose(getattr(part, stage), whole, rtol=close, atol=close * size)


@given(st.data())
def test_joined_rules_are_numpy_logic(data: Any) -> None:
    n, m = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    rule, wanted = data.draw(allowed_tables(n, m))
    rule.fits(n, m)
    np.testing.assert_array_equal(rule.block(np.arange(n), np.arange(m)), wanted)
    rows = data.draw(st.lists(st.integers(0, n - 1), max_size=4))
    np.testing.assert_array_equal(rule.block(np.array(rows, int), np.arange(m)), wanted[rows])


@given(st.data())
def test_rotation_keeps_lengths_and_sees_only_distances(data: Any) -> None:
    q, k = data.draw(numbers("float64", 10, 1, 1, 4)), data.draw(numbers("float64", 10, 1, 1, 4))
    interleaved, here, far = data.draw(st.booleans()), data.draw(st.integers(0, 500)), data.draw(st.integers(0, 500))

    def turned(array: Any, offset: int) -> Any:
        return Rotary(interleaved=interleaved, offset=offset).turned(array)[0, 0]

    np.testing.assert_allclose((turned(q, far) ** 2).sum(), (q**2).sum(), rtol=1e-12, atol=1e-300)
    one, other = turned(q, here + far) @ turned(k, here), turned(q, far) @ turned(k, 0)
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


# numbers ------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(attentions())
def test_everything_is_finite_up_to_1e15(steps: Steps) -> None:
    """float32 numbers to 1e15 make scores to 1e30; nothing warns, since warnings are errors here."""
    for stage in (*STAGES, "weighted_values"):
        got = getattr(steps, stage)
        assert got.dtype in (steps.q.dtype, np.bool_)
        assert np.isfinite(got).all()


@settings(max_examples=60)
@given(st.data())
def test_x_and_weights_to_1e15_are_finite(data: Any) -> None:
    x = data.draw(numbers("float32", 1e15, 3, 4))
    w_q, w_k, w_v = (data.draw(numbers("float32", 1.0, 4, 4)) for _ in range(3))
    trace = jumok.attend(x=x, w_q=w_q, w_k=w_k, w_v=w_v, n_heads=2, rule=data.draw(st.sampled_from([None, "causal"])))
    assert all(np.isfinite(trace.rows(stage)).all() for stage in STAGES)


@given(st.data())
def test_any_float32_at_all_is_finite_or_refused_by_name(data: Any) -> None:
    """Numbers as large as the type holds: a record whose every stage is finite, or a refusal that names tokens."""
    most = float(np.finfo(np.float32).max)
    q, k, v = (data.draw(numbers("float32", data.draw(st.sampled_from([1e18, most])), 2, 3, 2)) for _ in range(3))
    rule = Rule(data.draw(st.none() | st.floats(1e-30, 1e30)), softcap=data.draw(st.none() | st.floats(1e-30, 1e30)))
    refused = None
    try:
        trace = jumok.attend(q=q, k=k, v=v, tokens=["가", "나", "다"], rule=rule)
        assert all(np.isfinite(trace.rows(stage)).all() for stage in STAGES)
    except OverflowRefused as error:
        refused = error
    if refused is not None:
        assert any(repr(name) in refused.en and repr(name) in refused.ko for name in ("가", "나", "다"))
        assert 0 <= refused.row < 3


def test_a_score_beyond_the_type_names_both_tokens() -> None:
    q, k = np.ones((1, 3, 2), np.float32), np.ones((1, 3, 2), np.float32)
    q[0, 1], k[0, 2] = 3e20, -3e20
    with pytest.raises(OverflowRefused, match=r"score of 'b' \(query 1\) and 'c' \(key 2\) in head 0") as caught:
        jumok.attend(q=q, k=k, v=k, tokens=["a", "b", "c"])
    assert (caught.value.row, caught.value.column) == (1, 2)
    assert "'b'(쿼리 1)와 'c'(키 2)" in caught.value.text("ko")


def test_a_score_within_the_type_is_not_refused_for_its_partial_sums() -> None:
    """1e20² − 1e20² + 1 overflows on the way in float32, but the sum is 1."""
    q = np.array([[[1e20, 1e20, 1.0]]], np.float32)
    k = np.array([[[1e20, -1e20, 1.0]]], np.float32)
    assert np.isfinite(jumok.attend(q=q, k=k, v=k).scores).all()


def test_a_projection_beyond_the_type_names_the_token_and_the_letter() -> None:
    x = np.ones((2, 2), np.float32)
    x[1] = 3e38
    one, two = np.eye(2, dtype=np.float32), 2 * np.eye(2, dtype=np.float32)
    with pytest.raises(OverflowRefused, match=r"k of '나' \(token 1\)") as caught:
        jumok.attend(x=x, w_q=one / 1e9, w_k=two, w_v=one, tokens=["가", "나"])
    assert "'나'(토큰 1)의 k" in caught.value.text("ko")


@pytest.mark.parametrize("rule", [Rule(bias=alibi([1e4])), Rule(bias=bias_table(np.full((1, 2, 2), -1e9)))])
def test_a_bias_beyond_half_precision_is_refused(rule: Rule) -> None:
    half = np.ones((1, 2, 2), np.float16)
    with pytest.raises(OverflowRefused, match=r"position bias: row 0, column . is larger than 8\.19e\+03"):
        Steps(half, half, half, rule).scaled  # noqa: B018


@given(st.data())
def test_zeros_of_both_signs_are_the_same(data: Any) -> None:
    q, k, v = (data.draw(numbers("float64", 2.0, 1, 3, 2)) for _ in range(3))
    q[0, 0, 0] = k[0, 1, 1] = v[0, 2, 0] = 0.0
    plus = Steps(q, k, v)
    q, k, v = q.copy(), k.copy(), v.copy()
    q[0, 0, 0] = k[0, 1, 1] = v[0, 2, 0] = -0.0
    np.testing.assert_array_equal(Steps(q, k, v).mixed, plus.mixed)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_subnormal_numbers_are_numbers(dtype: Any) -> None:
    least = np.finfo(dtype).smallest_subnormal
    q = np.full((1, 2, 2), least, dtype)
    steps = Steps(q, q * dtype(1e30), q, Rule(allowed="causal"))
    np.testing.assert_array_equal(steps.weights, [[[1, 0], [0.5, 0.5]]])
    assert np.isfinite(steps.mixed).all()


def test_scores_at_both_ends_of_the_type() -> None:
    """All that may be read lies lower than what may not: still a row that sums to 1."""
    low, high = -np.finfo(np.float32).max / 4, np.finfo(np.float32).max / 4
    scaled = np.array([[[low, low, high]]], np.float32)
    may = np.array([[True, True, False]])
    np.testing.assert_array_equal(softmax(scaled, may), [[[0.5, 0.5, 0]]])
    np.testing.assert_array_equal(softmax(scaled, ~may), [[[0, 0, 1]]])
    np.testing.assert_array_equal(softmax(scaled, may & False), [[[0, 0, 0]]])


@settings(max_examples=60)
@given(attentions())
@example(Steps(*np.ones((3, 1, 2, 2)), Rule(allowed=np.eye(2, dtype=bool))))
def test_nothing_given_is_changed(steps: Steps) -> None:
    rule = {name: getattr(steps.rule, name) for name in ("bias", "sink", "allowed")}
    given = [steps.q, steps.k, steps.v]
    before = [array.tobytes() for array in given]
    said = [repr(part) for part in rule.values()]
    for array in given:
        array.setflags(write=False)
    for stage in STAGES:
        getattr(steps.part([0], [0]), stage), getattr(steps, stage)
    assert [array.tobytes() for array in given] == before
    assert [repr(part) for part in rule.values()] == said
