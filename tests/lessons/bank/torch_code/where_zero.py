import torch


def attention(q, k, v, mask):
    """mask: True where attention is allowed."""
    sim = q @ k.transpose(-1, -2)
    sim = sim / torch.sqrt(torch.tensor(q.shape[-1], dtype=q.dtype))
    sim = torch.where(mask, sim, float("-inf"))
    attn = torch.nan_to_num(torch.softmax(sim, -1))
    return attn @ v
