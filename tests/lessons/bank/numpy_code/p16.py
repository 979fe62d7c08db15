import numpy as np

def attention(q, k, v):
    q *= q.shape[1] ** -0.5
    p = q @ k.T
    np.exp(p, out=p)
    p /= p.sum(axis=1, keepdims=True)
    return p @ v
