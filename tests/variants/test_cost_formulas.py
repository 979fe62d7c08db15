"""The formulas: exactly what is counted when the reference variants run, and what the papers say of bytes."""

import numpy as np
import pytest

from jumok.path import allowed
from jumok.path.rule import Rule
from jumok.variants import cost_formulas as formulas
from jumok.variants import flash, full, linear, lowrank, patterns, sparse, window
from jumok.variants.cost_formulas import Sizes
from jumok.variants.counting import Tally

RULES = {"everything": (None, None), "causal": (None, 0), "window": (5, 2)}
SHAPES = {  # n_queries, n_keys, d_head, d_value, n_heads, n_kv_heads
    "square": (24, 24, 3, 3, 2, 2),
    "one token": (1, 1, 2, 2, 1, 1),
    "grouped heads, other widths": (23, 23, 3, 5, 4, 2),
    "fewer keys": (13, 7, 2, 3, 2, 1),
    "more keys": (9, 21, 2, 3, 3, 3),
}


def sizes_of(shape, rule="everything", has_sink=False):
    n, m, d, d_value, heads, kv_heads = SHAPES[shape]
    back, ahead = RULES[rule]
    return Sizes(n, d, heads, m, d_value, kv_heads, back, ahead, has_sink, itemsize=8)


def counted(variant, sizes, rule, **options):
    """(multiply-adds, exponentials) of a variant that runs on counting arrays."""
    draw, tally = np.random.default_rng(0), Tally()
    q = draw.standard_normal((sizes.n_heads, sizes.n_queries, sizes.d_head))
    k = draw.standard_normal((sizes.n_kv_heads, sizes.n_keys, sizes.d_head))
    v = draw.standard_normal((sizes.n_kv_heads, sizes.n_keys, sizes.d_value))
    sink = np.zeros(sizes.n_heads) if sizes.has_sink else None
    made = {"everything": allowed.everything(), "causal": allowed.causal(), "window": allowed.window(5, 2)}[rule]
    given = Rule(allowed=made, sink=sink)
    mixed = variant(*(tally.array(a) for a in (q, k, v)), given, **options)
    plain = variant(q, k, v, given, **options)
    assert np.allclose(mixed.plain, plain, atol=1e-12)
    return tally.multiply_adds, tally.exponentials


def agree(found, sizes, variant, rule, **options):
    assert (found.multiply_adds, found.exponentials) == counted(variant, sizes, rule, **options)


@pytest.mark.parametrize(("rule", "has_sink"), [("everything", False), ("causal", True), ("window", False)])
@pytest.mark.parametrize("shape", SHAPES)
class TestExact:
    def test_full(self, shape, rule, has_sink):
        sizes = sizes_of(shape, rule, has_sink)
        agree(formulas.full(sizes), sizes, full, rule)

    @pytest.mark.parametrize("tile", [4, 64])
    def test_flash(self, shape, rule, has_sink, tile):
        sizes = sizes_of(shape, rule, has_sink)
        agree(formulas.flash(sizes, tile=tile), sizes, flash, rule, tile=tile, fast=False)

    @pytest.mark.parametrize("tile", [4, 64])
    @pytest.mark.parametrize("reach", [(3, 0), (4, 4)])
    def test_window(self, shape, rule, has_sink, tile, reach):
        sizes = sizes_of(shape, rule, has_sink)
        found = formulas.window(sizes.within(*reach), tile=tile)
        agree(found, sizes, window, rule, n_back=reach[0], n_ahead=reach[1], tile=tile, fast=False)

    @pytest.mark.parametrize("tile", [5, 64])
    @pytest.mark.parametrize("name", ["streaming", "strided", "top_k", "big_bird"])
    def test_sparse(self, shape, rule, has_sink, tile, name):
        sizes = sizes_of(shape, rule, has_sink)
        if name == "big_bird" and sizes.n_queries != sizes.n_keys:
            name = "streaming"
        pattern = {
            "streaming": patterns.streaming(2, 3),
            "strided": patterns.strided(4),
            "top_k": patterns.top_k(3),
            "big_bird": patterns.big_bird(sizes.n_keys, size=3),
        }[name]
        agree(formulas.sparse(sizes, pattern=pattern, tile=tile), sizes, sparse, rule, pattern=pattern, tile=tile)


@pytest.mark.parametrize("chunk", [4, 64])
@pytest.mark.parametrize("rule", ["everything", "causal"])
@pytest.mark.parametrize("shape", SHAPES)
def test_linear(shape, rule, chunk):
    sizes = sizes_of(shape, rule)
    agree(formulas.linear(sizes, chunk=chunk), sizes, linear, rule, chunk=chunk)
    random = formulas.linear(sizes, chunk=chunk, n_features=7)
    agree(random, sizes, linear, rule, chunk=chunk, features="random", n_features=7)


@pytest.mark.parametrize("shape", [shape for shape, (n, m, *_) in SHAPES.items() if n == m])
def test_lowrank(shape):
    sizes = sizes_of(shape)
    found = formulas.lowrank(sizes, n_landmarks=5, n_steps=3)
    agree(found, sizes, lowrank, "everything", n_landmarks=5, n_steps=3)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("shape", SHAPES)
def test_what_a_rule_lets_be_read_is_counted(shape, rule):
    sizes = sizes_of(shape, rule)
    made = {"everything": allowed.everything(), "causal": allowed.causal(), "window": allowed.window(5, 2)}[rule]
    block = made.block(np.arange(sizes.n_queries), np.arange(sizes.n_keys))
    assert formulas.n_read(sizes) == block.sum()


# bytes --------------------------------------------------------------------------------------------

WIDE = Sizes(n_queries=4096, d_head=64, n_heads=2)


def test_naive_attention_writes_and_reads_two_tables():
    given = 2 * 4096 * 64 * 4 * 4  # q, k, v and the result
    assert formulas.full(WIDE).moved_bytes == given + 2 * 2 * 2 * 4096**2 * 4


def test_where_all_fits_into_fast_memory_everything_passes_once():
    for found in (
        formulas.flash(WIDE, fast_bytes=2**40),
        formulas.window(WIDE.within(255, 0), fast_bytes=2**40),
        formulas.linear(WIDE, fast_bytes=2**40),
    ):
        assert found.moved_bytes == WIDE.given_bytes


def test_twice_the_fast_memory_halves_what_flash_moves():
    """Θ(n² d² / M), theorem 2 of Dao et al. 2022."""
    small, large = (formulas.flash(WIDE, fast_bytes=size).moved_bytes for size in (2**16, 2**17))
    assert small / large == pytest.approx(2, rel=0.05)
    longer = formulas.flash(WIDE.at(8192), fast_bytes=2**16).moved_bytes
    assert longer / small == pytest.approx(4, rel=0.05)


def test_heads_that_share_keys_read_them_once():
    shared = Sizes(n_queries=4096, d_head=64, n_heads=8, n_kv_heads=1)
    alone = Sizes(n_queries=4096, d_head=64, n_heads=8)
    few, many = (formulas.flash(sizes, fast_bytes=2**40) for sizes in (shared, alone))
    assert few.multiply_adds == many.multiply_adds
    assert many.moved_bytes - few.moved_bytes == 7 * shared.cache_bytes
    assert shared.cache_bytes * 8 == alone.cache_bytes


def test_a_causal_rule_halves_what_flash_computes_and_moves():
    causal = Sizes(n_queries=8192, d_head=64, n_heads=1, n_ahead=0)
    whole = Sizes(n_queries=8192, d_head=64, n_heads=1)
    for name in ("multiply_adds", "moved_bytes"):
        share = getattr(formulas.flash(causal, fast_bytes=2**16), name) / getattr(
            formulas.flash(whole, fast_bytes=2**16), name
        )
        assert share == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("variant", [formulas.window, formulas.linear, formulas.lowrank])
def test_what_grows_with_n_alone_doubles(variant):
    sizes = [WIDE.at(n).within(255, 0) if variant is formulas.window else WIDE.at(n) for n in (16384, 32768)]
    for name in ("multiply_adds", "exponentials", "moved_bytes", "held_bytes"):
        small, large = (getattr(variant(one), name) for one in sizes)
        assert large / small == pytest.approx(2, rel=0.05)


def test_sinks_behind_the_window_are_counted():
    causal = Sizes(n_queries=30, d_head=1, n_heads=1, n_ahead=0)
    pairs = [(i, j) for i in range(30) for j in range(i + 1)]
    wanted = sum(j < 3 and i - j > 5 for i, j in pairs)
    assert formulas.n_sunk(causal, 5, 3) == wanted
