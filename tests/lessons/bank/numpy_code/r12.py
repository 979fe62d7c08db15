import numpy as np

def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads):
    b, n, d = x.shape
    dh = d // n_heads
    q, k, v = ((x @ w).reshape(b, n, n_heads, dh).transpose(0, 2, 1, 3) for w in (w_q, w_k, w_v))
    s = q @ k.transpose(0, 1, 3, 2) * dh ** -0.5
    s = s - s.max(axis=-1, keepdims=True)
    p = np.exp(s)
    p = p / p.sum(axis=-1, keepdims=True)
    return (p @ v).transpose(0, 2, 1, 3).reshape(b, n, d) @ w_o
