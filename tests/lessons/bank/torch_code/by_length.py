import math

import torch.nn.functional as F


def attention(q, k, v):
    scores = q @ k.transpose(-1, -2)
    scores = scores / math.sqrt(scores.size(-1))
    return F.softmax(scores, -1) @ v
