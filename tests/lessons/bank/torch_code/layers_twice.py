import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class DotProductAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(dim=-1)

    def scores(self, q, k):
        return self.softmax(torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.size(-1)))

    def forward(self, q, k, v):
        weights = F.softmax(self.scores(q, k), dim=-1)
        return torch.matmul(weights, v)
