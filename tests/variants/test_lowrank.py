"""Low-rank attention: exact where every token is a landmark, nearer with more landmarks, other rules refused."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
import torch

from cases import drawn
from jumok import Rule, allowed, positions, variants
from jumok.errors import InputError
from libraries import Library

lowrank_module = importlib.import_module("jumok.variants.lowrank")


@pytest.mark.parametrize("rule", [None, Rule(scale=0.3), Rule(softcap=1.5)], ids=["plain", "scale", "soft cap"])
def test_with_every_token_a_landmark_it_is_full_attention(rule: Any, library: Library) -> None:
    if library.compiles and rule is not None:
        return
    numbers = [drawn(*shape, seed=1) for shape in ((2, 4, 6, 8), (2, 4, 6, 8), (2, 4, 6, 3))]
    got = library.numpy(variants.lowrank(*map(library.array, numbers), rule, n_landmarks=6, n_steps=25))
    np.testing.assert_allclose(got, variants.full(*numbers, rule), rtol=1e-7, atol=1e-8)


def test_grouped_heads_share_their_landmarks() -> None:
    q, k, v = (drawn(*shape, seed=2) for shape in ((4, 12, 8), (2, 10, 8), (2, 10, 3)))
    shared = variants.lowrank(q, k, v, n_landmarks=4)
    apart = variants.lowrank(q, k.repeat(2, 0), v.repeat(2, 0), n_landmarks=4)
    np.testing.assert_allclose(shared, apart, rtol=1e-12, atol=1e-13)


def test_landmarks_are_means_of_even_stretches() -> None:
    tokens = np.arange(10.0)[None, :, None]
    assert lowrank_module._landmarks(tokens, 3)[0, :, 0].tolist() == [1.0, 4.0, 7.5]
    assert lowrank_module._landmarks(tokens, 99)[0, :, 0].tolist() == list(range(10))


def test_the_inverse_by_products_is_the_pseudo_inverse() -> None:
    table = np.exp(drawn(3, 5, 5))
    table /= table.sum(-1, keepdims=True)
    np.testing.assert_allclose(lowrank_module._inverse(table, 30), np.linalg.pinv(table), rtol=1e-7, atol=1e-7)


def test_smooth_texts_need_few_landmarks() -> None:
    """Where neighbours are alike, so are their means: the error falls with the landmarks and is small with a quarter."""
    at = np.linspace(0, 3, 64)
    q = np.stack([np.cos(at), np.sin(at), np.cos(2 * at)], -1)[None] * 2
    wanted = variants.full(q, q, q)
    errors = [np.abs(variants.lowrank(q, q, q, n_landmarks=n, n_steps=20) - wanted).max() for n in (2, 4, 16)]
    assert errors[0] > 5 * errors[2]
    assert errors[2] < 0.01


REFUSED = {
    "causal": ("causal", "'causal'"),
    "window": (allowed.window(2), "'window'"),
    "bias": (Rule(bias=positions.alibi([0.5])), "bias"),
    "sink": (Rule(sink=[0.5]), "sink"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_rule_that_landmarks_cannot_follow_is_refused(name: str) -> None:
    rule, what = REFUSED[name]
    q, k, v = (drawn(1, 5, 3, seed=at) for at in range(3))
    with pytest.raises(InputError, match=f"this rule has .*{what}") as told:
        variants.lowrank(q, k, v, rule)
    assert what in told.value.ko


@pytest.mark.parametrize("options", [{"n_landmarks": 0}, {"n_landmarks": 2.0}, {"n_steps": 0}])
def test_options_of_the_wrong_kind_are_refused(options: Any) -> None:
    one = np.ones((1, 3, 2))
    with pytest.raises(InputError, match=f"{next(iter(options))} expects a whole number, 1 or more"):
        variants.lowrank(one, one, one, **options)


def test_its_gradient_is_pytorchs() -> None:
    q, k, v = (torch.from_numpy(drawn(1, 6, 3, seed=at)).requires_grad_() for at in range(3))
    assert torch.autograd.gradcheck(lambda *a: variants.lowrank(*a, n_landmarks=3), (q, k, v))


@pytest.mark.parametrize(("n_queries", "n_keys"), [(3, 40), (40, 3), (1, 7)])
def test_fewer_queries_than_landmarks_of_keys_or_the_other_way_round(n_queries: int, n_keys: int) -> None:
    q, k, v = (drawn(*shape, seed=3) for shape in ((2, n_queries, 8), (2, n_keys, 8), (2, n_keys, 3)))
    got = variants.lowrank(q, k, v, n_landmarks=64, n_steps=40)
    np.testing.assert_allclose(got, variants.full(q, k, v), rtol=1e-6, atol=1e-7)


def test_no_more_steps_than_help() -> None:
    one = np.ones((1, 3, 2))
    with pytest.raises(InputError, match="at most 1000, got 1,000,000,000"):
        variants.lowrank(one, one, one, n_steps=10**9)
