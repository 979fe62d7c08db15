import numpy as np

NEG = -1e9

def masked_self_attention(x, w_query, w_key, w_value):
    queries = x @ w_query
    keys = x @ w_key
    values = x @ w_value
    t = x.shape[0]
    look_ahead = np.tril(np.ones((t, t)), k=-1) * NEG
    scores = queries @ keys.T / keys.shape[-1] ** 0.5 + look_ahead
    scores -= scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores)
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights @ values, weights
