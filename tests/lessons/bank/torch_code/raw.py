import torch.nn as nn


class SelfAttention(nn.Module):
    def __init__(self, dim=6):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(dim, dim, bias=False) for _ in range(3))

    def forward(self, x):
        q, k, v = self.query(x), self.key(x), self.value(x)
        # 유사도 = 가중치
        attn = q @ k.transpose(1, 2) * q.size(-1) ** -0.5
        return attn @ v
