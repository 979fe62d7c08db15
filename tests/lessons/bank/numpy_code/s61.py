import numpy as np


class 멀티헤드:
    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.w_q = rng.normal(size=(d_model, d_model))
        self.w_k = rng.normal(size=(d_model, d_model))
        self.w_v = rng.normal(size=(d_model, d_model))
        self.w_o = rng.normal(size=(d_model, d_model))

    def softmax(self, s):
        e = np.exp(s - s.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def __call__(self, x):
        q = x @ self.w_q
        k = x @ self.w_k
        v = x @ self.w_v
        # 헤드로 나누는 것을 잊었다
        s = np.einsum("bqd,bkd->bqk", q, k) / np.sqrt(self.d_head)
        return np.einsum("bqk,bkd->bqd", self.softmax(s), v) @ self.w_o
