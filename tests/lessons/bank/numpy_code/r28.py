import numpy as np
from typing import Tuple

Array = np.ndarray

def attention_weights(q: Array, k: Array) -> Array:
    s = np.matmul(q, np.transpose(k, (0, 2, 1)))
    s = np.true_divide(s, np.sqrt(k.shape[2]))
    s = np.subtract(s, np.amax(s, axis=2, keepdims=True))
    return np.divide(np.exp(s), np.sum(np.exp(s), axis=2, keepdims=True))

def attend(q: Array, k: Array, v: Array) -> Tuple[Array, Array]:
    w = attention_weights(q, k)
    return w, np.matmul(w, v)
