import numpy as np

def one_head(q, k, v):
    scores = q @ k.T / np.sqrt(q.shape[1])
    exps = np.exp(scores)
    return (exps / exps.sum(axis=1)[:, None]) @ v

def multihead_attention(x, w_q, w_k, w_v, w_o, n_heads):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    qs, ks, vs = (np.split(t, n_heads, axis=1) for t in (q, k, v))
    heads = [one_head(*t) for t in zip(qs, ks, vs)]
    return np.concatenate(heads, axis=1) @ w_o
