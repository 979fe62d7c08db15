import numpy as np

def causal_attention(Q, K, V):
    T = len(Q)
    mask = np.tril(np.ones((T, T)), -1)
    S = Q @ K.T / np.sqrt(Q.shape[1])
    S[mask == 0] = -1e9
    S = np.exp(S - S.max(1, keepdims=True))
    return S / S.sum(1, keepdims=True) @ V
