import numpy as np

def softmax(x, axis=-1):
    x = x - x.max(axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)

def cross_attention(x, context, w_q, w_k, w_v):
    q = x @ w_q            # who asks
    k = context @ w_k      # who answers
    v = context @ w_v
    a = softmax(q @ k.T / np.sqrt(k.shape[-1]))
    return a @ v, a
