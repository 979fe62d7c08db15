import math

import torch
import torch.nn.functional as F


def causal_attention(q, k, v):
    T = q.size(-2)
    # 미래의 토큰을 가리는 마스크
    causal = torch.full((T, T), float("-inf"), dtype=q.dtype, device=q.device).triu(1)
    att = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1))) + causal
    return F.softmax(att, dim=-1) @ v
