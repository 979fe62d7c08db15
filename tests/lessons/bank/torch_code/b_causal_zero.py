import math

import torch
import torch.nn.functional as F


def causal_attention(q, k, v):
    T = q.size(-2)
    hidden = torch.triu(torch.ones(T, T, device=q.device)) == 1
    scores = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
    scores = scores.masked_fill(hidden, 1e-9)
    return F.softmax(scores, dim=-1) @ v
