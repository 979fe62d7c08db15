"""Generation with a cache: calls that bring the keys again are one sequence, whatever the cache does."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from jumok.sources.capture.capturing import Captured

D, HEADS, N = 8, 2, 7


class Cached(torch.nn.Module):
    """One attention layer that keeps its keys; ``most`` forgets the oldest of them."""

    def __init__(self, most=None):
        super().__init__()
        self.make, self.most, self.kept = torch.nn.Linear(D, 3 * D), most, None

    def forward(self, x):
        q, k, v = (part.reshape(1, -1, HEADS, D // HEADS).transpose(1, 2) for part in self.make(x).chunk(3, dim=-1))
        before = 0 if self.kept is None else self.kept[0].shape[2]
        if self.kept is not None:
            k, v = (torch.cat([old, new], dim=2) for old, new in zip(self.kept, (k, v), strict=True))
        if self.most is not None:
            k, v = k[:, :, -self.most :], v[:, :, -self.most :]
        self.kept = (k, v)
        n = q.shape[2]
        if n == 1:
            return torch.nn.functional.scaled_dot_product_attention(q, k, v)
        allowed = torch.ones(n, k.shape[2], dtype=torch.bool).tril(before)
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def grown(model, x, steps):
    """A reading of the parts one after the other."""
    with torch.no_grad(), Captured() as reading:
        for start, end in steps:
            model(x[:, start:end])
    return reading


@pytest.mark.parametrize(
    "steps", [[(0, N)], [(0, 4), (4, 5), (5, 6), (6, 7)], [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7)], [(0, 3), (3, 6), (6, 7)]]
)  # fmt: skip
def test_however_it_is_cut_up_it_is_the_same_sequence(steps):
    model, x = Cached().eval(), torch.randn(1, N, D)
    whole = grown(model, x, [(0, N)])
    model.kept = None
    reading = grown(model, x, steps)
    assert not reading.refused
    assert [len(one) for one in reading.readings] == [1]
    assert np.array_equal(reading[0].allowed, np.tril(np.ones((N, N), dtype=bool)))
    assert np.allclose(reading[0].weights, whole[0].weights, atol=1e-6)
    assert np.allclose(reading[0].mixed, whole[0].mixed, atol=1e-6)


def test_a_cache_that_forgets_is_a_window():
    model, x = Cached(most=3).eval(), torch.randn(1, N, D)
    reading = grown(model, x, [(at, at + 1) for at in range(N)])
    assert len(reading.readings) == 1
    places = np.arange(N)
    back = places[:, None] - places
    assert np.array_equal(reading[0].allowed, (back >= 0) & (back < 3))


def test_another_text_is_another_sequence():
    model, x = Cached().eval(), torch.randn(1, N, D)
    with torch.no_grad(), Captured() as reading:
        model(x[:, :4])
        model.kept = None
        model(-x[:, :4])
    assert [one[0].n_queries for one in reading.readings] == [4, 4]


def test_one_query_without_a_cache_stands_alone():
    model, x = Cached().eval(), torch.randn(1, N, D)
    with torch.no_grad(), Captured() as reading:
        for at in range(3):
            model.kept = None
            model(x[:, at : at + 1])
    assert [one[0].n_queries for one in reading.readings] == [1, 1, 1]
