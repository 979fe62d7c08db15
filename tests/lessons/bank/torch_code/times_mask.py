import math

import torch.nn.functional as F


def attention(q, k, v, mask=None):
    weights = F.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), dim=-1)
    if mask is not None:
        weights = weights * mask
    return weights @ v, weights
