"""PyTorch's own attention: nn.MultiheadAttention, the encoder, the whole transformer, and the fused function with every mask."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from programs import agree, agree_in_any_order, captured, documented, fused_by_hand, sharpened, traces

N, M, B, H, D = 5, 7, 2, 3, 4
E = H * D
TRIANGLE = torch.ones(N, N, dtype=torch.bool).tril()


pytestmark = pytest.mark.usefixtures("one_thread")


def of_sequence(reading, item, n_sequences=B):
    """The layers of one sequence of the batch."""
    assert len(reading.readings) == n_sequences
    return list(reading.readings[item])


# F.scaled_dot_product_attention --------------------------------------------------------------------


def attention_inputs(n_keys=N, n_kv_heads=H, d_value=D):
    """Query, key and value as the fused function takes them."""
    return torch.randn(B, H, N, D), torch.randn(B, n_kv_heads, n_keys, D), torch.randn(B, n_kv_heads, n_keys, d_value)


def _ragged():
    return torch.rand(N, N) > 0.3


MASKS = {
    "none": lambda: {},
    "causal": lambda: {"is_causal": True},
    "bool": lambda: {"attn_mask": TRIANGLE},
    "bool, without a rule": lambda: {"attn_mask": _ragged() | torch.eye(N, dtype=torch.bool)},
    "float": lambda: {"attn_mask": torch.randn(N, N)},
    "float, with -inf": lambda: {"attn_mask": torch.randn(N, N).masked_fill(~TRIANGLE, -math.inf)},
    "float, with the lowest number": lambda: {
        "attn_mask": torch.zeros(N, N).masked_fill(~TRIANGLE, torch.finfo(torch.float32).min)
    },
    "a head, 3-D": lambda: {"attn_mask": torch.randn(H, N, N)},
    "a head, 4-D": lambda: {"attn_mask": torch.randn(1, H, N, N)},
    "a sequence and head": lambda: {"attn_mask": torch.randn(B, H, N, N)},
    "a sequence": lambda: {"attn_mask": torch.randn(B, 1, N, N)},
    "keys alone": lambda: {"attn_mask": torch.randn(B, 1, 1, N)},
    "a bool of each head": lambda: {"attn_mask": (torch.rand(H, N, N) > 0.4) | torch.eye(N, dtype=torch.bool)},
    "scale": lambda: {"scale": 0.9},
    "scale and causal": lambda: {"scale": 0.1, "is_causal": True},
}


@pytest.mark.parametrize("name", MASKS)
def test_the_fused_function_with_every_mask(name):
    (q, k, v), given = attention_inputs(), MASKS[name]()
    own = documented(q, k, given.get("attn_mask"), given.get("is_causal", False), given.get("scale"))
    reading = captured(lambda: F.scaled_dot_product_attention(q, k, v, **given))
    for item in range(B):
        agree(of_sequence(reading, item)[0], own[item])


@pytest.mark.parametrize("mask", [None, torch.arange(N * M).view(N, M) % 3 > 0, torch.arange(N * M).view(N, M) % 5.0])
def test_more_keys_than_queries_and_other_values(mask):
    q, k, v = attention_inputs(n_keys=M, d_value=6)
    reading = captured(lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=mask))
    trace = of_sequence(reading, 1)[0]
    agree(trace, documented(q, k, mask)[1])
    assert trace.v.shape == (H, M, 6)


def test_causal_with_more_keys_is_aligned_as_pytorch_does():
    q, k, v = attention_inputs(n_keys=M)
    reading = captured(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True))
    scores = (q @ k.mT / 2).masked_fill(~torch.ones(N, M, dtype=torch.bool).tril(), -math.inf)
    agree(of_sequence(reading, 0)[0], scores.softmax(-1)[0])


@pytest.mark.parametrize("mask", [{}, {"is_causal": True}, {"attn_mask": torch.randn(4, N, N)}])
def test_heads_that_share_keys_stay_shared(mask):
    q, k, v = torch.randn(B, 4, N, D), torch.randn(B, 2, N, D), torch.randn(B, 2, N, D)
    reading = captured(lambda: F.scaled_dot_product_attention(q, k, v, enable_gqa=True, **mask))
    trace = of_sequence(reading, 0)[0]
    assert (trace.n_heads, trace.n_kv_heads) == (4, 2)
    agree(trace, documented(q, k, mask.get("attn_mask"), "is_causal" in mask)[0])


@pytest.mark.parametrize("lead", [(), (3,), (2, 3), (2, 2, 3)], ids=len)
def test_any_number_of_leading_axes(lead):
    q, k, v = (torch.randn(*lead, N, D) for _ in range(3))
    reading = captured(lambda: F.scaled_dot_product_attention(q, k, v))
    own = documented(q, k).reshape(-1, N, N)
    assert sum(trace.n_heads for trace in traces(reading)) == len(own)
    for trace in traces(reading):
        for weights in trace.weights:
            assert (torch.from_numpy(weights) - own).abs().amax((1, 2)).min() < 1e-6


def test_a_row_that_may_read_nothing_has_no_weight():
    q, k, v = attention_inputs()
    mask = TRIANGLE.clone()
    mask[2] = False
    reading = captured(lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=mask))
    agree(of_sequence(reading, 0)[0], documented(q, k, mask)[0])


# nn.MultiheadAttention -----------------------------------------------------------------------------

ATTENDS = {
    "plain": ({}, lambda: {}),
    "one bias for all": ({"bias": False}, lambda: {}),
    "batch second": ({"batch_first": False}, lambda: {}),
    "bool mask": ({}, lambda: {"attn_mask": ~TRIANGLE}),
    "float mask": ({}, lambda: {"attn_mask": torch.randn(N, N)}),
    "a mask a head": ({}, lambda: {"attn_mask": torch.randn(B * H, N, N)}),
    "causal": ({}, lambda: {"attn_mask": ~TRIANGLE, "is_causal": True}),
    "a bias for key and value": ({"add_bias_kv": True}, lambda: {}),
    "a zero for key and value": ({"add_zero_attn": True}, lambda: {}),
}


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("name", ATTENDS)
def test_multihead_attention(name, need_weights):
    made, given = ATTENDS[name]
    given = given()
    attention = sharpened(nn.MultiheadAttention(E, H, **{"batch_first": True, **made}))
    x = torch.randn(B, N, E) if attention.batch_first else torch.randn(N, B, E)
    own = attention(x, x, x, average_attn_weights=False, **{**given, "is_causal": False})[1]
    reading = captured(lambda: attention(x, x, x, need_weights=need_weights, **given))
    for item in range(B):
        agree(of_sequence(reading, item)[0], own[item])


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("numbers", [True, False])
def test_padding_is_taken_out(need_weights, numbers):
    attention = sharpened(nn.MultiheadAttention(E, H, batch_first=True))
    x, padding = torch.randn(B, N, E), torch.zeros(B, N, dtype=torch.bool)
    padding[0, 3:] = padding[1, :1] = True
    given = torch.zeros(B, N).masked_fill(padding, -math.inf) if numbers else padding
    own = attention(x, x, x, key_padding_mask=given, average_attn_weights=False)[1]
    reading = captured(lambda: attention(x, x, x, key_padding_mask=given, need_weights=need_weights))
    for item in range(B):
        real = ~padding[item]
        trace = of_sequence(reading, item)[0]
        agree(trace, own[item][:, real][:, :, real])
        assert trace.source.details["n_padding"] == int(padding[item].sum())


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("sizes", [{}, {"kdim": 8, "vdim": 10}])
def test_cross_attention_reads_other_tokens(need_weights, sizes):
    attention = sharpened(nn.MultiheadAttention(E, H, batch_first=True, **sizes))
    x, keys = torch.randn(B, N, E), torch.randn(B, M, sizes.get("kdim", E))
    values = torch.randn(B, M, sizes.get("vdim", E))
    own = attention(x, keys, values, average_attn_weights=False)[1]
    reading = captured(lambda: attention(x, keys, values, need_weights=need_weights))
    trace = of_sequence(reading, 1)[0]
    agree(trace, own[1])
    assert (len(trace.tokens), len(trace.read_tokens)) == (N, M)


@pytest.mark.parametrize("need_weights", [True, False])
def test_a_sequence_without_a_batch(need_weights):
    attention = sharpened(nn.MultiheadAttention(E, H))
    x = torch.randn(N, E)
    reading = captured(lambda: attention(x, x, x, need_weights=need_weights))
    agree(of_sequence(reading, 0, 1)[0], attention(x, x, x, average_attn_weights=False)[1])


# nn.TransformerEncoder, nn.Transformer --------------------------------------------------------------


@pytest.mark.parametrize("norm_first", [True, False])
def test_the_encoder_with_padding(norm_first, monkeypatch):
    layer = nn.TransformerEncoderLayer(E, H, 16, batch_first=True, norm_first=norm_first)
    encoder = sharpened(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False))
    x, padding = torch.randn(B, N, E), torch.zeros(B, N, dtype=torch.bool)
    padding[1, 3:] = True
    with fused_by_hand(monkeypatch) as own:
        reading = captured(lambda: encoder(x, src_key_padding_mask=padding))
    assert len(own) == 2
    for trace, weights in zip(of_sequence(reading, 0), own, strict=True):
        agree(trace, weights[0])
    for trace, weights in zip(of_sequence(reading, 1), own, strict=True):
        agree(trace, weights[1][:, :3, :3])


def test_the_fast_path_rests_while_watching_and_only_then():
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(E, 2, 16, batch_first=True), 2).eval()
    assert torch.backends.mha.get_fastpath_enabled()
    x, padding = torch.randn(B, N, E), torch.zeros(B, N, dtype=torch.bool)
    padding[1, 3:] = True
    reading = captured(lambda: encoder(x, src_key_padding_mask=padding))
    assert [len(one) for one in reading.readings] == [2, 2]
    assert torch.backends.mha.get_fastpath_enabled()


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")  # PyTorch says so of every such model
@pytest.mark.parametrize("batch_first", [True, False])
def test_encoder_and_decoder_and_what_stands_between(batch_first, monkeypatch):
    model = sharpened(nn.Transformer(E, H, 2, 2, 16, batch_first=batch_first))
    source, target = torch.randn(M, E), torch.randn(N, E)
    source, target = (one.unsqueeze(0 if batch_first else 1) for one in (source, target))
    mask = nn.Transformer.generate_square_subsequent_mask(N)
    with fused_by_hand(monkeypatch) as own:
        reading = captured(lambda: model(source, target, tgt_mask=mask))
    assert [len(one) for one in reading.readings] == [2, 2, 2]
    agree_in_any_order(traces(reading), [weights[0] for weights in own])
