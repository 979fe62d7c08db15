import torch
import torch.nn.functional as F


def attention(q, k, v, mask=None):
    """mask is True at the positions that can be attended to."""
    attn = torch.matmul(q / q.size(-1) ** 0.5, k.transpose(-2, -1))
    if mask is not None:
        attn = attn.masked_fill(mask, -1e9)
    attn = F.softmax(attn, dim=-1)
    return torch.matmul(attn, v), attn
