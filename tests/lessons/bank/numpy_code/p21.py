import numpy as np

def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

def get_weights(q, k):
    return softmax(q @ k.transpose(0, 2, 1))

def attention(q, k, v):
    return softmax(get_weights(q, k)) @ v
