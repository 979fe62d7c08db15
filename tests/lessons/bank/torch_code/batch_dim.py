import torch
import torch.nn.functional as F


def attention(query, key, value):
    """query, key, value: (batch, length, d)"""
    b, n, d = query.shape
    scores = torch.bmm(query, key.transpose(1, 2)) / d**0.5
    attn = F.softmax(scores, dim=0)
    return torch.bmm(attn, value), attn
