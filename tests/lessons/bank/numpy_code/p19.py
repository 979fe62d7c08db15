import numpy as np

def attention(q, k, v):
    s = np.dot(q, k)
    s = s - np.max(s, axis=-1, keepdims=True)
    w = np.exp(s) / np.sum(np.exp(s), axis=-1, keepdims=True)
    return np.dot(w, v)
