import math

import torch.nn as nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model=8, num_heads=2, dropout=0.1):
        super().__init__()
        self.h = num_heads
        self.p = dropout
        self.q_linear = nn.Linear(d_model, d_model)
        self.k_linear = nn.Linear(d_model, d_model)
        self.v_linear = nn.Linear(d_model, d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        q = self.q_linear(x).view(B, T, self.h, -1).transpose(1, 2)
        k = self.k_linear(x).view(B, T, self.h, -1).transpose(1, 2)
        v = self.v_linear(x).view(B, T, self.h, -1).transpose(1, 2)
        attn = F.softmax(q @ k.transpose(-2, -1) / math.sqrt(D // self.h), dim=-1)
        if mask is not None:
            attn = attn.masked_fill(mask == 0, 0)
        attn = F.dropout(attn, self.p)
        return self.out((attn @ v).transpose(1, 2).reshape(B, T, D))
