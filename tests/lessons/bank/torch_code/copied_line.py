import math

import torch.nn as nn
import torch.nn.functional as F


class Head(nn.Module):
    def __init__(self, n_embd=8, head_size=4):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)

    def forward(self, x):
        q = self.query(x)
        k = self.query(x)
        v = self.value(x)
        wei = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
        return F.softmax(wei, dim=-1) @ v
