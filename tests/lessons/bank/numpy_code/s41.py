import numpy as np

def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

def causal_attention(q, k, v):
    scores = np.tril(q @ k.T / np.sqrt(k.shape[-1]))
    scores = np.where(scores == 0, -1e9, scores)
    weights = softmax(scores)
    return weights @ v, weights
