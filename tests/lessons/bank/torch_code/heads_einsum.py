# 멀티 헤드 어텐션
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int = 8, num_heads: int = 2):
        super().__init__()
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        batch, seq, _ = x.shape
        # 헤드로 나누기
        Q = self.W_Q(x).view(batch, seq, self.num_heads, self.d_head)
        K = self.W_K(x).view(batch, seq, self.num_heads, self.d_head)
        V = self.W_V(x).view(batch, seq, self.num_heads, self.d_head)
        # 점수
        scores = torch.einsum("bihd,bjhd->bhij", Q, K)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1)
        # 헤드 합치기
        context = torch.einsum("bhij,bjhd->bihd", weights, V)
        return self.W_O(context.reshape(batch, seq, -1))
