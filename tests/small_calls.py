"""Attention calls whose output is what their parts give, by a formula of its own."""

import math

import torch

from jumok.sources.capture.calls import Call

B, H, N, D = 2, 3, 5, 4


def call_of(
    allowed=(), added=(), n=N, m=N, n_kv=H, causal=False, sinks=None, dtype=torch.float32, module="layer", **more
):
    """A call whose output is what its parts give, by a formula of its own; and its weights."""
    q, k, v = torch.randn(B, H, n, D), torch.randn(B, n_kv, m, D), torch.randn(B, n_kv, m, D)
    q, k, v = (one.to(dtype) for one in (q, k, v))
    keys, values = (one.double().repeat_interleave(H // n_kv, 1) for one in (k, v))
    scores = q.double() @ keys.mT / 2
    for table in added:
        scores = scores + table
    for table in allowed:
        scores = scores.masked_fill(~table, -math.inf)
    if causal:
        scores = scores.masked_fill(~torch.ones(n, m, dtype=torch.bool).tril(), -math.inf)
    if sinks is not None:
        scores = torch.cat([scores, sinks[:, :, None, None].expand(B, H, n, 1)], -1)
    weights = scores.softmax(-1)[..., :m].nan_to_num(0)
    rows = list(range(n))
    output = (weights @ values).to(dtype)
    made = Call(
        module, q, k, v, output, 0.5, "written", rows, allowed=list(allowed), added=list(added), causal=causal, sinks=sinks, **more
    )  # fmt: skip
    return made, weights
