import numpy as np

def self_attention(x, wq, wk, wv, valid_lens=None):
    q, k, v = x @ wq, x @ wk, x @ wv
    s = np.einsum("bid,bjd->bij", q, k) / np.sqrt(k.shape[-1])
    if valid_lens is not None:
        for b, length in enumerate(valid_lens):
            s[b, int(length):, :] = -1e9
    s = np.exp(s - s.max(axis=2, keepdims=True))
    w = s / s.sum(axis=2, keepdims=True)
    return np.einsum("bij,bjd->bid", w, v), w
