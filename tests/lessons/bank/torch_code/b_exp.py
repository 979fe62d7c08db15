import torch


def attention(q, k, v):
    # 내적으로 점수를 구하고
    s = torch.matmul(q, k.transpose(-2, -1))
    # 지수를 취해 합으로 나눈다
    e = torch.exp(s)
    w = e / torch.sum(e, dim=-1, keepdim=True)
    return torch.matmul(w, v), w
