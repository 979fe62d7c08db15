import torch
import torch.nn.functional as F


def attention(query, key, value):
    scores = torch.matmul(query, key.transpose(-2, -1))
    p_attn = F.softmax(scores, dim=-1)
    return torch.matmul(p_attn, value), p_attn
