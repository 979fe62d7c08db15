import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    """No transpose anywhere: einsum finds the axes by their letters."""

    def __init__(self, d_model=9, n_heads=3):
        super().__init__()
        self.h = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.fc_out = nn.Linear(d_model, d_model)

    def forward(self, query, key, value):
        q = self.query(query).unflatten(-1, (self.h, -1))
        k = self.key(key).unflatten(-1, (self.h, -1))
        v = self.value(value).unflatten(-1, (self.h, -1))
        energy = torch.einsum("bqhd,bkhd->bhqk", q, k)
        attention = torch.softmax(energy / q.shape[-1] ** 0.5, dim=3)
        out = torch.einsum("bhqk,bkhd->bqhd", attention, v).flatten(2)
        return self.fc_out(out), attention
