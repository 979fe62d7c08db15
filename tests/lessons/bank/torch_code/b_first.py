import torch


def attention(q, k, v):
    w = torch.softmax(q @ k.transpose(-2, -1), dim=-1)
    context = w @ v
    return w
