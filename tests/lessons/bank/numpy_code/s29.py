import numpy as np

def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)

def attention(q, k, v, mask=None):
    scores = np.matmul(q, k.T) / np.sqrt(q.shape[-1])
    weights = softmax(scores)
    if mask is not None:
        weights = weights * mask
    return np.matmul(weights, v), weights
