import numpy as np

def causal_attention(q, k, v):
    T = q.shape[-2]
    future = np.triu(np.ones((T, T)), k=1).astype(bool)
    s = q @ np.swapaxes(k, 1, 2) / np.sqrt(q.shape[-1])
    s = np.where(future, s, -1e9)
    s = np.exp(s - np.max(s, axis=-1, keepdims=True))
    p = s / np.sum(s, axis=-1, keepdims=True)
    return p @ v
