import torch
import torch.nn as nn


softmax = nn.Softmax(dim=-1)

def attention(q, k, v):
    score = softmax(torch.matmul(q, k.transpose(-2, -1)))
    return torch.matmul(softmax(score), v), score
