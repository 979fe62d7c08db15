"""Linear attention: its three forms agree, random features come near softmax at the stated rate, other rules are refused."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch

from cases import drawn
from jumok import Rule, allowed, positions, variants
from jumok.errors import InputError, OverflowRefused, TooLargeError, UnknownName
from jumok.variants.features import Elu, PositiveRandom, directions
from libraries import Library

REAL = drawn(13) > -0.7
RULES = {
    "everything": lambda a: None,
    "causal": lambda a: "causal",
    "a cache": lambda a: allowed.causal(3),
    "a cache longer than the keys": lambda a: allowed.causal(30),
    "padding": lambda a: allowed.padding(a(REAL)),
    "causal and padding": lambda a: allowed.causal() & allowed.padding(a(REAL)),
}
FORMS = [{"form": "recurrent"}, {"chunk": 1}, {"chunk": 4}, {"chunk": 100}, {"form": "quadratic"}]


def by_loop(q: Any, k: Any, v: Any, phi: Any, block: Any) -> Any:
    """Each value weighted by φ(q) · φ(k), as a beginner would write it; a row that reads nothing is 0."""
    mixed = np.zeros((*q.shape[:-1], v.shape[-1]))
    for head, i in itertools.product(range(q.shape[0]), range(q.shape[1])):
        kv = head // (q.shape[0] // k.shape[0])
        weights = {j: float(phi(q[head, i]) @ phi(k[kv, j])) for j in range(k.shape[1]) if block[i, j]}
        total = sum(weights.values())
        for j, weight in weights.items():
            mixed[head, i] += weight / total * v[kv, j]
    return mixed


def elu(x: Any) -> Any:
    return np.where(x > 0, x + 1, np.exp(x))


@pytest.mark.parametrize("n", [1, 11, 17])
@pytest.mark.parametrize("name", RULES)
def test_all_forms_are_the_loop(name: str, n: int, library: Library) -> None:
    if library.compiles and (name, n) != ("causal and padding", 11):
        return
    numbers = [drawn(*shape, seed=1) for shape in ((4, n, 5), (2, 13, 5), (2, 13, 3))]
    rule = Rule.of(RULES[name](library.array))
    block = Rule.of(RULES[name](np.array)).allowed.block(np.arange(n), np.arange(13))
    wanted = by_loop(*numbers, elu, block)
    for options in FORMS[2:3] if library.compiles else FORMS:
        got = library.numpy(variants.linear(*map(library.array, numbers), rule, **options))
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-13, err_msg=str(options))


@pytest.mark.parametrize("name", ["everything", "causal", "causal and padding"])
def test_all_forms_agree_with_random_features(name: str) -> None:
    q, k, v = (torch.from_numpy(drawn(2, *shape, seed=1)) for shape in ((4, 11, 5), (2, 13, 5), (2, 13, 3)))
    made = [
        variants.linear(q, k, v, RULES[name](torch.from_numpy), features="random", n_features=9, seed=3, **options)
        for options in FORMS
    ]
    for other in made[1:]:
        torch.testing.assert_close(other, made[0], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("rule", [None, "causal"])
def test_random_features_come_near_softmax_as_one_over_the_root_of_their_number(rule: Any) -> None:
    """Sixteen times as many features, a quarter of the error: Choromanski et al., theorem 1 (mean over 40 draws).

    For q and k of about one: the variance grows as exp(|q + k|²), so that far longer ones need far more features.
    """
    q, k, v = (drawn(1, 12, 4, seed=at) for at in range(3))
    q, k = q / 2, k / 2
    wanted = variants.full(q, k, v, rule)

    def error(n_features: int) -> float:
        squares = [
            np.mean((variants.linear(q, k, v, rule, features="random", n_features=n_features, seed=seed) - wanted) ** 2)
            for seed in range(40)
        ]
        return float(np.sqrt(np.mean(squares)))

    few, many = error(64), error(1024)
    assert 3.0 < few / many < 5.3
    assert many < 0.05


def test_random_features_are_unbiased_and_their_scale_counts() -> None:
    """The mean of φ(q) · φ(k) over draws is exp(scale · q · k), up to one factor a row and one a head."""
    q, k = drawn(1, 1, 4, seed=1), drawn(1, 3, 4, seed=2)
    products = np.zeros(3)
    for seed in range(400):
        phi = PositiveRandom(64, 0.3, seed)
        power_q, power_k = phi._power(q), phi._power(k)
        products += (np.exp(power_q) @ np.exp(power_k).transpose(0, 2, 1))[0, 0] / 64
    np.testing.assert_allclose(products / 400, np.exp(0.3 * (q @ k.transpose(0, 2, 1)))[0, 0], rtol=0.03)


def test_directions_are_orthogonal_in_groups_and_as_long_as_normal_draws() -> None:
    w = directions(8, 20, 0)
    assert w.shape == (8, 20)
    for group in (w[:, :8], w[:, 8:16]):
        gram = group.T @ group
        assert np.abs(gram - np.diag(np.diag(gram))).max() < 1e-12
    lengths = np.linalg.norm(directions(8, 4000, 1), axis=0)
    assert abs(np.mean(lengths**2) - 8) < 0.3


def test_the_slope_of_its_features_is_right_at_0_too() -> None:
    x = torch.tensor([[[-1.0, 0.0, 2.0]]], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(Elu().of_queries(x).sum(), x)
    torch.testing.assert_close(slope, torch.tensor([[[np.exp(-1.0), 1.0, 1.0]]]))


def test_large_numbers_do_not_overflow() -> None:
    q, k, v = (60 * drawn(1, 7, 4, seed=at).astype(np.float32) for at in range(3))
    assert np.isfinite(variants.linear(q, k, v, "causal", features="random")).all()
    assert np.isfinite(variants.linear(q, k, v, "causal")).all()


REFUSED = {
    "window": (allowed.window(2), {}, "'window'"),
    "or": (allowed.causal() | allowed.window(0, 1), {}, "'either'"),
    "table": (np.ones((5, 5), bool), {}, "'table'"),
    "causal and document": (allowed.causal() & allowed.document([0] * 5), {}, "'document'"),
    "soft cap": (Rule(softcap=2.0), {}, "softcap"),
    "bias": (Rule(bias=positions.alibi([0.5])), {}, "bias"),
    "sink": (Rule(sink=[0.5]), {}, "sink"),
    "scale, with elu": (Rule(scale=0.3), {}, "scale"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_rule_that_a_sum_cannot_follow_is_refused(name: str) -> None:
    rule, options, what = REFUSED[name]
    q, k, v = (drawn(1, 5, 3, seed=at) for at in range(3))
    with pytest.raises(InputError, match=f"this rule has .*{what}") as told:
        variants.linear(q, k, v, rule, **options)
    assert what in told.value.ko
    assert "선형 어텐션" in told.value.ko


@pytest.mark.parametrize(
    ("options", "kind", "en"),
    [
        ({"features": "softmax"}, UnknownName, "features expects one of elu, random, got 'softmax'"),
        ({"features": None}, UnknownName, "features expects one of elu, random"),
        ({"form": "fast"}, UnknownName, "form expects one of chunked, recurrent, quadratic, got 'fast'"),
        ({"chunk": 0}, InputError, "chunk expects a whole number, 1 or more"),
        ({"features": "random", "n_features": 0}, InputError, "n_features expects a whole number, 1 or more"),
        ({"features": "random", "seed": -1}, InputError, "seed expects a whole number, 0 or more"),
    ],
)
def test_options_of_the_wrong_kind_are_refused(options: Any, kind: Any, en: str) -> None:
    one = np.ones((1, 3, 2))
    with pytest.raises(kind, match=en) as told:
        variants.linear(one, one, one, **options)
    assert "필요한데" in told.value.ko


def test_the_usual_scale_written_out_is_no_other_rule() -> None:
    q, k, v = (drawn(2, 6, 4, seed=5) for _ in range(3))
    np.testing.assert_array_equal(variants.linear(q, k, v, Rule(scale=0.5)), variants.linear(q, k, v))


@pytest.mark.parametrize("form", ["chunked", "recurrent", "quadratic"])
@pytest.mark.parametrize(("dtype", "size"), [("float64", 1e200), ("float32", 1e30)])
def test_sums_that_do_not_fit_are_refused(form: str, dtype: str, size: float) -> None:
    q, k, v = (np.ones((1, 3, 2), dtype) * size for _ in range(3))
    with pytest.raises(OverflowRefused, match="the sum of features · values"):
        variants.linear(q, k, v / np.asarray(size, dtype), form=form)


def test_what_does_not_fit_in_memory_is_refused_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    long = np.zeros((1, 10**6, 1), np.float32)
    with pytest.raises(TooLargeError, match=r"21,000.0 GB of tables.*chunked") as refusal:
        variants.linear(long, long, long, form="quadratic")
    assert refusal.value.bytes_needed > 10**13
    monkeypatch.setattr(PositiveRandom, "of_queries", None)
    with pytest.raises(TooLargeError, match="1,000,000,000,000 random features would hold"):
        variants.linear(long[:, :4], long[:, :4], long[:, :4], features="random", n_features=10**12)
