import torch.nn as nn
import torch.nn.functional as F


class SelfAttention(nn.Module):
    def __init__(self, hidden=8, p=0.1):
        super().__init__()
        self.p = p
        self.query = nn.Linear(hidden, hidden)
        self.key = nn.Linear(hidden, hidden)
        self.value = nn.Linear(hidden, hidden)

    def forward(self, x):
        attn = F.softmax(self.query(x) @ self.key(x).transpose(-2, -1), dim=-1)
        return F.dropout(attn, self.p) @ self.value(x)
