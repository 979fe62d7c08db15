import math

import torch
import torch.nn.functional as F


def attention(q, k, v, mask=None):
    """mask (bool): True = may attend"""
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    return torch.matmul(F.softmax(scores, dim=-1), v)
