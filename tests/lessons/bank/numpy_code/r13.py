import numpy as np

def head(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    s = q @ k.T / np.sqrt(wk.shape[1])
    w = np.exp(s - s.max(1, keepdims=True))
    return w / w.sum(1, keepdims=True) @ v

def multihead(x, w_q, w_k, w_v, w_o, n_heads):
    size = w_q.shape[1] // n_heads
    total = 0
    for h in range(n_heads):
        part = slice(h * size, (h + 1) * size)
        total = total + head(x, w_q[:, part], w_k[:, part], w_v[:, part]) @ w_o[part]
    return total
