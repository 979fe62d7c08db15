import math

import torch


def attention(q, k, v):
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(k.size(-1))
    attn = scores / scores.sum(dim=-1, keepdim=True)
    return torch.matmul(attn, v)
