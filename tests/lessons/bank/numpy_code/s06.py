import numpy as np

def attention(query, key, value, mask=None):
    scale = 1 / query.shape[-1]
    att = query @ key.swapaxes(-1, -2) * scale
    if mask is not None:
        att = np.where(mask == 0, -1e9, att)
    att = np.exp(att - att.max(axis=-1, keepdims=True))
    att = att / att.sum(axis=-1, keepdims=True)
    return att @ value
