import numpy as np

def causal_self_attention(x, W_q, W_k, W_v):
    # 쿼리, 키, 밸류
    Q, K, V = x @ W_q, x @ W_k, x @ W_v
    # 미래를 가린다
    scores = np.tril(Q @ K.T)
    scores = scores - scores.max(axis=1, keepdims=True)
    weights = np.exp(scores)
    weights = weights / weights.sum(axis=1, keepdims=True)
    return weights @ V
