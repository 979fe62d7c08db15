import numpy as np

class MultiHeadAttention:
    """Multi-head self-attention in NumPy."""

    def __init__(self, d_model, num_heads, seed=0):
        assert d_model % num_heads == 0
        rng = np.random.default_rng(seed)
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = rng.standard_normal((4, d_model, d_model)) / np.sqrt(d_model)

    def _heads(self, t):
        return t.reshape(*t.shape[:-1], self.num_heads, self.head_dim).swapaxes(-3, -2)

    def forward(self, x):
        q, k, v = (self._heads(x @ w) for w in (self.w_q, self.w_k, self.w_v))
        scores = q @ k.swapaxes(-1, -2) / np.sqrt(self.head_dim)
        scores -= scores.max(axis=-1, keepdims=True)
        weights = np.exp(scores)
        weights /= weights.sum(axis=-1, keepdims=True)
        merged = (weights @ v).swapaxes(-3, -2).reshape(x.shape)
        return merged @ self.w_o
