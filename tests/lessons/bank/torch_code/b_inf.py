import torch
import torch.nn as nn


class CrossAttention(nn.Module):
    """context_mask: (batch, m) bool, True = real token, False = padding"""

    def __init__(self, dim=6, context_dim=8):
        super().__init__()
        self.to_q = nn.Linear(dim, dim, bias=False)
        self.to_k = nn.Linear(context_dim, dim, bias=False)
        self.to_v = nn.Linear(context_dim, dim, bias=False)

    def forward(self, x, context, context_mask=None):
        sim = torch.einsum("bid,bjd->bij", self.to_q(x), self.to_k(context))
        if context_mask is not None:
            sim = sim.masked_fill(~context_mask[:, None, :], -torch.inf)
        return torch.einsum("bij,bjd->bid", sim.softmax(dim=-1), self.to_v(context))
