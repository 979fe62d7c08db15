import numpy as np

def softmax(x, axis=1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)

def attention(q, k, v):
    """q: (B, Nq, D)  k: (B, Nk, D)  v: (B, Nk, Dv)"""
    s = np.einsum('bid,bjd->bij', q, k) * q.shape[-1] ** -0.5
    a = softmax(s)
    return np.einsum('bij,bje->bie', a, v), a
