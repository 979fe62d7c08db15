import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model=8, num_heads=2):
        super().__init__()
        self.d_model = d_model
        self.num_heads = num_heads
        self.depth = d_model // num_heads
        self.wq = nn.Linear(d_model, d_model)
        self.wk = nn.Linear(d_model, d_model)
        self.wv = nn.Linear(d_model, d_model)
        self.dense = nn.Linear(d_model, d_model)

    def forward(self, x):
        B, T, _ = x.shape
        q = self.wq(x).view(B, self.num_heads, T, self.depth)
        k = self.wk(x).view(B, self.num_heads, T, self.depth)
        v = self.wv(x).view(B, self.num_heads, T, self.depth)
        logits = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.d_model)
        context = torch.matmul(F.softmax(logits, dim=-1), v)
        return self.dense(context.reshape(B, T, self.d_model))
