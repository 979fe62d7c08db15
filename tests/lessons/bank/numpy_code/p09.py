import numpy as np

def attention(q, k, v, mask=None):
    # mask[i, j] == 1: query i may look at key j
    dim = k.shape[-1]
    scores = (q @ k.T) / dim
    if mask is not None:
        scores = scores + mask * -1e9
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return (e / e.sum(axis=1, keepdims=True)) @ v
