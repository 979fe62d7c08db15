import numpy as np

def causal_attention(q, k, v):
    t = q.shape[1]
    scores = q @ k.transpose(0, 2, 1)
    mask = np.tril(np.ones((t, t)), k=-1).astype(bool)
    scores = np.where(mask, -np.inf, scores)
    scores = scores - scores.max(axis=-1, keepdims=True)
    w = np.exp(scores)
    w = w / w.sum(axis=-1, keepdims=True)
    return w @ v, w
