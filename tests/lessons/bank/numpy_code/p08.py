import numpy as np

def softmax(x):
    x = x - np.max(x, axis=-1, keepdims=True)
    e = np.exp(x)
    return e / np.sum(e, axis=-1, keepdims=True)

def causal_attention(q, k, v):
    n, d_k = q.shape
    mask = np.tril(np.ones((n, n)), k=1)
    scores = np.matmul(q, k.T) / d_k
    scores = np.where(mask == 1, scores, -np.inf)
    return np.matmul(softmax(scores), v)
