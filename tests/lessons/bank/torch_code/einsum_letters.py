import math

import torch


def attention(q, k, v):
    scores = torch.einsum("bnd,bmd->bmn", q, k) / math.sqrt(q.shape[-1])
    attn = scores.softmax(dim=-1)
    return torch.einsum("bnm,bmd->bnd", attn, v)
