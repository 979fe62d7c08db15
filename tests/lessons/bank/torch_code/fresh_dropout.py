import torch
import torch.nn as nn


def attention(q, k, v, dropout=0.1):
    scores = torch.matmul(q, k.transpose(-2, -1)) / q.size(-1) ** 0.5
    weights = torch.softmax(scores, dim=-1)
    weights = nn.Dropout(dropout)(weights)
    return torch.matmul(weights, v)
