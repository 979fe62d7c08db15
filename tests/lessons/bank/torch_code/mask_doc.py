import math

import torch


def attention(q, k, v, mask):
    """Scaled dot-product attention.

    mask: boolean, True = masked out (not attended to).
    """
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
    return torch.matmul(scores.softmax(-1), v)
