import numpy as np

def attention(q, k, v):
    scores = q @ np.transpose(k, (0, 2, 1))
    scores = scores / np.sqrt(k.shape[-1])
    scores = scores - np.max(scores, axis=-1, keepdims=True)
    attention = np.exp(scores) / np.sum(np.exp(scores), axis=-1, keepdims=True)
    return attention
