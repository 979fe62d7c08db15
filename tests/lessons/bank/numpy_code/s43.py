import numpy as np

def mha(x, w_q, w_k, w_v, w_o, n_heads):
    b, n, d = x.shape
    def heads(w):
        return (x @ w).reshape(b, n, n_heads, d // n_heads).transpose(0, 2, 1, 3)
    q, k, v = heads(w_q), heads(w_k), heads(w_v)
    s = np.einsum("bhid,bhjd->bhij", q, k) / np.sqrt(d // n_heads)
    s = np.exp(s - s.max(-1, keepdims=True))
    a = s / s.sum(-1, keepdims=True)
    ctx = np.einsum("bhij,bhjd->bhid", a, v)
    ctx = ctx.reshape(b, n, d)          # merge heads
    return ctx @ w_o
