"""Window attention: every window on every shape, PyTorch's overlapping tiles and their gradient, what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from cases import drawn
from jumok import Rule, allowed, variants
from jumok.errors import InputError

WINDOWS = {
    "the token alone": allowed.window(0),
    "back": allowed.window(3),
    "back and ahead": allowed.window(5, 2),
    "ahead only": allowed.window(0, 4),
    "a cache": allowed.window(3, 0, 4),
    "wider than the text": allowed.window(100),
    "all that is ahead": allowed.window(2, 100),
    "beyond the keys": allowed.window(3, 0, 60),
    "partly beyond the keys": allowed.window(3, 0, 30),
    "causal and window": allowed.causal() & allowed.window(4, 4),
    "causal": allowed.causal(),
    "everything": allowed.everything(),
}
SHAPES = [(37, 41), (41, 37), (1, 9), (9, 1), (64, 64)]


def given(n: int, m: int) -> list[Any]:
    return [torch.from_numpy(drawn(*shape, seed=1)) for shape in ((2, 4, n, 8), (2, 2, m, 8), (2, 2, m, 6))]


@pytest.mark.parametrize("name", WINDOWS)
def test_every_window_on_every_shape_is_full_attention(name: str) -> None:
    for n, m in SHAPES:
        arrays, rule = given(n, m), WINDOWS[name]
        wanted = variants.full(*arrays, rule)
        for tile in (1, 7, 16, 1000):
            for fast in (True, False):
                got = variants.window(*arrays, rule, tile=tile, fast=fast)
                torch.testing.assert_close(got, wanted, rtol=1e-12, atol=1e-12, msg=f"{n}, {m}, {tile}, {fast}")


def test_the_overlapping_tiles_hand_the_gradient_on() -> None:
    def gradients(variant: Any) -> Any:
        arrays = [array.requires_grad_() for array in given(37, 41)]
        return torch.autograd.grad(variant(*arrays, allowed.window(5, 2)).square().sum(), arrays)

    for got, wanted in zip(gradients(lambda *a: variants.window(*a, tile=8)), gradients(variants.full), strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-11, atol=1e-12)


def test_a_window_of_256_tokens_is_255_back() -> None:
    q, k, v = (drawn(1, 300, 4, seed=at) for at in range(3))
    at = np.arange(300)
    table = (at[:, None] >= at[None, :]) & (at[:, None] - at[None, :] < 256)
    np.testing.assert_allclose(
        variants.window(q, k, v, n_back=255), variants.full(q, k, v, table), rtol=1e-12, atol=1e-14
    )


def test_a_window_goes_on_top_of_any_rule() -> None:
    q, k, v = (drawn(2, 20, 4, seed=at) for at in range(3))
    rule = Rule(0.4, allowed.causal() & allowed.document([0] * 8 + [1] * 12), 3.0, sink=drawn(2))
    wanted = variants.full(q, k, v, Rule(0.4, rule.allowed & allowed.window(3), 3.0, sink=rule.sink))
    np.testing.assert_allclose(
        variants.window(q, k, v, rule, n_back=3, n_ahead=0, tile=6), wanted, rtol=1e-12, atol=1e-14
    )


def test_no_table_is_made_on_pytorch() -> None:
    """The largest tensor that any operation makes is far below n × n, forward and in what is kept for the backward."""
    n, largest = 2048, 0

    class Noted(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            nonlocal largest
            made = func(*args, **(kwargs or {}))
            if isinstance(made, torch.Tensor):
                largest = max(largest, made.untyped_storage().nbytes())
            return made

    q, k, v = (torch.randn(1, 1, n, 4) for _ in range(3))
    with Noted(), torch.no_grad():
        variants.window(q, k, v, allowed.window(63))
    assert 0 < largest < n * n / 4


@pytest.mark.parametrize(
    ("options", "en", "ko"),
    [
        ({"n_back": -1}, "n_back expects a whole number of tokens from 0", "n_back에는 0부터"),
        ({"n_back": 2.5}, "n_back expects", "n_back에는"),
        ({"n_back": 2, "n_ahead": -1}, "n_ahead expects", "n_ahead에는"),
        ({"n_ahead": 2}, "n_ahead=2 is the other end of a window that n_back begins", "n_back도 주십시오"),
        ({"tile": 0}, "tile expects a whole number, 1 or more", "tile에는 1 이상"),
        ({"fast": "yes"}, "fast expects True or False", "fast에는"),
    ],
)
def test_what_is_no_window_is_refused(options: dict[str, Any], en: str, ko: str) -> None:
    one = np.ones((1, 3, 2))
    with pytest.raises(InputError, match=en) as told:
        variants.window(one, one, one, **options)
    assert ko in told.value.ko
