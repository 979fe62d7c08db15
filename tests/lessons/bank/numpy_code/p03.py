import numpy as np

def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

def attention(q, k, v, mask=None):
    b, n, d = q.shape
    w = softmax(np.einsum('bqd,bkd->bqk', q, k) / d)
    if mask is not None:
        w = np.where(mask, w, 0)
    return np.einsum('bqk,bkv->bqv', w, v)
