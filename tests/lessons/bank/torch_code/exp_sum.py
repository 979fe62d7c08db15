import math

import torch


def attention(query, key, value):
    scores = torch.exp(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)))
    attn = scores / scores.sum(dim=-1, keepdim=True)
    return attn @ value, attn
