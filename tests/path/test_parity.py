"""Side by side with PyTorch's own attention, in float64 and float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from jumok.path import Rule, Steps, attend
from jumok.path.allowed import causal, padding, table
from jumok.path.positions import alibi, alibi_slopes

CLOSE = {torch.float64: 1e-12, torch.float32: 2e-6}
dtypes = pytest.mark.parametrize("dtype", CLOSE, ids=str)


def drawn(dtype: Any, *shape: int, seed: int = 0) -> Any:
    return torch.from_numpy(np.random.default_rng([seed, *shape]).standard_normal(shape)).to(dtype)


def qkv(dtype: Any, heads: int = 4, kv_heads: int = 4, n: int = 7, m: int = 7) -> Any:
    return (
        drawn(dtype, 2, heads, n, 8),
        drawn(dtype, 2, kv_heads, m, 8, seed=1),
        drawn(dtype, 2, kv_heads, m, 6, seed=2),
    )


def close(got: Any, wanted: Any) -> None:
    assert got.dtype == wanted.dtype
    torch.testing.assert_close(got, wanted, rtol=CLOSE[got.dtype], atol=CLOSE[got.dtype])


@dtypes
@pytest.mark.parametrize(("n", "m"), [(7, 7), (3, 7), (7, 3)])
def test_plain_and_causal_are_pytorchs(dtype: Any, n: int, m: int) -> None:
    """Also for n ≠ m, where both align the triangle top-left."""
    q, k, v = qkv(dtype, n=n, m=m)
    close(Steps(q, k, v).mixed, scaled_dot_product_attention(q, k, v))
    close(Steps(q, k, v, Rule(allowed=causal())).mixed, scaled_dot_product_attention(q, k, v, is_causal=True))


@dtypes
def test_scale_masks_and_shared_heads_are_pytorchs(dtype: Any) -> None:
    q, k, v = qkv(dtype, kv_heads=2)
    allowed = drawn(dtype, 7, 7, seed=5) > -0.5
    allowed[:, 0] = True
    wanted = scaled_dot_product_attention(q, k, v, attn_mask=allowed, scale=0.3, enable_gqa=True)
    close(Steps(q, k, v, Rule(0.3, table(allowed))).mixed, wanted)


@dtypes
def test_a_batch_with_padding_is_pytorchs(dtype: Any) -> None:
    q, k, v = qkv(dtype)
    real = torch.tensor([[True] * 5 + [False] * 2, [True] * 7])
    wanted = scaled_dot_product_attention(q, k, v, attn_mask=real[:, None, None, :])
    close(Steps(q, k, v, Rule(allowed=padding(real))).mixed, wanted)


@dtypes
def test_a_position_bias_is_pytorchs_additive_mask(dtype: Any) -> None:
    q, k, v = qkv(dtype)
    slopes = alibi_slopes(4)
    distance = torch.arange(7)[:, None] - torch.arange(7)
    bias = (-torch.from_numpy(slopes)[:, None, None] * distance.abs()).to(dtype)
    close(Steps(q, k, v, Rule(bias=alibi(slopes))).mixed, scaled_dot_product_attention(q, k, v, attn_mask=bias))


@dtypes
def test_a_row_that_reads_nothing_is_0_as_in_pytorch(dtype: Any) -> None:
    q, k, v = qkv(dtype)
    allowed = torch.ones(7, 7, dtype=torch.bool)
    allowed[3] = False
    mixed = Steps(q, k, v, Rule(allowed=allowed)).mixed
    close(mixed, scaled_dot_product_attention(q, k, v, attn_mask=allowed))
    assert (mixed[:, :, 3] == 0).all()


@dtypes
@pytest.mark.parametrize("rule", [None, "causal"])
def test_many_heads_are_pytorchs_module(dtype: Any, rule: Any) -> None:
    torch.manual_seed(0)
    module = torch.nn.MultiheadAttention(12, 3, batch_first=True, dtype=dtype)
    x = drawn(dtype, 2, 5, 12)
    hidden = torch.triu(torch.ones(5, 5, dtype=torch.bool), 1) if rule else None
    wanted, weights = module(x, x, x, attn_mask=hidden, average_attn_weights=False)
    w_q, w_k, w_v = module.in_proj_weight.T.chunk(3, dim=1)
    got = attend(x, w_q, w_k, w_v, module.out_proj.weight.T, n_heads=3, rule=rule)  # its biases start at 0
    close(got.weights, weights)
    close(got.output, wanted)
