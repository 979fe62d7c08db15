import torch
import torch.nn as nn


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.d_out = d_out
        self.W_q = nn.Parameter(torch.rand(d_in, d_out))
        self.W_k = nn.Parameter(torch.rand(d_in, d_out))
        self.W_v = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        queries, keys, values = x @ self.W_q, x @ self.W_k, x @ self.W_v
        attn_weights = torch.softmax(queries @ keys.transpose(-2, -1) / self.d_out**0.5, dim=-1)
        context_length = x.shape[-2]
        mask_simple = torch.tril(torch.ones(context_length, context_length, dtype=x.dtype))
        masked_simple = attn_weights * mask_simple
        return masked_simple @ values
