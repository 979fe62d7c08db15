"""Two texts compared: every number against a plain loop, what must hold for any two, what is refused."""

import json
import math
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jumok
from jumok import Reading, Trace, door
from jumok.errors import InputError, TooLargeError, UnknownName
from jumok.measurement import comparison
from jumok.measurement.comparison import compare, distance

ABC = list("abcdefgh")


def record(tokens, seed=0, n_heads=2, n_kv_heads=1, dtype=np.float64, **options):
    draw = np.random.default_rng(seed)
    n = len(tokens)
    q, k, v = (draw.normal(size=(heads, n, 4)).astype(dtype) for heads in (n_heads, n_kv_heads, n_kv_heads))
    return Trace(tokens=tokens, q=2 * q, k=2 * k, v=v, **options)


def plain_distance(p, q):
    total = 0.0
    for a, b in zip(p, q, strict=True):
        m = (a + b) / 2
        total += (a * math.log2(a / m) if a > 0 else 0) / 2 + (b * math.log2(b / m) if b > 0 else 0) / 2
    return math.sqrt(max(total, 0))


def rows_of(trace, head, query, keys):
    row = trace.weights[head, query]
    mass = sum(row[key] for key in keys)
    return [row[key] / mass for key in keys], sum(row) - mass


def test_every_number_against_a_plain_loop():
    a, b = record(["a", "b", "x", "c", "d"], 1), record(["a", "y", "z", "b", "c", "d"], 2)
    found = compare(a, b)
    assert found.pairs == ((0, 0), (1, 3), (3, 4), (4, 5))
    assert (found.only_a, found.only_b) == ((2,), (1, 2))
    keys = [i for i, _ in found.pairs], [j for _, j in found.pairs]
    for change in found.heads:
        far, others = [], []
        for i, j in found.pairs:
            p, p_others = rows_of(a, change.head, i, keys[0])
            q, q_others = rows_of(b, change.head, j, keys[1])
            far.append(plain_distance(p, q))
            others.append((p_others, q_others))
            at = found.pairs.index((i, j))
            assert found.difference(0, change.head)[at] == pytest.approx(np.subtract(q, p), abs=1e-12)
        assert found.distances(0, change.head) == pytest.approx(far, abs=1e-12)
        assert change.distance == pytest.approx(np.mean(far))
        assert change.n_rows == 4
        assert change.unmatched == pytest.approx(tuple(np.mean(others, axis=0)))
        table = found.difference(0, change.head)
        at = np.unravel_index(np.abs(table).argmax(), table.shape)
        assert change.largest == pytest.approx(table[at])
        assert (change.query, change.key) == (found.pairs[at[0]], found.pairs[at[1]])


def test_the_most_changed_come_first():
    a, b = (Reading(tuple(record(ABC, seed + layer) for layer in range(3))) for seed in (0, 10))
    found = compare(a, b)
    far = [head.distance for head in found.heads]
    assert far == sorted(far, reverse=True)
    assert {(head.layer, head.head) for head in found.heads} == {(i, j) for i in range(3) for j in range(2)}
    far = [token.distance for token in found.tokens]
    assert far == sorted(far, reverse=True)
    assert len(found.tokens) == 3 * len(ABC)
    token = found.tokens[0]
    at = found.pairs.index(token.pair)
    assert token.distance == pytest.approx(np.mean([found.distances(token.layer, head)[at] for head in range(2)]))


@settings(max_examples=15)
@given(
    st.integers(0, 999), st.lists(st.sampled_from("abcd"), min_size=1, max_size=6), st.sampled_from([None, "causal"])
)
def test_what_holds_for_any_two(seed, tokens, rule):
    a, b = record(["a", *tokens], seed, rule=rule), record([*tokens[::-1], "a"], seed + 1, rule=rule)
    there, back = compare(a, b), compare(b, a, pairs=[(j, i) for i, j in compare(a, b).pairs])
    for head in range(2):
        far = there.distances(0, head)
        assert np.array_equal(far, back.distances(0, head), equal_nan=True)
        assert np.all((far >= 0) & (far <= 1) | np.isnan(far))
        first, second = there.matched(0, head)
        for side in (first, second):
            assert np.all(np.isclose(side.sum(axis=1), 1) | (side.sum(axis=1) == 0))
        assert there.difference(0, head) == pytest.approx(-back.difference(0, head))
    json.dumps(there.to_json(), allow_nan=False)


rows = st.lists(st.floats(0.0, 1.0), min_size=4, max_size=4).filter(lambda row: sum(row) > 0.01)


@given(rows, rows, rows)
def test_the_distance_is_a_metric(p, q, r):
    p, q, r = (np.array(row) / sum(row) for row in (p, q, r))
    assert distance(p, p) == 0
    assert distance(p, q) == distance(q, p)
    assert distance(p, q) <= distance(p, r) + distance(r, q) + 1e-9
    assert distance(p, q) == pytest.approx(plain_distance(p, q), abs=1e-7)


def test_the_distance_sees_what_differs_in_the_last_digits():
    p = np.array([0.5, 0.5])
    for tiny in (1e-6, 1e-9, 1e-12):
        q = np.array([0.5 + tiny, 0.5 - tiny])
        assert distance(p, q) == pytest.approx(tiny / math.sqrt(2 * math.log(2)), rel=1e-3)  # to first order


def test_a_record_beside_itself_has_not_changed():
    trace = jumok.attend(jumok.load("student"))
    found = compare(trace, trace)
    assert [head.distance for head in found.heads] == [0]
    assert not found.difference(0, 0).any()
    assert (found.only_a, found.only_b) == ((), ())
    assert [token.raw_cosine for token in found.tokens] == pytest.approx([1] * 5)
    assert "no distance is larger than that of rounding" in str(found)


def test_what_comes_later_changes_nothing_for_it_under_a_causal_mask():
    tired, soft = (jumok.attend(jumok.load(name), rule="causal") for name in ("it-tired", "it-soft"))
    found = compare(tired, soft)
    assert len(found.pairs) == 9
    assert all(head.distance == 0 for head in found.heads)
    cosines = [token.raw_cosine for token in found.tokens if token.raw_cosine is not None]
    assert cosines
    assert cosines == pytest.approx([1] * len(cosines))


def test_the_packaged_pair_flips_in_the_second_layer():
    found = jumok.compare(jumok.load("it-tired"), jumok.load("it-soft"))
    top = found.heads[0]
    assert (top.layer, top.query, top.key) == (1, (7, 7), (1, 1))
    assert top.largest == pytest.approx(-0.8229, abs=1e-4)
    assert found.tokens[0].pair == (7, 7)
    for lang, words in (("en", ("'it'", "fell by 0.823", "0.164")), ("ko", ("it이", "0.823만큼 작아", "0.164"))):
        assert all(word in found.text(lang) for word in words)


@pytest.mark.parametrize("tile", [1, 5])
@pytest.mark.parametrize("least", [-1e-12, 0, 1e-12])
def test_of_changes_that_only_rounding_tells_apart_the_first_is_named(tile, least):
    """What one key loses another gets: which of the two is a last digit larger is chance, and differs in a browser."""
    change = np.zeros((2, 5, 4))
    change[0, 1, 1:3] = 0.4, -0.4  # smaller
    change[0, 2, 1:3] = -0.5, 0.5 * (1 + least)
    change[0, 4, 0] = 0.5 * (1 - least)
    change[1, 3, 3] = 0.5 * (1 + 1e-8)
    change[1, 0, 0] = 0.5
    gathered = [comparison._Head(), comparison._Head()]
    for before in range(0, 5, tile):
        comparison._largest(gathered, change[:, before : before + tile], before)
    assert [head.at for head in gathered] == [(2, 1), (3, 3)]
    assert gathered[0].largest == -0.5


def test_tokens_are_alike_in_nfc():
    a, b = record(["은행", "é"], 1), record(["\u110b\u1173\u11ab\u1112\u1162\u11bc", "e\u0301"], 1)
    assert compare(a, b).pairs == ((0, 0), (1, 1))


def test_pairs_may_be_given_by_position_or_text():
    river, money = (jumok.attend(jumok.load(name)) for name in ("bank-river", "bank-money"))
    found = compare(river, money, pairs=[("강", "돈"), ("은행", 2), (0, 0)])
    assert found.pairs == ((2, 4), (3, 2), (0, 0))
    assert found.heads[0].distance > 0
    keys = [2, 3, 0]
    p, _ = rows_of(river, 0, 3, keys)
    assert found.matched(0, 0)[0][1] == pytest.approx(p)


@pytest.mark.parametrize(
    ("pairs", "error", "told"),
    [
        ([(0, 0), (1, 0)], InputError, "position 0 of the second text is paired twice"),
        ([("a", "a"), (0, 1)], InputError, "position 0 of the first text is paired twice"),
        ([("a", "nowhere")], UnknownName, "nowhere"),
        ([(0, 99)], InputError, "from 0 to 7"),
        ([0, 1], InputError, "pairs of tokens"),
        (7, InputError, "pairs of tokens"),
    ],
)
def test_wrong_pairs_are_refused(pairs, error, told):
    with pytest.raises(error, match=told) as caught:
        compare(record(ABC), record(ABC, 1), pairs=pairs)
    assert any("가" <= letter <= "힣" for letter in caught.value.text("ko"))


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        (record(ABC), "student", "got str"),
        (Reading(()), Reading(()), "with layers"),
        (record(ABC), record(ABC, n_heads=3), r"1 × 2 and 1 × 3"),
        (Reading((record(ABC),)), Reading((record(ABC), record(ABC))), r"1 × 2 and 2 × 2"),
        (Reading((record(ABC), record(["a"]))), Reading((record(ABC), record(["a"]))), "same tokens in every layer"),
        (record(ABC), record(ABC, key_tokens=ABC), "cross-attention"),
    ],
)
def test_records_that_cannot_be_compared_are_refused(a, b, told):
    with pytest.raises(InputError, match=told) as caught:
        compare(a, b)
    assert any("가" <= letter <= "힣" for letter in caught.value.text("ko"))


def test_a_trace_and_a_reading_of_one_layer_are_alike():
    a, b = record(ABC, 1), record(ABC, 2)
    assert compare(a, Reading((b,))).heads == compare(a, b).heads


def test_another_sequence_that_is_read_is_aligned_by_itself():
    draw = np.random.default_rng(0)

    def cross(keys, seed):
        q, k = draw.normal(size=(1, 2, 3)), draw.normal(size=(1, len(keys), 3))
        return Trace(tokens=["x", "y"], q=q, k=k, v=k, key_tokens=keys)

    found = compare(cross(["a", "b", "c"], 0), cross(["b", "c"], 1))
    assert found.pairs == ((0, 0), (1, 1))
    assert found.key_pairs(0) == ((1, 0), (2, 1))
    assert found.difference(0, 0).shape == (2, 2)


def test_rows_without_weight_on_a_matched_key_are_left_out():
    nothing = np.zeros((2, 2), bool)
    a = record(["a", "b"], 1, rule=jumok.Rule(allowed=jumok.allowed.table(nothing | [[False, False], [True, True]])))
    found = compare(a, record(["a", "b"], 2))
    assert np.isnan(found.distances(0, 0)).tolist() == [True, False]
    assert found.heads[0].n_rows == 1
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["rows"][-1]["distance"] is None
    none = compare(replace(a, rule=jumok.allowed.table(nothing)), a)
    assert {head.distance for head in none.heads} == {None}
    assert "No two rows" in str(none)


def test_texts_without_a_common_token():
    found = compare(record(["a", "b"], 1), record(["c"], 2))
    assert (found.pairs, found.tokens) == ((), ())
    assert [(head.distance, head.n_rows, head.query) for head in found.heads] == [(None, 0, None)] * 2
    assert found.difference(0, 1).shape == (0, 0)
    assert found.distances(0, 0).shape == (0,)
    assert found.noise_floor == comparison.NoiseFloor(0, 0, 0)


def test_cosines_with_and_without_what_all_tokens_share():
    a, b = record(list("abcde"), 3), record(list("abcdx"), 4)
    found = compare(a, b)
    mean = np.concatenate([a.output, b.output]).mean(axis=0)
    for token in found.tokens:
        p, q = a.output[token.pair[0]], b.output[token.pair[1]]
        assert token.raw_cosine == pytest.approx(p @ q / np.linalg.norm(p) / np.linalg.norm(q))
        p, q = p - mean, q - mean
        assert token.cosine == pytest.approx(p @ q / np.linalg.norm(p) / np.linalg.norm(q))


def test_a_vector_that_is_zero_has_no_cosine():
    one = np.ones((1, 2, 2))
    flat = Trace(tokens=["a", "b"], q=one, k=one, v=0 * one)
    assert {(token.cosine, token.raw_cosine) for token in compare(flat, flat).tokens} == {(None, None)}


def test_outputs_of_other_widths_have_no_cosine():
    a, b = record(ABC, 1), record(ABC, 2)
    assert {token.cosine for token in compare(a, replace(b, v=b.v[..., :2])).tokens} == {None}


def test_the_same_numbers_in_float32_differ_by_the_noise_floor():
    wide = record(ABC, 5)
    narrow = replace(wide, **{name: getattr(wide, name).astype(np.float32) for name in "qkv"})
    found = compare(wide, narrow)
    assert 0 < found.heads[0].distance <= found.noise_floor.distance < 1e-6
    assert 0 < found.noise_floor.weight < 1e-6
    assert "no distance is larger than that of rounding" in str(found)


def test_numbers_beyond_float32_have_no_noise_floor():
    big = record(ABC, 5)
    for much, little in ((1e100, 1e-100), (1e25, 1e20)):  # a number, and a product, that float32 cannot hold
        assert compare(big, replace(big, q=big.q * much, k=big.k * little)).noise_floor is None
    big = replace(big, q=big.q * 1e100, k=big.k * 1e-100)
    assert "Rounding" not in str(compare(big, record(ABC, 6)))


def test_a_head_or_layer_that_is_not_there_is_refused():
    found = compare(record(ABC), record(ABC, 1))
    for method in (found.difference, found.distances, found.matched):
        with pytest.raises(InputError, match="head expects a position from 0 to 1, got 2"):
            method(0, 2)
        with pytest.raises(InputError, match="layer expects a position from 0 to 0, got 1"):
            method(1, 0)


def test_a_table_beyond_the_limit_is_refused_but_its_rows_are_told(monkeypatch):
    found = compare(record(ABC), record(ABC, 1))
    monkeypatch.setattr(comparison, "MOST_BYTES", 100)
    with pytest.raises(TooLargeError, match=r"8 × 8 matched weights.*distances") as caught:
        found.difference(0, 0)
    assert caught.value.bytes_needed == 512
    assert "distances" in caught.value.text("ko")
    assert len(found.distances(0, 0)) == 8


def test_what_is_found_does_not_depend_on_the_tiles(monkeypatch):
    a, b = record(ABC, 1), record(ABC, 2)
    whole = compare(a, b)
    monkeypatch.setattr(door, "TILE_BYTES", 200)
    assert len(door.tiles(len(ABC), 2 * len(ABC) * 8)) == len(ABC)
    found = compare(a, b)
    assert [(h.query, h.key, h.n_rows) for h in found.heads] == [(h.query, h.key, h.n_rows) for h in whole.heads]
    assert [h.distance for h in found.heads] == pytest.approx([h.distance for h in whole.heads])
    assert found.difference(0, 1) == pytest.approx(whole.difference(0, 1))


def test_no_table_of_all_pairs_is_made(monkeypatch):
    monkeypatch.setattr(door, "TILE_BYTES", 2**18)
    n = 1_200
    a, b = (record([str(i) for i in range(n)], seed, n_heads=1) for seed in (1, 2))
    tracemalloc.start()
    found = compare(a, b)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.heads[0].n_rows == n
    assert peak < n * n * 8 / 2, "half of one table"
