import numpy as np

def softmax(x):
    x = x - x.max(axis=-1, keepdims=True)
    return np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)

def multi_head_self_attention(x, w_q, w_k, w_v, w_o, n_heads):
    n, d_model = x.shape
    Q = np.reshape(x @ w_q, (n_heads, n, d_model // n_heads))
    K = np.reshape(x @ w_k, (n_heads, n, d_model // n_heads))
    V = np.reshape(x @ w_v, (n_heads, n, d_model // n_heads))
    heads = []
    for h in range(n_heads):
        scores = Q[h] @ K[h].T / np.sqrt(d_model)
        heads.append(softmax(scores) @ V[h])
    return np.concatenate(heads, axis=-1) @ w_o
