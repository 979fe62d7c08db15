import numpy as np

def self_attention(inputs, W_Q, W_K, W_V):
    Q = inputs.dot(W_Q)
    K = inputs.dot(W_K)
    V = inputs.dot(W_V)
    scores = Q.dot(K.T)
    scores = scores - scores.max(axis=1, keepdims=True)
    weights = np.exp(scores)
    for row in weights:
        row /= row.sum()
    return weights.dot(V) / np.sqrt(K.shape[1])
