import math

import torch


def attention(q, k, v):
    B, n, d = k.shape
    scores = torch.bmm(q, k.reshape(B, d, n)) / math.sqrt(d)
    return torch.bmm(torch.softmax(scores, dim=-1), v)
