import numpy as np

class SelfAttention:
    def __init__(self, d_model):
        self.W_q = np.random.randn(d_model, d_model)
        self.W_k = np.random.randn(d_model, d_model)
        self.W_v = np.random.randn(d_model, d_model)

    def softmax(self, x):
        e = np.exp(x - np.max(x, axis=-1, keepdims=True))
        return e / np.sum(e, axis=-1, keepdims=True)

    def forward(self, x):
        Q, K, V = x @ self.W_q, x @ self.W_k, x @ self.W_v
        scores = Q @ K.swapaxes(-2, -1) / np.sqrt(self.W_k.shape[1])
        return self.softmax(scores) @ V
