import math

import torch


def attention(Q, K, V):
    logits = torch.bmm(Q, K.permute(0, 2, 1)).div(math.sqrt(K.size(2)))
    log_weights = logits - torch.logsumexp(logits, dim=2, keepdim=True)
    return torch.bmm(log_weights.exp(), V)
