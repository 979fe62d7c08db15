import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model=12, n_heads=3, dropout=0.1):
        super().__init__()
        assert d_model % n_heads == 0
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value):
        q, k, v = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        scores = torch.bmm(q, k.transpose(1, 2)) / k.size(-1) ** 0.5
        return self.out_proj(self.dropout(scores.softmax(dim=-1)) @ v)
