import numpy as np

def attention_with_dropout(q, k, v, p=0.1):
    scores = np.einsum("bik,bjk->bij", q, k)
    scores = scores - scores.max(axis=-1, keepdims=True)
    w = np.exp(scores)
    w = w / w.sum(axis=-1, keepdims=True)
    drop = np.random.binomial(1, 1 - p, size=w.shape)
    w = w * drop / (1 - p)
    return np.einsum("bij,bjd->bid", w, v), w
