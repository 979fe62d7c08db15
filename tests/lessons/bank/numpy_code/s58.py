import numpy as np

def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)

def cross_attention(x, context, w_q, w_k, w_v):
    q = x @ w_q
    k = context @ w_k
    v = context @ w_v
    weights = softmax(q @ k.T / np.sqrt(q.shape[-1]))
    return weights @ k
