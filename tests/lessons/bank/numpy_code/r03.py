import numpy as np

def einsum_attention(Q, K, V):
    S = np.einsum("bqd,bkd->bqk", Q, K) / np.sqrt(Q.shape[-1])
    E = np.exp(S - S.max(-1, keepdims=True))
    A = E / E.sum(-1, keepdims=True)
    return np.einsum("bqk,bkd->bqd", A, V), A
