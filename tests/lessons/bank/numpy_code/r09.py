import numpy as np

def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        columns = np.arange(X.shape[2])
        keep = columns[None, None, :] < np.asarray(valid_lens)[:, None, None]
        X = np.where(keep, X, -1e6)
    X = np.exp(X - X.max(axis=-1, keepdims=True))
    return X / X.sum(axis=-1, keepdims=True)

def attention(queries, keys, values, valid_lens=None):
    scores = np.matmul(queries, keys.transpose(0, 2, 1)) / np.sqrt(queries.shape[-1])
    return np.matmul(masked_softmax(scores, valid_lens), values)
