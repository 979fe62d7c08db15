import numpy as np

def softmax(a):
    a = a - a.max(axis=-1, keepdims=True)
    a = np.exp(a)
    return a / a.sum(axis=-1, keepdims=True)

def causal_self_attention(x, W_q, W_k, W_v):
    B, T, D = x.shape
    q = np.einsum("btd,de->bte", x, W_q)
    k = np.einsum("btd,de->bte", x, W_k)
    v = np.einsum("btd,de->bte", x, W_v)
    scores = np.einsum("bqe,bke->bqk", q, k) / np.sqrt(q.shape[-1])
    # hide the future
    hidden = np.triu(np.ones((T, T), dtype=bool), k=2)
    scores = np.where(hidden[None], -np.inf, scores)
    return np.einsum("bqk,bke->bqe", softmax(scores), v)
