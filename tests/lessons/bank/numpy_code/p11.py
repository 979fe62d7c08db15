import numpy as np

def attention(query, key, value):
    logits = query @ np.moveaxis(key, -1, -2)
    logits = logits - logits.max(axis=-1, keepdims=True)
    weights = np.exp(logits)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ key, weights
