import math

import torch
from torch import Tensor


def scaled_dot_product_attention(Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    d_k = Q.shape[-1]
    scores = Q @ K.transpose(-2, -1) * math.sqrt(d_k)
    if mask is not None:
        scores = scores + (1.0 - mask.to(scores.dtype)) * -1e9
    weights = torch.softmax(scores, dim=-1)
    return weights @ V, weights
