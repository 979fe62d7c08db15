import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttention(nn.Module):
    """nn.Linear 없이 nn.Parameter로만 만든 셀프 어텐션"""

    def __init__(self, d_model: int = 6, d_k: int = 4) -> None:
        super().__init__()
        self.w_q = nn.Parameter(torch.randn(d_model, d_k) * 0.1)
        self.w_k = nn.Parameter(torch.randn(d_model, d_k) * 0.1)
        self.w_v = nn.Parameter(torch.randn(d_model, d_k) * 0.1)
        self.d_k = d_k

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        Q = torch.matmul(x, self.w_q)  # (n, d_k)
        K = torch.matmul(x, self.w_k)
        V = torch.matmul(x, self.w_v)
        attn = F.softmax(torch.matmul(Q, K.transpose(-1, -2)) / math.sqrt(self.d_k), dim=-1)
        return torch.matmul(attn, V), attn
