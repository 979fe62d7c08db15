import numpy as np

def softmax(x):
    m = np.max(x, axis=-1, keepdims=True)
    log_total = m + np.log(np.sum(np.exp(x - m), axis=-1, keepdims=True))
    return np.exp(x - log_total)
