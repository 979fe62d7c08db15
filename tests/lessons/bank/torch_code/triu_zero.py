import torch


def causal_attention(q, k, v):
    # 상삼각 마스크로 미래를 가린다
    T = q.shape[-2]
    mask = torch.triu(torch.ones(T, T)).bool()
    s = (q @ k.mT) / q.shape[-1] ** 0.5
    s[..., mask] = -1e9
    return s.softmax(-1) @ v
