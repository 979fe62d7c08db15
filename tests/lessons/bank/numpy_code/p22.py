import numpy as np

def scaled_dot_product_attention(q, k, v, mask=None):
    """Returns (output, attention weights)."""
    depth = k.shape[-1]
    logits = np.matmul(q, np.swapaxes(k, -1, -2)) / float(depth)
    if mask is not None:
        logits = np.where(mask, logits, -np.inf)
    logits = logits - logits.max(axis=-1, keepdims=True)
    weights = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    return np.matmul(weights, v), weights
