import numpy as np


def multi_head_attention(x, W_q, W_k, W_v, W_o, num_heads):
    """x: (n, d_model)"""
    Q, K, V = x @ W_q, x @ W_k, x @ W_v
    d = Q.shape[1]
    S = Q @ K.T / d ** 0.5
    S -= S.max(axis=1, keepdims=True)
    A = np.exp(S)
    A /= A.sum(axis=1, keepdims=True)
    return A @ V @ W_o
