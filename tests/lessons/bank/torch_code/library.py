import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model=8, n_heads=2):
        super().__init__()
        self.mha = nn.MultiheadAttention(d_model, n_heads, batch_first=True)

    def forward(self, x):
        out, _ = self.mha(x, x, x, need_weights=False)
        return out
