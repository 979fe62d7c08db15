import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiHeadSelfAttention(nn.Module):
    """key_padding_mask: (B, T) bool, True for pad tokens, as in nn.MultiheadAttention."""

    def __init__(self, embed_dim: int = 8, num_heads: int = 4, dropout: float = 0.3):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.dropout = dropout

    def split(self, t):
        return t.view(t.size(0), t.size(1), self.num_heads, self.head_dim).permute(0, 2, 1, 3)

    def forward(self, x, key_padding_mask=None):
        q, k, v = self.split(self.q_proj(x)), self.split(self.k_proj(x)), self.split(self.v_proj(x))
        scores = torch.matmul(q, k.permute(0, 1, 3, 2)) / self.head_dim**0.5
        if key_padding_mask is not None:
            scores = scores.masked_fill(key_padding_mask[:, None, None, :], torch.finfo(scores.dtype).min)
        weights = F.dropout(F.softmax(scores, dim=-1), self.dropout, self.training)
        out = torch.matmul(weights, v).permute(0, 2, 1, 3)
        return self.out_proj(out.reshape(x.size(0), x.size(1), -1))
