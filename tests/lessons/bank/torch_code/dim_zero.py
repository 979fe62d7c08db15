import torch


def self_attention(x, w_q, w_k, w_v):
    q = x @ w_q
    k = x @ w_k
    v = x @ w_v
    scores = q @ k.T / k.shape[1] ** 0.5
    weights = torch.softmax(scores, dim=0)
    return weights @ v
