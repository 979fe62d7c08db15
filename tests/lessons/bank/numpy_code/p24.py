import numpy as np

def attention(q, k, v, causal=True):
    scores = q @ k.T / np.sqrt(k.shape[-1])
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    if causal:
        weights = np.tril(weights)
    return weights @ v, weights
