import numpy as np

def scaled_dot_product_attention(q, k, v, mask=None):
    """mask: 1 = masked out, 0 = keep."""
    matmul_qk = np.matmul(q, np.swapaxes(k, -1, -2))
    dk = np.float64(k.shape[-1])
    scaled = matmul_qk / np.sqrt(dk)
    if mask is not None:
        scaled = scaled + (mask * -1e9)
    scaled = scaled - scaled.max(axis=-1, keepdims=True)
    attention_weights = np.exp(scaled) / np.exp(scaled).sum(axis=-1, keepdims=True)
    return np.matmul(attention_weights, v), attention_weights
