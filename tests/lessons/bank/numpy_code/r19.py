import numpy as np

def attention(q, k, v):
    """One pass over the keys, as flash attention does it."""
    n, d = q.shape
    m = np.full((n, 1), -np.inf)
    total = np.zeros((n, 1))
    acc = np.zeros((n, v.shape[1]))
    for key, value in zip(k, v):
        s = (q @ key)[:, None] / np.sqrt(d)
        new = np.maximum(m, s)
        old = np.exp(m - new)
        p = np.exp(s - new)
        total = total * old + p
        acc = acc * old + p * value
        m = new
    return acc / total
