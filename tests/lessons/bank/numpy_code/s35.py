import numpy as np

def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        positions = np.arange(X.shape[-1])
        mask = positions[None, :] < valid_lens[:, None]
        X = np.where(mask[:, None, :], -1e6, X)
    X = np.exp(X - X.max(axis=-1, keepdims=True))
    return X / X.sum(axis=-1, keepdims=True)

def attention(queries, keys, values, valid_lens=None):
    d = queries.shape[-1]
    scores = queries @ keys.transpose(0, 2, 1) / np.sqrt(d)
    return masked_softmax(scores, valid_lens) @ values
