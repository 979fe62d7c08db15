import torch


def attention(q, k, v):
    return torch.softmax(q @ k, dim=-1) @ v
