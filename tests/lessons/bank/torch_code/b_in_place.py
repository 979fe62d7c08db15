import math

import torch


def attention(q, k, v):
    q *= math.sqrt(q.shape[-1])
    attn = torch.softmax(q @ k.transpose(-1, -2), dim=-1)
    return attn @ v
