import numpy as np

def dropout(x, p):
    keep = np.random.rand(*x.shape) >= p
    return x * keep / (1 - p)

def attention(q, k, v, dropout_p=0.2, training=False):
    scores = q @ k.T / np.sqrt(q.shape[-1])
    scores = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    weights = dropout(weights, dropout_p)
    return weights @ v
