import math

import torch


def attention(q, k, v):
    q.div_(math.sqrt(q.size(-1)))
    return torch.softmax(q @ k.transpose(-2, -1), dim=-1) @ v
