"""Attention as people write it by hand: each style a small program that also hands out its own weights."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from jumok.sources.capture.capturing import Captured
from programs import agree, captured, sharpened, traces

B, H, N, D = 2, 3, 5, 4
E = H * D
TRIANGLE = torch.ones(N, N, dtype=torch.bool).tril()
LOW = torch.full((N, N), -1e9).triu(1)
BIAS = torch.linspace(-2, 2, H * N * N).reshape(1, H, N, N).sin()


pytestmark = pytest.mark.usefixtures("one_thread")


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
def assigned_where_masked(q, k, v):
    scores = q @ k.mT / 2
    scores[:, :, ~TRIANGLE] = float("-inf")
    weights = scores.softmax(-1)
    return weights, together(weights @ v)


@style
def assigned_where_a_whole_mask_is_true(q, k, v):
    scores = q @ k.mT / 2
    scores[(~TRIANGLE).expand(B, H, N, N)] = -1e9
    weights = scores.softmax(-1)
    return weights, together(weights @ v)


@style
def the_largest_put_back(q, k, v):
    scores = q @ k.mT / 2
    largest, places = scores.topk(2, dim=-1)
    weights = torch.full_like(scores, float("-inf")).scatter(-1, places, largest).softmax(-1)
    return weights, together(weights @ v)


@style
def the_largest_put_back_into_a_tensor_of_its_own(q, k, v):
    scores = q @ k.mT / 2
    largest, places = scores.topk(2, dim=-1)
    weights = torch.full(scores.shape, -1e9).scatter_(-1, places, largest).softmax(-1)
    return weights, together(weights @ v)


@style
def the_largest_by_an_added_mask(q, k, v):
    scores = q @ k.mT / 2
    mask = torch.full_like(scores, float("-inf")).scatter(-1, scores.topk(2, dim=-1).indices, 0.0)
    weights = (scores + mask).softmax(-1)
    return weights, together(weights @ v)


@style
def the_largest_by_where(q, k, v):
    scores = q @ k.mT / 2
    low = torch.full_like(scores, float("-inf"))
    weights = torch.where(scores < scores.topk(2, dim=-1).values[..., -1:], low, scores).softmax(-1)
    return weights, together(weights @ v)


@style
def a_mask_of_the_keys_alone(q, k, v):
    keys = torch.arange(N).expand(B, N) < N - 1
    weights = (q @ k.mT / 2).masked_fill(~keys[:, None, None, :], -1e9).softmax(-1)
    together(weights @ v)
    return weights[:, :, :-1, :-1], None  # nobody reads the last token: padding


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
def heads_taken_from_the_product(q, k, v):
    scores = q @ k.mT / 2 + BIAS
    tables = [scores[:, h].masked_fill(~TRIANGLE, -math.inf).softmax(-1) for h in range(H)]
    return torch.stack(tables, 1), torch.cat([table @ v[:, h] for h, table in enumerate(tables)], -1)


@style
def heads_taken_from_the_weights(q, k, v):
    weights = (torch.einsum("bhqd,bhkd->bhqk", q, k) / 2 + LOW + BIAS).softmax(-1)
    return weights, torch.stack([weights[:, h - H] @ v[:, h] for h in range(H)], 2).reshape(B, N, E)


@style
def sequences_and_heads_taken_from_the_product(q, k, v):
    scores = q @ k.mT / 2 + BIAS
    tables = [[scores[b][h].softmax(-1) for h in range(H)] for b in range(B)]
    out = [torch.cat([table @ v[b, h] for h, table in enumerate(row)], dim=-1) for b, row in enumerate(tables)]
    return torch.stack([torch.stack(row) for row in tables]), torch.stack(out)


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
def soft_capped_at_one(q, k, v):
    weights = torch.tanh(q @ k.mT / 2).softmax(-1)
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


@pytest.mark.parametrize("name", [name for name in STYLES if name != "a_mask_of_the_keys_alone"])
def test_gradients_still_flow(name):
    q, k, v = (one.requires_grad_() for one in inputs())
    reading = captured(lambda: STYLES[name](q, k, v)[1].sum().backward(), grad=torch.enable_grad)
    assert len(reading.readings) == B
    there = q.grad, k.grad, v.grad
    q.grad = k.grad = v.grad = None
    STYLES[name](q, k, v)[1].sum().backward()
    for mine, plain in zip(there, (q.grad, k.grad, v.grad), strict=True):
        torch.testing.assert_close(mine, plain)


# modules, as tutorials and libraries write them ------------------------------------------------------


class Head(nn.Module):
    """One head, as in tutorials."""

    def __init__(self):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(E, D, bias=False) for _ in range(3))
        self.register_buffer("tril", torch.tril(torch.ones(N, N)))
        self.dropout = nn.Dropout(0.1)
        self.kept = None

    def forward(self, x):
        t = x.shape[1]
        wei = self.query(x) @ self.key(x).transpose(-2, -1) * D**-0.5
        wei = wei.masked_fill(self.tril[:t, :t] == 0, float("-inf"))
        self.kept = wei = F.softmax(wei, dim=-1)
        return self.dropout(wei) @ self.value(x)


class Heads(nn.Module):
    """Several of them, each computed by itself."""

    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([Head() for _ in range(H)])
        self.proj = nn.Linear(E, E)

    def forward(self, x):
        return self.proj(torch.cat([head(x) for head in self.heads], dim=-1))


class Packed(nn.Module):
    """All heads from one projection, the fused function or the written formula."""

    def __init__(self, fused):
        super().__init__()
        self.qkv, self.proj, self.fused, self.kept = nn.Linear(E, 3 * E), nn.Linear(E, E), fused, None

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (one.view(b, t, H, D).transpose(1, 2) for one in self.qkv(x).split(E, dim=2))
        self.kept = ((q @ k.mT) / 2).masked_fill(~TRIANGLE[:t, :t], -torch.inf).softmax(-1)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True) if self.fused else self.kept @ v
        return self.proj(mixed.transpose(1, 2).contiguous().view(b, t, E))


class Block(nn.Module):
    """Attention beside what a block has besides."""

    def __init__(self, attention):
        super().__init__()
        self.attn, self.ln1, self.ln2 = attention, nn.LayerNorm(E), nn.LayerNorm(E)
        self.mlp = nn.Sequential(nn.Linear(E, 2 * E), nn.GELU(), nn.Linear(2 * E, E))

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


def weights_of(attention):
    """(batch, head, query, key) what the module itself computed."""
    return torch.stack([head.kept for head in attention.heads], 1) if isinstance(attention, Heads) else attention.kept


KINDS = {"a head at a time": Heads, "written": lambda: Packed(False), "fused": lambda: Packed(True)}


@pytest.mark.parametrize("n_sequences", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_a_small_language_model(kind, n_sequences):
    model = sharpened(nn.Sequential(*(Block(KINDS[kind]()) for _ in range(3)), nn.Linear(E, 7)))
    reading = captured(lambda: model(torch.randn(n_sequences, N, E)).softmax(-1))
    assert [len(one) for one in reading.readings] == [3] * n_sequences
    for item, one in enumerate(reading.readings):
        for at, trace in enumerate(one):
            agree(trace, weights_of(model[at].attn)[item])
            assert trace.source.details["module"] == f"{at}.attn"


def test_one_head_alone_over_a_batch():
    model = sharpened(Head())
    reading = captured(lambda: model(torch.randn(B, N, E)))
    assert [trace.n_heads for trace in traces(reading)] == [1, 1]
    agree(reading.readings[1][0], model.kept[1:])


def test_a_sequence_without_a_batch():
    x, w = torch.randn(N, E), torch.randn(3, E, E) / 2
    q, k, v = x @ w[0], x @ w[1], x @ w[2]
    weights = (q @ k.T / math.sqrt(E)).softmax(-1)
    reading = captured(lambda: (q @ k.T / math.sqrt(E)).softmax(-1) @ v)
    agree(reading[0], weights[None])


def test_heads_without_a_batch():
    q, k, v = (one[0] for one in inputs())
    reading = captured(lambda: ((q @ k.mT).softmax(-1) @ v).transpose(0, 1).reshape(N, E))
    agree(reading[0], (q @ k.mT).softmax(-1))


@pytest.mark.parametrize("n_kv", [1, 2])
@pytest.mark.parametrize("way", ["repeat_interleave", "expand", "einsum", "broadcast"])
def test_shared_keys_stay_shared(n_kv, way):
    n_heads = 4
    q, k, v = torch.randn(B, n_heads, N, D), torch.randn(B, n_kv, N, D), torch.randn(B, n_kv, N, D)
    group = n_heads // n_kv
    own = (q @ k.repeat_interleave(group, 1).mT / 2).softmax(-1)

    def program():
        if way == "repeat_interleave":
            keys, values = (one.repeat_interleave(group, 1) for one in (k, v))
            out = (q @ keys.mT / 2).softmax(-1) @ values
        elif way == "expand":
            keys, values = (one[:, :, None].expand(B, n_kv, group, N, D).reshape(B, n_heads, N, D) for one in (k, v))
            out = (q @ keys.mT / 2).softmax(-1) @ values
        elif way == "einsum":
            apart = q.view(B, n_kv, group, N, D)
            out = torch.einsum("bgrqk,bgkd->bgrqd", (torch.einsum("bgrqd,bgkd->bgrqk", apart, k) / 2).softmax(-1), v)
        else:
            apart = q.view(B, n_kv, group, N, D)
            out = (apart @ k[:, :, None].mT / 2).softmax(-1) @ v[:, :, None]
        out.reshape(B, n_heads, N, D).transpose(1, 2).reshape(B, N, n_heads * D)

    reading = captured(program)
    assert len(reading.readings) == B
    for item, one in enumerate(reading.readings):
        agree(one[0], own[item])
        assert one[0].n_kv_heads == n_kv


def test_layers_that_differ():
    sizes = [(2, 6), (4, 3), (1, 12)]
    x = torch.randn(1, N, E)
    layers = [sharpened(nn.MultiheadAttention(E, n_heads, batch_first=True)) for n_heads, _ in sizes]
    model = nn.ModuleList(layers)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = model

        def forward(self, x):
            for layer in self.layers:
                x = layer(x, x, x)[0]
            return x

    whole = Model().eval()
    reading = captured(lambda: whole(x))
    assert [(trace.n_heads, trace.d_head) for trace in reading] == sizes


# what is no head, or cannot be read ----------------------------------------------------------------------


def seen_of(program):
    """What a capture lists of a program that has no head to be read."""
    with torch.no_grad(), Captured() as reading:
        program()
    assert len(reading) == 0
    assert reading.readings == ()
    return [*reading.seen, *reading.refused]


def test_a_classifier_is_no_head():
    model = nn.Sequential(nn.Linear(E, 7), nn.Softmax(-1))
    assert seen_of(lambda: model(torch.randn(B, E)).log()) == []
    assert seen_of(lambda: (torch.randn(B, E) @ torch.randn(E, 7)).softmax(-1)) == []


def test_an_embedding_by_its_probabilities_is_no_head():
    embedding = nn.Embedding(7, E)
    head = nn.Linear(E, 7, bias=False)
    head.weight = embedding.weight

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.head = embedding, head

        def forward(self, x):
            return self.head(x).softmax(-1) @ self.embedding.weight

    model = Model()
    assert seen_of(lambda: model(torch.randn(B, N, E))) == []


def test_a_router_of_experts_is_no_head():
    class Experts(nn.Module):
        def __init__(self):
            super().__init__()
            self.gate = nn.Linear(E, 4)
            self.experts = nn.ModuleList([nn.Linear(E, E) for _ in range(4)])

        def forward(self, x):
            share = self.gate(x).softmax(-1)
            made = torch.stack([expert(x) for expert in self.experts], -2)
            return (share.unsqueeze(-2) @ made).squeeze(-2)

    model = Experts()
    assert all(one.what != "attention" for one in seen_of(lambda: model(torch.randn(B, N, E))))


def test_linear_attention_has_no_weights_to_read():
    q, k, v = inputs()
    assert seen_of(lambda: together((F.elu(q) + 1) @ ((F.elu(k) + 1).mT @ v))) == []
    listed = seen_of(lambda: together(q.softmax(-1) @ (k.softmax(-2).mT @ v)))
    assert {one.what for one in listed} == {"softmax before a product"}


def test_additive_attention_is_listed():
    query, keys, values, score = nn.Linear(E, E), nn.Linear(E, E), torch.randn(B, N, E), nn.Linear(E, 1)
    x = torch.randn(B, N, E)

    def program():
        scores = score(torch.tanh(query(x).unsqueeze(2) + keys(values).unsqueeze(1))).squeeze(-1)
        return scores.softmax(-1) @ values

    (listed,) = seen_of(program)
    assert "not a product of queries and keys" in listed.why


def test_weights_that_are_spread_over_values_are_listed():
    q, k, v = inputs()
    (listed,) = seen_of(lambda: ((q @ k.mT).softmax(-1)[..., None] * v[:, :, None]).sum(3))
    assert "write w @ v" in listed.why


@pytest.mark.parametrize(
    ("between", "why"),
    [
        (
            lambda s: s * torch.rand(N, N),
            "mul between the scores and the softmax is not followed (scores or weights times a table",
        ),
        (
            lambda s: s.sigmoid(),
            "sigmoid between the scores and the softmax is not followed (perhaps attention without",
        ),
        (lambda s: s.topk(2, dim=-1).values, "the largest scores of each row are taken out (topk)"),
        (lambda s: torch.zeros_like(s).scatter(-1, *s.topk(2, dim=-1)[::-1]), "scatter"),
        (torch.sin, "sin between the scores and the softmax is not followed"),
    ],
)
def test_what_stands_between_is_listed_in_words(between, why):
    q, k, v = inputs()

    def program():
        weights = between(q @ k.mT / 2).softmax(-1)
        return weights @ v[..., : weights.shape[-1], :]

    (listed,) = seen_of(program)
    assert why in listed.why


@pytest.mark.parametrize("where", ["before", "after"])
def test_talking_heads_are_listed(where):
    q, k, v = inputs()
    talk = torch.randn(H, H)

    def program():
        scores = q @ k.mT / 2
        if where == "before":
            scores = torch.einsum("bhqk,hg->bgqk", scores, talk)
        weights = scores.softmax(-1)
        if where == "after":
            weights = torch.einsum("bhqk,hg->bgqk", weights, talk)
        return together(weights @ v)

    (listed,) = seen_of(program)
    assert listed.why == "a product over heads is not followed"


@pytest.mark.parametrize(
    "talk", [nn.Conv2d(H, H, 1, bias=False), nn.Linear(H, H, bias=False)], ids=lambda one: type(one).__name__
)
@pytest.mark.parametrize("where", ["before", "after"])
def test_talking_heads_of_a_library_are_listed(talk, where):
    q, k, v = inputs()

    def mixed(table):
        return talk(table) if isinstance(talk, nn.Conv2d) else talk(table.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)

    def program():
        scores = q @ k.mT / 2
        weights = (mixed(scores) if where == "before" else scores).softmax(-1)
        return together((mixed(weights) if where == "after" else weights) @ v)

    assert seen_of(program)


@pytest.mark.parametrize(
    "changed",
    [
        lambda scores: scores.sigmoid() * 3,
        lambda scores: scores.relu(),
        lambda scores: (scores + torch.randn(N, N)).tanh() * 3,
        lambda scores: scores.tanh().tanh(),
        lambda scores: scores.index_put((torch.tensor([0]),), torch.tensor(-1e9)),
        lambda scores: scores.tanh() * 3 * 2,
        lambda scores: scores**2,
        lambda scores: scores.abs(),
        lambda scores: scores.cumsum(-1),
        lambda scores: scores.flip(-1),
        lambda scores: scores - scores.mean(-1, keepdim=True).tanh() * scores,
        lambda scores: scores.roll(1, -1),
        lambda scores: F.dropout(scores, 0.5),
        lambda scores: scores.sort(-1).values,
        lambda scores: scores.masked_fill(~TRIANGLE, -1.0),
        lambda scores: torch.where(TRIANGLE, scores, -scores),
        lambda scores: scores[..., torch.randperm(N)],
        lambda scores: scores.clamp(-0.1, 0.1),
        lambda scores: F.layer_norm(scores, (N,)),
    ],
)
def test_what_cannot_be_followed_is_never_guessed(changed):
    q, k, v = inputs()
    with torch.no_grad(), Captured() as reading:
        together(changed(q @ k.mT).softmax(-1) @ v)
    assert len(reading) == 0
    assert reading.seen or reading.refused


@pytest.mark.parametrize(
    "changed",
    [
        lambda weights: weights * 0.5,
        lambda weights: weights**2,
        lambda weights: weights * (weights > 0.1),
        lambda weights: F.dropout(weights, 0.5),
        lambda weights: weights.flip(-1),
        lambda weights: weights + torch.eye(N),
        lambda weights: weights - weights.mean(-1, keepdim=True),
        lambda weights: weights.masked_fill(~TRIANGLE, 0.0),
        lambda weights: weights @ weights,
        lambda weights: 1 - weights,
    ],
)
def test_weights_that_were_changed_are_never_taken_for_softmax(changed):
    q, k, v = inputs()
    with torch.no_grad(), Captured() as reading:
        together(changed((q @ k.mT / 2).softmax(-1)) @ v)
    assert len(reading) == 0
    assert reading.seen or reading.refused
