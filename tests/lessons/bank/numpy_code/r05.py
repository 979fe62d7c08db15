import numpy as np

def attention(q, k, v, mask=None):
    q = q * (q.shape[-1] ** -0.5)
    logits = q @ k.transpose(0, 2, 1)
    if mask is not None:
        logits = logits + np.where(mask, 0.0, -1e9)
    logits = logits - logits.max(axis=-1, keepdims=True)
    p = np.exp(logits)
    return (p / p.sum(axis=-1, keepdims=True)) @ v
