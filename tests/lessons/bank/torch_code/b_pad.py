import torch
import torch.nn as nn


class SelfAttention(nn.Module):
    """key_padding_mask: True for padding positions"""

    def __init__(self, d=6):
        super().__init__()
        self.W_q = nn.Linear(d, d, bias=False)
        self.W_k = nn.Linear(d, d, bias=False)
        self.W_v = nn.Linear(d, d, bias=False)

    def forward(self, x, key_padding_mask):
        s = torch.bmm(self.W_q(x), self.W_k(x).transpose(1, 2))
        s = s.masked_fill(key_padding_mask.unsqueeze(2), -1e9)
        return torch.bmm(s.softmax(dim=2), self.W_v(x))
