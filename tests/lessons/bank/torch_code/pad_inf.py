import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    """key_padding_mask: (B, T), True means: this token is padding and is not attended to."""

    def __init__(self, dim=8, heads=2):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, key_padding_mask=None):
        B, T, D = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, D // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        scores = q @ k.mT / (D // self.heads) ** 0.5
        if key_padding_mask is not None:
            scores = scores.masked_fill(key_padding_mask[:, None, None, :], -torch.inf)
        y = scores.softmax(-1) @ v
        return self.out(y.transpose(1, 2).reshape(B, T, D))
