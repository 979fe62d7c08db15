import math

import torch


def cross_attention(x, context, w_q, w_k, w_v):
    q = torch.einsum("nd,de->ne", x, w_q)
    k = torch.einsum("md,de->me", context, w_k)
    v = torch.einsum("md,de->me", context, w_v)
    s = torch.einsum("ne,me->nm", q, k) / math.sqrt(q.shape[1])
    return torch.einsum("nm,me->ne", torch.softmax(s, dim=1), v)
