import torch


def softmax(scores):
    shifted = scores - torch.max(scores, dim=-1, keepdim=True).values
    exp = shifted.exp()
    return exp / exp.sum(-1, keepdim=True)
