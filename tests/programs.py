"""Programs that attend, captured, and held against the weights that they themselves computed."""

from __future__ import annotations

import contextlib
import math

import numpy as np
import torch
from torch.nn import functional as F

from jumok.sources.capture.capturing import Captured

ROUNDING = 2e-6  # of float32: weights that the program computed in another order


def captured(program, *, grad=torch.no_grad):
    """What the capture of a program read; nothing refused, nothing left over."""
    with grad(), Captured() as reading:
        program()
    assert not reading.refused, [one.why_en for one in reading.refused]
    assert not reading.seen, reading.seen
    return reading


def traces(reading):
    """Every layer of every reading."""
    return [trace for one in reading.readings for trace in one]


def agree(trace, own, atol=ROUNDING):
    """A layer's weights are the program's own, (head, query, key), for every head."""
    own = np.asarray(torch.as_tensor(own).detach().to(torch.float64))
    assert trace.weights.shape == own.shape
    np.testing.assert_allclose(trace.weights, own, rtol=0, atol=atol)


def agree_in_any_order(layers, own, atol=ROUNDING):
    """Each layer's weights are those of one call of the program, and no two of the same."""
    left = [np.asarray(weights) for weights in own]
    assert len(layers) == len(left)
    for trace in layers:
        off = [np.abs(trace.weights - one).max() if one.shape == trace.weights.shape else np.inf for one in left]
        assert min(off) <= atol, f"{trace.source.details['module']}: off by {min(off)}"
        left.pop(int(np.argmin(off)))


def sharpened(model, std=0.3):
    """The model with weights large enough that no head attends evenly, in evaluation."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1 or "sinks" in name:
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * std)
    return model.eval()


@contextlib.contextmanager
def fused_by_hand(monkeypatch):
    """Weights of each call of F.scaled_dot_product_attention, in float64 by its documented formula, in a list."""
    made = []
    real = F.scaled_dot_product_attention

    def noted(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
        made.append(documented(q, k, attn_mask, is_causal, scale))
        return real(q, k, v, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)

    with monkeypatch.context() as patch:
        patch.setattr(F, "scaled_dot_product_attention", noted)
        yield made


def documented(q, k, mask=None, is_causal=False, scale=None):
    """(…, head, query, key) softmax(q kᵀ · scale + mask) as PyTorch's manual defines it."""
    q, k = q.detach().double(), k.detach().double()
    if q.dim() > 2 and q.shape[-3] != k.shape[-3]:
        k = k.repeat_interleave(q.shape[-3] // k.shape[-3], -3)
    scores = q @ k.mT * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if is_causal:
        scores = scores.masked_fill(~torch.ones(scores.shape[-2:], dtype=torch.bool).tril(), -math.inf)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask
    return scores.softmax(-1).nan_to_num(0)
