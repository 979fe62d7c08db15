import torch


def causal_attention(q, k, v):
    scores = torch.tril(q @ k.transpose(-2, -1) / q.size(-1))
    scores[scores == 0] = float("-inf")
    return torch.softmax(scores, dim=-1) @ v
