import numpy as np

def self_attention(x, W_q, W_k, W_v):
    Q = x @ W_q
    K = x @ W_q
    V = x @ W_v
    d_k = W_k.shape[1]
    scores = Q @ K.T / np.sqrt(d_k)
    scores = scores - scores.max(axis=1, keepdims=True)
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return weights @ V, weights
