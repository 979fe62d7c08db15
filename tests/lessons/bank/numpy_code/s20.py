import numpy as np

def softmax(x):
    x = np.exp(x - x.max(axis=-1, keepdims=True))
    return x / x.sum(axis=-1, keepdims=True)

def attention_scores(q, k):
    scores = q @ k.T / np.sqrt(k.shape[-1])
    return softmax(scores)

def attention(q, k, v):
    scores = attention_scores(q, k)
    weights = softmax(scores)
    return weights @ v
