import numpy as np

def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

def masked_attention(X, Wq, Wk, Wv):
    q, k, v = X.dot(Wq), X.dot(Wk), X.dot(Wv)
    n = X.shape[0]
    bias = (1 - np.tril(np.ones((n, n)))) * -1e9
    return softmax(q.dot(k.T) / np.sqrt(k.shape[1]) + bias).dot(v)
