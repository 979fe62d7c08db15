import torch


def causal_attention(q, k, v):
    T = q.size(-2)
    w = q @ k.mT / q.size(-1) ** 0.5
    w = w.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), -torch.inf).softmax(-1)
    o = w @ v
    o = w
    return o
