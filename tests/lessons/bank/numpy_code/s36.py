import numpy as np

def attention(q, k, v, mask=None):
    scores = q @ k.T / np.sqrt(q.shape[1])
    if mask is not None:
        np.where(mask, scores, -1e9)
    scores = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ v
