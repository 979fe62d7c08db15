import numpy as np

def normalize(scores):
    # 각 행의 합이 1이 되도록
    return scores / scores.sum(axis=1, keepdims=True)

def self_attention(x, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    weights = normalize(q @ k.T / np.sqrt(w_k.shape[1]))
    return weights @ v, weights
