import math

import torch
import torch.nn.functional as F


def causal_attention(query, key, value):
    length = query.size(-2)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    future = torch.full((length, length), float("-inf")).triu().to(scores)
    weights = F.softmax(scores + future, dim=-1)
    return weights @ value
