import torch


def attention(q, k, v, mask=None):
    weights = torch.softmax(torch.matmul(q, k.transpose(-2, -1)), dim=-1)
    if mask is not None:
        weights = weights * mask
    return torch.matmul(weights, v)
