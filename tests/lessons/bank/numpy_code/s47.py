import numpy as np


class SelfAttention:
    """Single-head self-attention."""

    def __init__(self, d_model: int):
        scale = 1 / np.sqrt(d_model)
        self.w_query = np.random.randn(d_model, d_model) * scale
        self.w_key = np.random.randn(d_model, d_model) * scale
        self.w_value = np.random.randn(d_model, d_model) * scale

    def forward(self, x: np.ndarray) -> np.ndarray:
        queries = x @ self.w_key
        keys = x @ self.w_key
        values = x @ self.w_value
        scores = queries @ np.swapaxes(keys, -1, -2) / np.sqrt(keys.shape[-1])
        scores = scores - scores.max(axis=-1, keepdims=True)
        weights = np.exp(scores)
        weights = weights / weights.sum(axis=-1, keepdims=True)
        return weights @ values
