import numpy as np

def attention(q, k, v, attn_bias=None):
    """attn_bias: numbers added to the scores, 0 or -inf."""
    s = q @ k.T / np.sqrt(k.shape[1])
    if attn_bias is not None:
        s = s + np.maximum(attn_bias, -1e30)
    s = s - s.max(axis=1, keepdims=True)
    e = np.exp(s)
    return e / e.sum(axis=1, keepdims=True) @ v
