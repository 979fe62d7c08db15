import torch
import torch.nn as nn


class CrossAttention(nn.Module):
    def __init__(self, dim=8, ctx_dim=6, n_heads=2):
        super().__init__()
        self.n_heads = n_heads
        self.scale = 1 / (dim // n_heads)
        self.q = nn.Linear(dim, dim, bias=False)
        self.k = nn.Linear(ctx_dim, dim, bias=False)
        self.v = nn.Linear(ctx_dim, dim, bias=False)
        self.o = nn.Linear(dim, dim)

    def heads(self, t):
        return t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x, context):
        q, k, v = self.heads(self.q(x)), self.heads(self.k(context)), self.heads(self.v(context))
        w = torch.softmax(q @ k.mT * self.scale, dim=-1)
        return self.o((w @ v).transpose(1, 2).flatten(2))
