"""Attention as people write it by hand: each style a small program that also hands out its own weights."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from programs import agree, captured

B, H, N, D = 2, 3, 5, 4
E = H * D
TRIANGLE = torch.ones(N, N, dtype=torch.bool).tril()
LOW = torch.full((N, N), -1e9).triu(1)


@pytest.fixture(autouse=True)
def _seed():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


def inputs():
    """q, k, v as (batch, head, token, width)."""
    return tuple(torch.randn(B, H, N, D) for _ in range(3))


def together(mixed):
    """Heads side by side, as before an output projection."""
    return mixed.transpose(1, 2).reshape(B, N, E)


STYLES = {}


def style(program):
    """One way to write attention: takes q, k, v, returns its weights (batch, head, query, key) and its output."""
    STYLES[program.__name__] = program
    return program


@style
def matmul_and_masked_fill(q, k, v):
    weights = (q @ k.transpose(-2, -1) / math.sqrt(D)).masked_fill(~TRIANGLE, float("-inf")).softmax(-1)
    return weights, together(weights @ v)


@style
def masked_fill_with_a_low_number(q, k, v):
    weights = torch.softmax(torch.matmul(q, k.mT).masked_fill(TRIANGLE == 0, -1e9) / math.sqrt(D), dim=-1)
    return weights, together(weights @ v)


@style
def added_mask(q, k, v):
    weights = F.softmax(torch.matmul(q, k.transpose(2, 3)) * D**-0.5 + LOW, dim=-1)
    return weights, together(torch.matmul(weights, v))


@style
def bmm_and_baddbmm(q, k, v):
    flat = [one.reshape(B * H, N, D) for one in (q, k, v)]
    scores = torch.baddbmm(LOW.expand(B * H, N, N), flat[0], flat[1].transpose(1, 2), beta=1.0, alpha=0.5)
    weights = scores.softmax(2)
    return weights.view(B, H, N, N), together(torch.bmm(weights, flat[2]).view(B, H, N, D))


@style
def baddbmm_into_an_empty_tensor(q, k, v):
    flat = [one.reshape(B * H, N, D) for one in (q, k, v)]
    weights = torch.baddbmm(torch.empty(B * H, N, N), flat[0], flat[1].mT, beta=0, alpha=0.5).softmax(2)
    return weights.view(B, H, N, N), together(torch.bmm(weights, flat[2]).view(B, H, N, D))


@style
def einsum(q, k, v):
    weights = torch.einsum("bhqd,bhkd->bhqk", q, k).mul(0.5).softmax(-1)
    return weights, together(torch.einsum("bhqk,bhkd->bhqd", weights, v))


@style
def einsum_with_heads_last(q, k, v):
    q, k, v = (one.transpose(1, 2) for one in (q, k, v))
    weights = torch.einsum("bqhd,bkhd->bhqk", q * 0.5, k).softmax(-1)
    return weights, torch.einsum("bhqk,bkhd->bqhd", weights, v).reshape(B, N, E)


@style
def einsum_in_an_odd_order(q, k, v):
    scores = torch.einsum("nhid,nhjd->ijnh", q, k) / 2
    weights = scores.softmax(dim=1)
    return weights.permute(2, 3, 0, 1), torch.einsum("ijnh,nhjd->inhd", weights, v).flatten(2).transpose(0, 1)


@style
def einsum_with_the_output_projection(q, k, v):
    weights = torch.einsum("bhqd,bhkd->bhqk", q, k).softmax(-1)
    out = torch.einsum("bhqk,bhkd->bhqd", weights, v)
    return weights, torch.einsum("bhqd,hde->bqe", out, torch.ones(H, D, E))


@style
def torch_where(q, k, v):
    weights = torch.where(TRIANGLE, q @ k.mT / 2, torch.tensor(-1e30)).softmax(-1)
    return weights, together(weights @ v)


@style
def torch_where_with_a_number(q, k, v):
    weights = torch.where(~TRIANGLE, float("-inf"), q @ k.mT / 2).softmax(-1)
    return weights, together(weights @ v)


@style
def a_mask_made_with_where(q, k, v):
    weights = (q @ k.mT / 2 + torch.where(TRIANGLE, 0.0, -torch.inf)).softmax(-1)
    return weights, together(weights @ v)


@style
def one_less_the_mask_times_a_low_number(q, k, v):
    weights = (q @ k.mT / 2 + (1.0 - TRIANGLE.float()) * -10000.0).softmax(-1)
    return weights, together(weights @ v)


@style
def exponentials_over_their_sum(q, k, v):
    e = torch.exp(q @ k.mT / 2)
    weights = e / e.sum(-1, keepdim=True)
    return weights, together(weights @ v)


@style
def exponentials_less_the_largest(q, k, v):
    scores = torch.where(TRIANGLE, q @ k.mT / 2, torch.tensor(-1e30))
    e = (scores - scores.max(-1, keepdim=True).values).exp()
    weights = e / e.sum(dim=-1, keepdim=True)
    return weights, together(weights @ v)


@style
def exponentials_times_the_mask_divided_at_the_end(q, k, v):
    e = torch.exp(q @ k.mT / 2 - torch.amax(q @ k.mT / 2, -1, keepdim=True)) * TRIANGLE
    return e / e.sum(-1, keepdim=True), together((e @ v) / e.sum(-1).unsqueeze(-1))


@style
def logarithms_first(q, k, v):
    weights = F.log_softmax(q @ k.mT / 2, -1).exp()
    return weights, together(weights @ v)


@style
def scores_less_their_logsumexp(q, k, v):
    scores = q @ k.mT / 2
    weights = torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))
    return weights, together(weights @ v)


@style
def transposed(q, k, v):
    weights = (k @ q.mT / 2).softmax(-2)
    return weights.mT, together((v.mT @ weights).mT)


@style
def transposed_back(q, k, v):
    weights = (k @ q.mT / 2).softmax(-2).transpose(-1, -2)
    return weights, together(weights @ v)


@style
def q_scaled_before(q, k, v):
    weights = (q * D**-0.5 @ k.mT).softmax(-1)
    return weights, together(weights @ v)


@style
def q_and_k_scaled_by_a_root(q, k, v):
    weights = ((q / D**0.25) @ (k / D**0.25).mT).softmax(-1)
    return weights, together(weights @ v)


@style
def in_place(q, k, v):
    scores = q @ k.mT
    scores /= math.sqrt(D)
    scores.masked_fill_(~TRIANGLE, -torch.inf)
    scores.add_(torch.ones(N, N))
    scores.mul_(0.5)
    weights = scores.softmax(-1)
    return weights, together(weights @ v)


@style
def softmax_in_float64_then_cast(q, k, v):
    weights = F.softmax(q @ k.mT / 2, dim=-1, dtype=torch.float64).to(q.dtype)
    return weights, together(weights @ v)


@style
def softmax_by_float_and_type_as(q, k, v):
    weights = (q @ k.mT / 2).float().softmax(-1).type_as(q)
    return weights, together(weights @ v)


@style
def dropout_at_rest(q, k, v):
    weights = F.dropout((q @ k.mT / 2).softmax(-1), 0.5, training=False)
    return weights, together(nn.Dropout(0.3).eval()(weights) @ v)


@style
def a_loop_over_heads(q, k, v):
    tables = [(q[:, h] @ k[:, h].mT / 2).softmax(-1) for h in range(H)]
    return torch.stack(tables, 1), torch.cat([table @ v[:, h] for h, table in enumerate(tables)], -1)


@style
def a_loop_over_heads_stacked(q, k, v):
    tables = [(q[:, h] @ k[:, h].mT / 2).softmax(-1) for h in range(H)]
    return torch.stack(tables, 1), together(torch.stack([table @ v[:, h] for h, table in enumerate(tables)], 1))


@style
def a_loop_over_sequences_and_heads(q, k, v):
    tables = [[(q[b, h] @ k[b, h].T / 2).softmax(-1) for h in range(H)] for b in range(B)]
    out = [torch.cat([table @ v[b, h] for h, table in enumerate(row)], dim=-1) for b, row in enumerate(tables)]
    return torch.stack([torch.stack(row) for row in tables]), torch.stack(out)


@style
def chunked_heads(q, k, v):
    pieces = zip(*(one.chunk(H, dim=1) for one in (q, k, v)), strict=True)
    tables, outs = [], []
    for one, other, values in pieces:
        tables.append((one.squeeze(1) @ other.squeeze(1).mT / 2).softmax(-1))
        outs.append(tables[-1] @ values.squeeze(1))
    return torch.stack(tables, 1), torch.cat(outs, dim=2)


@style
def soft_capped(q, k, v):
    weights = (torch.tanh(q @ k.mT / 2 / 3.0) * 3.0 + LOW).softmax(-1)
    return weights, together(weights @ v)


@style
def a_bias_that_is_learned(q, k, v):
    weights = (q @ k.mT / 2 + torch.linspace(-1, 1, H * N * N).view(H, N, N)).softmax(-1)
    return weights, together(weights @ v)


@style
def a_bias_before_the_scale(q, k, v):
    weights = ((q @ k.mT + torch.linspace(-1, 1, N * N).view(N, N)) / 2).softmax(-1)
    return weights, together(weights @ v)


@style
def a_temperature_a_head(q, k, v):
    weights = (
        F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).mT * torch.tensor([1.0, 4.0, 9.0]).view(H, 1, 1)
    ).softmax(-1)
    return weights, together(weights @ v)


@style
def clamped_at_the_lowest_number(q, k, v):
    scores = q @ k.mT / 2 + torch.zeros(N, N).masked_fill(~TRIANGLE, torch.finfo(torch.float32).min)
    weights = torch.max(scores, torch.tensor(torch.finfo(torch.float32).min)).softmax(-1)
    return weights, together(weights @ v)


@style
def cleaned_of_nan(q, k, v):
    weights = (q @ k.mT / 2).masked_fill(~TRIANGLE, -torch.inf).softmax(-1).nan_to_num(0.0)
    return weights, together(weights @ v)


@pytest.mark.parametrize("grad", [torch.no_grad, torch.inference_mode, torch.enable_grad], ids=lambda way: way.__name__)
@pytest.mark.parametrize("name", STYLES)
def test_every_style_is_read(name, grad):
    given, own = inputs(), []
    reading = captured(lambda: own.extend(STYLES[name](*given)), grad=grad)
    assert len(reading.readings) == B
    for item, one in enumerate(reading.readings):
        assert len(one) == 1
        agree(one[0], own[0][item])


@pytest.mark.parametrize("name", STYLES)
def test_gradients_still_flow(name):
    q, k, v = (one.requires_grad_() for one in inputs())
    reading = captured(lambda: STYLES[name](q, k, v)[1].sum().backward(), grad=torch.enable_grad)
    assert len(reading.readings) == B
    there = q.grad, k.grad, v.grad
    q.grad = k.grad = v.grad = None
    STYLES[name](q, k, v)[1].sum().backward()
    for mine, plain in zip(there, (q.grad, k.grad, v.grad), strict=True):
        torch.testing.assert_close(mine, plain)
