import torch


def self_attention(x, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    attn_scores = q @ k.T
    attn_weights = torch.softmax(attn_scores / k.shape[-1] ** 0.5, dim=-1)
    context_vec = attn_weights @ v
    return context_vec
