import numpy as np

def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

def self_attention(x, w_q, w_k, w_v, pad_mask=None):
    """pad_mask: (batch, seq), 1 for real tokens, 0 for padding."""
    q = x @ w_q
    k = x @ w_k
    v = x @ w_v
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
    if pad_mask is not None:
        scores = np.where(pad_mask[:, :, None] == 0, -1e9, scores)
    return softmax(scores) @ v
