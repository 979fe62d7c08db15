import math

import torch
import torch.nn.functional as F


def causal_attention(q, k, v):
    wei = torch.tril(q @ k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    wei = wei.masked_fill(wei == 0, float("-inf"))
    return F.softmax(wei, dim=-1) @ v
