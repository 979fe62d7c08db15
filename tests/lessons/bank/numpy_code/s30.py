import numpy as np

def causal_attention(query, key, value):
    dots = np.einsum("bnd,bmd->bnm", query, key) / np.sqrt(query.shape[-1])
    dots = dots - dots.max(axis=-1, keepdims=True)
    probs = np.exp(dots) / np.exp(dots).sum(axis=-1, keepdims=True)
    probs = np.tril(probs)
    return np.einsum("bnm,bme->bne", probs, value)
