import numpy as np

def softmax(x):
    """Compute softmax values for each set of scores in x."""
    return np.exp(x) / np.sum(np.exp(x), axis=0)

def attention(Q, K, V):
    d_k = Q.shape[1]
    scores = Q.dot(K.T) / np.sqrt(d_k)
    weights = softmax(scores)
    return weights.dot(V), weights
