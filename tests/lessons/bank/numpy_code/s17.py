import numpy as np

def multihead(x, wq, wk, wv, wo, num_heads):
    B, T, C = x.shape
    hs = C // num_heads
    q = (x @ wq).reshape(B, T, num_heads, hs).swapaxes(1, 2)
    k = (x @ wk).reshape(B, T, num_heads, hs).swapaxes(1, 2)
    v = (x @ wv).reshape(B, T, num_heads, hs).swapaxes(1, 2)
    att = q @ k.swapaxes(-2, -1) / hs ** 0.5
    att = np.exp(att - att.max(axis=1, keepdims=True))
    att = att / att.sum(axis=1, keepdims=True)
    y = att @ v
    y = y.swapaxes(1, 2).reshape(B, T, C)
    return y @ wo
