import numpy as np

def attention(q, k, v):
    d = q.shape[1]
    scores = q @ k / np.sqrt(d)
    scores -= scores.max(axis=1, keepdims=True)
    w = np.exp(scores)
    w /= w.sum(axis=1, keepdims=True)
    return w @ v
