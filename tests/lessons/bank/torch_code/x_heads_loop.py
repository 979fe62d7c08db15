import math

import torch
import torch.nn.functional as F


def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads):
    """Self-attention with several heads on a (T, d_model) input."""
    T, D = x.shape
    hd = w_q.shape[1] // n_heads
    out = []
    for h in range(n_heads):
        cols = slice(h * hd, (h + 1) * hd)
        q, k, v = x @ w_q[:, cols], x @ w_k[:, cols], x @ w_v[:, cols]
        a = F.softmax(q @ k.t() / math.sqrt(hd), dim=1)
        out.append(a @ v)
    return torch.cat(out, dim=1) @ w_o
