import numpy as np

def softmax(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)

def multihead_attention(x, w_q, w_k, w_v, w_o, n_heads):
    def split(t):
        return np.stack(np.split(t, n_heads, axis=-1))    # heads, tokens, width
    q, k, v = split(x @ w_q), split(x @ w_k), split(x @ w_v)
    scores = np.einsum("hqd,hkd->hqk", q, k)
    out = np.einsum("hqk,hkd->qhd", softmax(scores), v)
    return out.reshape(x.shape) @ w_o
