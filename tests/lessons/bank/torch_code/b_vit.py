import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, dim=12, num_heads=3):
        super().__init__()
        self.num_heads = num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.to_q = nn.Linear(dim, dim, bias=False)
        self.to_k = nn.Linear(dim, dim, bias=False)
        self.to_v = nn.Linear(dim, dim, bias=False)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = (f(x).view(B, N, self.num_heads, -1).transpose(1, 2) for f in (self.to_q, self.to_k, self.to_v))
        attn = ((q * self.scale) @ k.transpose(-2, -1)).softmax(dim=-2)
        return self.to_out((attn @ v).reshape(B, N, C))
