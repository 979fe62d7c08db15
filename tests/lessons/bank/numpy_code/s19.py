import numpy as np

def softmax(scores):
    exp = np.exp(scores - np.max(scores, axis=0, keepdims=True))
    return exp / np.sum(exp, axis=0, keepdims=True)
