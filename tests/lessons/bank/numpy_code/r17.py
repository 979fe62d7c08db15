import numpy as np

def attention(q, k, v, mask=None):
    scores = q @ k.T / np.sqrt(k.shape[1])
    if mask is None:
        mask = np.ones(scores.shape, dtype=bool)
    top = np.where(mask, scores, -1e300).max(axis=1, keepdims=True)
    e = np.exp(np.minimum(scores - top, 0)) * mask
    total = e.sum(axis=1, keepdims=True)
    w = np.divide(e, total, out=np.zeros_like(e), where=total > 0)
    return w @ v, w
