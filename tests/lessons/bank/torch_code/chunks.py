import math

import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model=8, n_heads=4):
        super().__init__()
        self.n_heads = n_heads
        self.W_Q = nn.Linear(d_model, d_model)
        self.W_K = nn.Linear(d_model, d_model)
        self.W_V = nn.Linear(d_model, d_model)
        self.W_O = nn.Linear(d_model, d_model)

    def forward(self, query, key, value):
        # 각각 투영한 뒤 헤드로 나눈다
        Q = self.split(self.W_Q(query))
        K = self.split(self.W_V(key))
        V = self.split(self.W_V(value))
        A = torch.softmax(Q @ K.mT / math.sqrt(Q.shape[-1]), dim=-1)
        return self.W_O((A @ V).transpose(1, 2).flatten(2)), A

    def split(self, t):
        return t.reshape(t.shape[0], t.shape[1], self.n_heads, -1).transpose(1, 2)
