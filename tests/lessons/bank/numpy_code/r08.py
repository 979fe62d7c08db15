import numpy as np

def causal_self_attention(x, W_query, W_key, W_value):
    B, T, C = x.shape
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    att = q @ k.transpose(0, 2, 1) / np.sqrt(k.shape[-1])
    att[:, np.triu(np.ones((T, T), dtype=bool), k=1)] = -np.inf
    att = np.exp(att - att.max(axis=-1, keepdims=True))
    att = att / att.sum(axis=-1, keepdims=True)
    return att @ v, att
