import numpy as np

def softmax(x):
    z = np.exp(x - x.max(1, keepdims=True))
    return z / z.sum(1, keepdims=True)

def attention(Q, K, V):
    # Attention(Q, K, V) = softmax(Q K^T) V
    A = softmax(np.matmul(Q, K.T))
    Z = np.matmul(A, V)
    return A
