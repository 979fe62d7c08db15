import numpy as np

def attention(q, k, v, key_padding_mask=None):
    """Heads: (B, H, N, D). key_padding_mask: (B, N), True = padding, to be ignored."""
    scores = np.einsum("bhnd,bhmd->bhnm", q, k) / np.sqrt(q.shape[-1])
    if key_padding_mask is not None:
        scores = np.where(key_padding_mask[:, None, None, :], -1e30, scores)
    w = np.exp(scores - scores.max(axis=-1, keepdims=True))
    w = w / w.sum(axis=-1, keepdims=True)
    return np.einsum("bhnm,bhmd->bhnd", w, v)
