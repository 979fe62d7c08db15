import numpy as np

def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

def multi_head_attention(X, W_q, W_k, W_v, W_o, num_heads):
    seq_len, d_model = X.shape
    d_k = d_model // num_heads
    Q = (X @ W_q).reshape(num_heads, seq_len, d_k)
    K = (X @ W_k).reshape(num_heads, seq_len, d_k)
    V = (X @ W_v).reshape(num_heads, seq_len, d_k)
    A = softmax(Q @ K.transpose(0, 2, 1) / np.sqrt(d_k))
    out = (A @ V).reshape(seq_len, d_model)
    return out @ W_o
