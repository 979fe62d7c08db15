"""Positions against their formulas, one number at a time, and against what released models compute."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

import reference as ref
from jumok.path import Rule
from jumok.path.allowed import causal, document, table, window
from jumok.path.positions import Rotary, alibi, alibi_slopes, relative, sinusoidal, t5
from libraries import LIBRARIES


def released_bucket(ahead: torch.Tensor, bidirectional: bool, n_buckets: int, max_distance: int) -> torch.Tensor:
    """The bucket as the released T5 computes it, in float32: the logarithm of Raffel et al. (2020)."""
    first = torch.zeros_like(ahead)
    if bidirectional:
        n_buckets //= 2
        first = (ahead > 0) * n_buckets
        distance = ahead.abs()
    else:
        distance = (-ahead).clamp(min=0)
    exact = n_buckets // 2
    far = torch.log(distance.float() / exact) / math.log(max_distance / exact) * (n_buckets - exact)
    far = (exact + far.clamp(min=0).long()).clamp(max=n_buckets - 1)
    return first + torch.where(distance < exact, distance, far)


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(
    ("n_buckets", "max_distance"), [(32, 128), (32, 127), (8, 5), (8, 20), (12, 100), (64, 300), (4, 3)]
)
def test_every_distance_falls_into_the_released_bucket(bidirectional: bool, n_buckets: int, max_distance: int) -> None:
    """Also where a bucket begins exactly at a whole distance, in any array library."""
    reach = 400
    bias = t5(np.arange(n_buckets, dtype=float)[:, None], bidirectional, max_distance)
    positions = np.arange(2 * reach + 1)
    got = bias.block(positions[reach : reach + 1], positions)[0, 0]
    ahead = torch.arange(-reach, reach + 1)
    np.testing.assert_array_equal(got, released_bucket(ahead, bidirectional, n_buckets, max_distance).numpy())
    by_loop = [ref.t5_bucket(offset, bidirectional, n_buckets, max_distance) for offset in ahead.tolist()]
    np.testing.assert_array_equal(got, by_loop)


def test_the_published_slopes() -> None:
    np.testing.assert_array_equal(alibi_slopes(8), [2.0**-i for i in range(1, 9)])
    np.testing.assert_allclose(alibi_slopes(16), [2.0 ** (-i / 2) for i in range(1, 17)])
    np.testing.assert_allclose(alibi_slopes(12), [*alibi_slopes(8), *alibi_slopes(16)[0:8:2]])
    assert alibi_slopes(1).tolist() == [2.0**-8]


@pytest.mark.parametrize(("n_tokens", "d_model"), [(1, 1), (7, 4), (30, 5)])
def test_the_sinusoidal_code_is_the_formula(n_tokens: int, d_model: int) -> None:
    np.testing.assert_allclose(sinusoidal(n_tokens, d_model), ref.sinusoidal(n_tokens, d_model), rtol=0, atol=1e-13)


@pytest.mark.parametrize("interleaved", [True, False])
def test_a_far_position_turns_as_the_formula_says(interleaved: bool) -> None:
    q = np.arange(1.0, 9.0).reshape(1, 1, 8)
    for position in (0, 1, 4095, 100_000):
        got = Rotary(interleaved=interleaved, offset=position).turned(q)[0, 0]
        np.testing.assert_allclose(got, ref.rotated(q[0, 0].tolist(), position, interleaved), rtol=1e-9)


@pytest.mark.parametrize("name", sorted(LIBRARIES.keys() - {"strict"}))  # the standard itself has no float16
def test_half_precision_does_not_lose_count(name: str) -> None:
    """In float16 the positions 4095 and 4096 would be one; angles and distances are counted in float32."""
    library = LIBRARIES[name].ready()
    q = library.array(np.ones((1, 1, 4), np.float16))
    got = library.numpy(Rotary(offset=4095).turned(q))
    assert got.dtype == np.float16
    np.testing.assert_allclose(got[0, 0], ref.rotated([1.0] * 4, 4095, False), atol=2e-3)
    slopes, far = library.array(np.ones(1, np.float16)), library.array(np.array([4095]))
    assert library.numpy(alibi(slopes).block(far, library.array(np.array([0])))).tolist() == [[[-4095.0]]]


def test_float32_turns_as_float64_does() -> None:
    q = np.random.default_rng(0).standard_normal((2, 50, 8)).astype(np.float32)
    got = Rotary(offset=7).turned(q)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, Rotary(offset=7).turned(q.astype(np.float64)), atol=2e-5)


def test_beyond_a_relative_vector_its_ends_hold() -> None:
    bias = relative([[1.0, 0.0, 2.0]])
    np.testing.assert_array_equal(bias.block(np.array([5]), np.arange(10))[0, 0], [1, 1, 1, 1, 1, 0, 2, 2, 2, 2])


def rules() -> list[Any]:
    """Rules that all differ."""
    yes = np.eye(2, dtype=bool)
    return [
        None,
        "causal",
        causal(1),
        window(1),
        window(1, 1),
        window(1, 0, 1),
        document([0, 1]),
        document([1, 0]),
        table(yes),
        table(~yes),
        causal() & window(1),
        window(1) & causal(),
        causal() | window(1),
        Rule(scale=2),
        Rule(softcap=2),
        Rule(sink=[0.0]),
        Rule(sink=[1.0]),
        Rule(bias=alibi([1.0])),
        Rule(bias=alibi([1.0], 1)),
        Rule(bias=alibi(np.ones(1, np.float32))),
        Rule(bias=relative([[1.0]])),
        Rule(bias=alibi([1.0]) + alibi([1.0])),
    ]


def test_rules_are_equal_by_what_they_say() -> None:
    for i, one in enumerate(map(Rule.of, rules())):
        for j, other in enumerate(map(Rule.of, rules())):
            assert (one == other) is (i == j)
            assert one != other or hash(one) == hash(other)
    assert Rule() != "rule"
    assert Rule.of(table(np.eye(2, dtype=bool))) == Rule(allowed=[[True, False], [False, True]])
    assert Rule.of("none") == Rule.of("everything") == Rule.of(None)
