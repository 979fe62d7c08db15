import torch
import torch.nn.functional as F


def attention(쿼리, 키, 밸류):
    # 쿼리와 키의 내적
    점수 = torch.matmul(쿼리, 키.transpose(-2, -1))
    가중치 = F.softmax(점수, dim=-1) / 키.size(-1) ** 0.5
    return 가중치, torch.matmul(가중치, 밸류)
