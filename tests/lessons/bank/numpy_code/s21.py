import numpy as np

def attention(q, k, v):
    scores = np.matmul(q, k.transpose(0, 2, 1)) / np.sqrt(k.shape[-1])
    return np.matmul(scores, v)
