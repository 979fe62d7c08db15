import numpy as np

class MultiHead:
    def __init__(self, d_model, n_heads):
        self.d_model = d_model
        self.h = n_heads
        self.d_head = d_model // n_heads
        rng = np.random.default_rng(0)
        self.W_q = rng.normal(size=(d_model, d_model)) * 0.02
        self.W_k = rng.normal(size=(d_model, d_model)) * 0.02
        self.W_v = rng.normal(size=(d_model, d_model)) * 0.02
        self.W_o = rng.normal(size=(d_model, d_model)) * 0.02

    def split(self, t):
        b, n, _ = t.shape
        return t.reshape(b, n, self.h, self.d_head).transpose(0, 2, 1, 3)

    def forward(self, x):
        q, k, v = self.split(x @ self.W_q), self.split(x @ self.W_k), self.split(x @ self.W_v)
        s = q @ k.transpose(0, 1, 3, 2) / np.sqrt(self.d_model)
        s = s - s.max(-1, keepdims=True)
        a = np.exp(s) / np.exp(s).sum(-1, keepdims=True)
        o = (a @ v).transpose(0, 2, 1, 3).reshape(x.shape)
        return o @ self.W_o
