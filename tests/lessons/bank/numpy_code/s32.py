import numpy as np

def softmax(x):
    x = x - x.max(-1, keepdims=True)
    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)

def attention(q, k, v, mask=None):
    scores = q @ k.T * (1.0 / np.sqrt(k.shape[1]))
    if mask is not None:
        scores = np.where(mask == 0, 1e-9, scores)
    p = softmax(scores)
    return p @ v, p
