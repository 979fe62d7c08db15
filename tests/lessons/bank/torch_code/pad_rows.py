import math

import torch
import torch.nn as nn


class SelfAttention(nn.Module):
    """key_padding_mask: (batch, length), True = padding, to be ignored"""

    def __init__(self, dim=5):
        super().__init__()
        self.q_proj = nn.Linear(dim, dim)
        self.k_proj = nn.Linear(dim, dim)
        self.v_proj = nn.Linear(dim, dim)

    def forward(self, x, key_padding_mask=None):
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        scores = q @ k.transpose(1, 2) / math.sqrt(q.size(-1))
        if key_padding_mask is not None:
            scores = scores.masked_fill(key_padding_mask.unsqueeze(-1), -1e9)
        return torch.softmax(scores, dim=-1) @ v
