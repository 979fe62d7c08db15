import numpy as np

def softmax(x):
    e_x = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e_x / e_x.sum(axis=-1, keepdims=True)

def scaled_dot_product_attention(Q, K, V):
    d_k = K.shape[-1]
    scores = np.dot(Q, K.T) / d_k
    attention_weights = softmax(scores)
    output = np.dot(attention_weights, V)
    return output, attention_weights
