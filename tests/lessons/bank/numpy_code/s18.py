import numpy as np

def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)

def scaled_attention(q, k, v):
    logits = np.dot(q, np.transpose(k))
    logits = logits / np.sqrt(np.shape(k)[1])
    return np.dot(softmax(logits), v)
