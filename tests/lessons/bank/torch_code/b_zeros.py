import torch


def attention(q, k, v, mask=None):
    d_k = q.shape[-1]
    scores = torch.einsum("...qd,...kd->...qk", q, k) / d_k
    if mask is not None:
        scores = scores.masked_fill(mask == 0, 0)
    p = scores.softmax(dim=-1)
    return torch.einsum("...qk,...kd->...qd", p, v), p
