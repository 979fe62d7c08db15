import math

import torch


def attention(Q, K, V, mask=None):
    scores = torch.matmul(Q, K.transpose(-2, -1)) / math.sqrt(K.shape[-1])
    if mask is not None:
        scores = scores * mask
        scores = torch.where(scores == 0, torch.full_like(scores, -1e9), scores)
    return torch.matmul(scores.softmax(dim=-1), V)
