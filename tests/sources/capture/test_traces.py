"""A call becomes a Trace of one sequence."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from jumok.sources.capture.traces import Made, Refused, sourced, trace_of
from jumok.sources.capture.verified import verified
from jumok.tokens import Token
from programs import agree
from small_calls import B, D, H, N, call_of


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def made(call, item=0, tokens=None, key_tokens=None, real=None, cache=None):
    """The Trace, verified; a refusal is a failure."""
    [one] = verified([trace_of(call, item, tokens, key_tokens, real, {} if cache is None else cache)])
    assert isinstance(one, Made), one
    assert sourced(one, {}) is one.trace
    return one


@pytest.mark.parametrize("item", range(B))
@pytest.mark.parametrize("n_kv", [1, 3])
def test_a_call_is_read(item, n_kv):
    call, weights = call_of(causal=True, n_kv=n_kv)
    one = made(call, item)
    agree(one.trace, weights[item])
    assert one.off < 1e-6
    assert one.trace.n_kv_heads == n_kv
    assert [token.text for token in one.trace.tokens] == list("01234")
    assert one.trace.source.details["mask"] == "causal"


def test_heads_that_were_repeated_are_kept_once():
    call, weights = call_of(n_kv=1)
    call.k, call.v = (one.repeat_interleave(H, 1) for one in (call.k, call.v))
    trace = made(call).trace
    assert trace.k.shape == (1, N, D)
    assert trace.source.shared_heads.startswith("3 query heads share")
    agree(trace, weights[0])


def test_keys_that_nobody_reads_are_padding():
    real = torch.tensor([[True] * 5, [False, True, True, True, False]])
    call, weights = call_of(allowed=[real[:, None, None, :]])
    for item in range(B):
        one = made(call, item, tokens=[Token(text) for text in "abcde"])
        agree(one.trace, weights[item][:, real[item]][:, :, real[item]])
        assert one.trace.source.details["mask"] == "everything"
        assert (one.force.queries.tolist(), one.force.keys.tolist()) == (real[item].tolist(), real[item].tolist())
    assert [token.text for token in one.trace.tokens] == list("bcd")
    assert one.trace.source.details["n_padding"] == 2


def test_padding_that_is_told_is_taken_out():
    call, weights = call_of(causal=True)
    real = [[True, True, True, False, False]] * 2
    one = made(call, real=real)
    agree(one.trace, weights[0][:, :3, :3])
    assert one.trace.source.details["mask"] == "causal"


def test_sequences_of_one_mask_and_other_padding_do_not_share_their_rules():
    call, weights = call_of(allowed=[torch.ones(1, 1, N, N, dtype=torch.bool).tril()])
    cache = {}
    for item, n in enumerate((5, 3)):
        told = [at < n for at in range(N)]
        agree(made(call, item, real=(told, told), cache=cache).trace, weights[item][:, :n, :n])


def test_layers_with_one_mask_share_its_rule():
    table = torch.rand(1, 1, N, N) > 0.4
    table[..., range(N), range(N)] = True
    cache, kept = {}, set()
    for _ in range(3):
        call, weights = call_of(allowed=[table])
        for item in range(B):
            trace = made(call, item, cache=cache).trace
            agree(trace, weights[item])
            kept.add(id(trace.rule.allowed.array))
    assert len(kept) == 1


def test_layers_that_are_causal_and_layers_that_are_not_do_not():
    cache = {}
    for causal in (True, False, True):
        call, weights = call_of(causal=causal)
        agree(made(call, cache=cache).trace, weights[0])


def test_a_row_without_keys_is_told_and_not_compared():
    table = torch.ones(1, 1, N, N, dtype=torch.bool).tril()
    table[..., 2, :] = False
    call, weights = call_of(allowed=[table])
    call.output[:, :, 2] = math.nan  # as PyTorch's own softmax gives there
    one = made(call)
    assert one.trace.source.details["n_rows_without_keys"] == 1
    agree(one.trace, weights[0])


def test_a_mask_of_each_head():
    tables = (torch.rand(1, H, N, N) > 0.4) | torch.eye(N, dtype=torch.bool)
    call, weights = call_of(allowed=[tables])
    agree(made(call, 1).trace, weights[1])


@pytest.mark.parametrize("low", [-math.inf, -1e9, torch.finfo(torch.float32).min, -1e4])
def test_low_numbers_are_a_mask(low):
    table = torch.zeros(1, 1, N, N).masked_fill(~torch.ones(N, N, dtype=torch.bool).tril(), low)
    call, weights = call_of(added=[table])
    trace = made(call).trace
    assert (trace.source.details["mask"], trace.source.details["bias"]) == ("causal", "none")
    agree(trace, weights[0])


def test_biases_are_added_up():
    call, weights = call_of(added=[torch.randn(B, 1, N, N), torch.randn(1, H, N, N)])
    trace = made(call, 1).trace
    assert trace.source.details["bias"] == "table"
    assert trace.source.details["mask_bytes"] == H * N * N * 4
    agree(trace, weights[1])


def test_sinks_of_each_sequence():
    call, weights = call_of(sinks=torch.randn(B, H))
    for item in range(B):
        agree(made(call, item).trace, weights[item])


def test_other_tokens_are_read():
    call, weights = call_of(n=3, m=N)
    trace = made(call, tokens=[Token(text) for text in "xyz"], key_tokens=[Token(text) for text in "abcde"]).trace
    agree(trace, weights[0])
    assert [token.text for token in trace.read_tokens] == list("abcde")


def test_numbers_that_no_trace_may_hold_are_refused_with_its_reason():
    call, _ = call_of()
    call.k[0, 0, 0, 0] = math.inf
    refused = trace_of(call, 0, None, None, None, {})
    assert isinstance(refused, Refused)
    assert refused.why_en != refused.why_ko


def test_what_was_read_is_frozen():
    trace = made(call_of()[0]).trace
    for array in (trace.q, trace.k, trace.v):
        assert isinstance(array, np.ndarray)
        assert not array.flags.writeable
