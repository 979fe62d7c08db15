import torch.nn.functional as F


def attention(q, k, v, mask=None):
    """mask: True where q may look at k"""
    scores = q @ k.transpose(-2, -1) / k.size(-1) ** 0.5
    if mask is not None:
        mask.logical_not_()
        scores = scores.masked_fill(mask, -1e9)
    return F.softmax(scores, dim=-1) @ v
