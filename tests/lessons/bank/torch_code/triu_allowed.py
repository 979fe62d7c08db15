import math

import torch


def causal_attention(q, k, v):
    n = q.size(-2)
    mask = torch.triu(torch.ones(n, n, dtype=torch.bool, device=q.device))
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    scores = scores.masked_fill(mask == 0, float("-inf"))
    return torch.softmax(scores, dim=-1) @ v
