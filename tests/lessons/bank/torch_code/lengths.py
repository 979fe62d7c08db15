import math

import torch
import torch.nn.functional as F


def sequence_mask(lengths, size):
    return torch.arange(size, device=lengths.device)[None, :] < lengths[:, None]


def attention(queries, keys, values, valid_lens=None):
    d = queries.shape[-1]
    scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(d)
    if valid_lens is not None:
        keep = sequence_mask(valid_lens, keys.shape[1]).unsqueeze(1)
        scores = scores.masked_fill(~keep, -1e6)
    return torch.bmm(F.softmax(scores, dim=-1), values)
