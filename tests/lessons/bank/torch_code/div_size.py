import torch


def attention(q, k, v):
    attn = torch.bmm(q, k.transpose(1, 2)) / q.size(-1)
    attn = torch.softmax(attn, dim=-1)
    return torch.bmm(attn, v)
