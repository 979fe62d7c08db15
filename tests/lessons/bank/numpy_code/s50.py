import math
import numpy as np

def softmax(scores):
    out = np.empty_like(scores)
    for idx in np.ndindex(scores.shape[:-1]):
        e = np.exp(scores[idx])
        out[idx] = e / e.sum()
    return out
