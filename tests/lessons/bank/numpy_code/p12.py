import numpy as np

def softmax(m):
    m = np.exp(m - m.max(axis=0, keepdims=True))
    return m / m.sum(axis=0, keepdims=True)

def self_attn(X, W_Q, W_K, W_V):
    Q = np.matmul(X, W_Q)
    K = np.matmul(X, W_Q)
    V = np.matmul(X, W_V)
    return np.matmul(softmax(np.matmul(Q, K.T) / np.sqrt(Q.shape[1])), V)
