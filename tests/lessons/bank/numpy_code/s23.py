import numpy as np

def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

def causal_attention(q, k, v):
    n = q.shape[0]
    allowed = np.triu(np.ones((n, n), dtype=bool))
    scores = q @ k.T / np.sqrt(q.shape[1])
    scores = np.where(allowed, scores, -np.inf)
    return softmax(scores) @ v
