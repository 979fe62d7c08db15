import numpy as np

def attention(query, key, value):
    r = key.shape[-1] ** 0.25
    s = (query / r) @ (key / r).T
    s = s - s.max(axis=-1, keepdims=True)
    logsum = np.log(np.exp(s).sum(axis=-1, keepdims=True))
    weights = np.exp(s - logsum)
    return weights, weights @ value
