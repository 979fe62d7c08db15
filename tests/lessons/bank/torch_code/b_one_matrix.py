import torch.nn as nn
import torch.nn.functional as F


class MultiHead(nn.Module):
    def __init__(self, d_model=8, heads=2):
        super().__init__()
        self.heads = heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x):
        B, T, D = x.shape
        q = self.q_proj(x).view(B, T, self.heads, -1).transpose(1, 2)
        k = self.q_proj(x).view(B, T, self.heads, -1).transpose(1, 2)
        v = self.v_proj(x).view(B, T, self.heads, -1).transpose(1, 2)
        a = F.softmax(q @ k.mT / (D // self.heads) ** 0.5, dim=1)
        return self.o_proj((a @ v).transpose(1, 2).reshape(B, T, D))
