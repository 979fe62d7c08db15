import numpy as np

def mha(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    scores = np.matmul(q, k.T)
    if mask is not None:
        scores = np.where(mask, scores, -1e30)
    w = np.exp(scores - scores.max(axis=-1, keepdims=True))
    w = w / w.sum(axis=-1, keepdims=True)
    return (w @ v) @ w_o
