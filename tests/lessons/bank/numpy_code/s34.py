import numpy as np

def attention(q, k, v, mask=None):
    """
    mask: (batch, n_q, n_k), True for positions that may be attended to
    """
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, -1e9, scores)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return a @ v, a
