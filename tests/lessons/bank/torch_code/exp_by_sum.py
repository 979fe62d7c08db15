import math

import torch


def attention(q, k, v):
    s = torch.einsum("bqd,bkd->bqk", q, k) / math.sqrt(q.shape[-1])
    e = torch.exp(s - s.max(dim=1, keepdim=True).values)
    a = e / e.sum(dim=1, keepdim=True)
    return torch.einsum("bqk,bkd->bqd", a, v)
