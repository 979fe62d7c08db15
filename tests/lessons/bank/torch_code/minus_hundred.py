import torch


def attention(q, k, v, mask):
    """mask: bool (n, m), True = this key may be attended to"""
    scores = q @ k.mT * q.size(-1) ** -0.5
    scores = torch.where(mask, scores, torch.tensor(-100.0, dtype=q.dtype))
    return scores.softmax(dim=-1) @ v
