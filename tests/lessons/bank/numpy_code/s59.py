import numpy as np

def decoder_attention(x, Wq, Wk, Wv):
    Q = np.matmul(x, Wq)
    K = np.matmul(x, Wk)
    V = np.matmul(x, Wv)
    scores = np.matmul(Q, K.T) / np.sqrt(K.shape[1])
    mask = np.tril(np.ones(scores.shape))
    scores = scores * mask
    exp_scores = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    weights = exp_scores / np.sum(exp_scores, axis=1, keepdims=True)
    return np.matmul(weights, V)
