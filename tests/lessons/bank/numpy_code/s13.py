import numpy as np


def softmax(scores):
    shifted = scores - scores.max(axis=-1, keepdims=True)
    exp = np.exp(shifted)
    return exp / exp.sum(axis=-1, keepdims=True)


def attention(query, key, value):
    # 1. similarity
    scores = np.matmul(query, key.T)
    # 2. probabilities
    weights = softmax(scores)
    # 3. scale
    weights = weights / np.sqrt(key.shape[-1])
    # 4. mix
    return np.matmul(weights, value), weights
