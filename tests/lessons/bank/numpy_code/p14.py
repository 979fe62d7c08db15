import numpy as np

def self_attention(x, w_q, w_k, w_v, padding_mask=None):
    """
    x: (batch, n_tokens, d_model)
    padding_mask: (batch, n_tokens), True where there is a word, False where there is padding
    """
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    scores = q @ k.transpose(0, 2, 1)
    if padding_mask is not None:
        scores = np.where(np.expand_dims(padding_mask, -1), scores, -1e9)
    scores = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    return weights @ v
