import numpy as np

def scaled_dot_product_attention(q, k, v, mask=None):
    attn = np.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(q.shape[-1])
    if mask is not None:
        attn[~np.broadcast_to(mask, attn.shape)] = float("-inf")
    attn = np.exp(attn - attn.max(axis=-1, keepdims=True))
    attn /= attn.sum(axis=-1, keepdims=True)
    return np.einsum("bhqk,bhkd->bhqd", attn, v)
