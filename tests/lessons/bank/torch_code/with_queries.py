import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model=6, n_heads=2):
        super().__init__()
        self.n_heads = n_heads
        self.to_q = nn.Linear(d_model, d_model, bias=False)
        self.to_k = nn.Linear(d_model, d_model, bias=False)
        self.to_v = nn.Linear(d_model, d_model, bias=False)
        self.to_out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x):
        q, k, v = (f(x).unflatten(2, (self.n_heads, -1)).transpose(1, 2) for f in (self.to_q, self.to_k, self.to_v))
        a = torch.softmax(torch.einsum("bhid,bhjd->bhij", q, k) / q.size(-1) ** 0.5, -1)
        out = torch.einsum("bhij,bhjd->bhid", a, q)
        return self.to_out(out.transpose(1, 2).flatten(2))
