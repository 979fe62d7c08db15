import numpy as np

def softmax(x):
    y = np.exp(x - x.max(axis=-1, keepdims=True))
    return y / y.sum(axis=-1, keepdims=True)

def dot_product_attention(queries, keys, values):
    d = queries.shape[-1]
    scores = np.matmul(queries, np.transpose(keys, (0, 2, 1))) * np.sqrt(d)
    return np.matmul(softmax(scores), values)
