import torch
import torch.nn as nn


def attention(q, k, v, mask=None):
    s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        s = s.masked_fill(mask == 0, -1e9)
    return torch.softmax(s, -1) @ v

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model=6, heads=3):
        super().__init__()
        self.heads = heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, q, k, v, mask=None):
        q = self.W_q(q).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        k = self.W_k(k).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        v = self.W_v(v).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        out = attention(q, k, v)
        return self.W_o(out.transpose(1, 2).flatten(2))
