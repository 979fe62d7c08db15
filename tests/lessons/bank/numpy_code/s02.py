import numpy as np


def batched(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Attention for a whole batch. Q, K, V: (batch, seq, dim)."""
    logits = np.einsum("bqd,bkd->bqk", Q, K)
    logits -= logits.max(-1, keepdims=True)  # stability
    probs = np.exp(logits)
    probs /= probs.sum(-1, keepdims=True)
    return np.einsum("bqk,bkd->bqd", probs, V), probs
