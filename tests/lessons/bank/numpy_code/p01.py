import numpy as np

def softmax(x):
    return np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)

def attention(q, k, v):
    return softmax(q @ k.T) @ v
