import numpy as np

def softmax(x, axis=-1):
    x = x - np.max(x, axis=axis, keepdims=True)
    return np.exp(x) / np.sum(np.exp(x), axis=axis, keepdims=True)

def split_heads(x, n_heads):
    n, d = x.shape
    return x.reshape(n, n_heads, d // n_heads).transpose(1, 0, 2)

def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads):
    q = split_heads(x @ w_q, n_heads)
    k = split_heads(x @ w_k, n_heads)
    v = split_heads(x @ w_v, n_heads)

    scores = np.matmul(q, k.transpose(0, 2, 1))
    weights = softmax(scores)
    heads = np.matmul(weights, v)          # (h, n, d_head)

    out = heads.transpose(1, 0, 2).reshape(x.shape[0], -1)
    return out @ w_o
