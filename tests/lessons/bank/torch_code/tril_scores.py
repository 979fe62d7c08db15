import torch


def causal_self_attention(x, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    scores = torch.tril(q @ k.transpose(-2, -1)) / w_k.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1) @ v
