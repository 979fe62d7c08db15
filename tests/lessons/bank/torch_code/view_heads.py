import math

import torch.nn as nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model=8, num_heads=2):
        super().__init__()
        self.num_heads = num_heads
        self.d_k = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, Q, K, V):
        B = Q.size(0)
        Q = self.W_q(Q).view(B, self.num_heads, -1, self.d_k)
        K = self.W_k(K).view(B, self.num_heads, -1, self.d_k)
        V = self.W_v(V).view(B, self.num_heads, -1, self.d_k)
        attn = F.softmax(Q @ K.transpose(-2, -1) / math.sqrt(self.d_k), dim=-1)
        out = (attn @ V).view(B, -1, self.num_heads * self.d_k)
        return self.W_o(out)
