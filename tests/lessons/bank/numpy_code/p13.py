import numpy as np

def masked_attention(q, k, v, mask=None):
    scores = np.matmul(q, k.swapaxes(1, 2))
    if mask is None:
        mask = np.ones_like(scores)
    scores = scores - scores.max(axis=-1, keepdims=True)
    exp = np.exp(scores)
    weights = exp / exp.sum(axis=-1, keepdims=True)
    return np.matmul(weights, v)
