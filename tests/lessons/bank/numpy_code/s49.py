import numpy as np

def softmax(x):
    return np.exp(x) / np.sum(np.exp(x), axis=-1, keepdims=True)

def attention(Q, K, V):
    scores = np.matmul(Q, K.T) / np.sqrt(K.shape[-1])
    weights = softmax(scores)
    return np.matmul(weights, V), weights
