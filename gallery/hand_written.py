"""An attention as tutorials write it, head by head in a list: it is found by what it computes, whatever its names.

튜토리얼에서 흔히 보는, 헤드마다 따로 적은 어텐션입니다. 이름이 무엇이든 하는 계산을 보고 찾아냅니다.

    python gallery/hand_written.py [en|ko]
"""

import sys

import torch
from torch import nn

import jumok


class Head(nn.Module):
    def __init__(self, width, size):
        super().__init__()
        self.asks, self.offers, self.gives = (nn.Linear(width, size, bias=False) for _ in range(3))

    def forward(self, x):
        fits = self.asks(x) @ self.offers(x).transpose(-2, -1) * self.asks.out_features**-0.5
        future = torch.ones(x.shape[-2], x.shape[-2]).triu(1).bool()
        return torch.softmax(fits.masked_fill(future, float("-inf")), dim=-1) @ self.gives(x)


class Heads(nn.Module):
    def __init__(self, width=16, heads=2):
        super().__init__()
        self.heads = nn.ModuleList(Head(width, width // heads) for _ in range(heads))

    def forward(self, x):
        return torch.cat([head(x) for head in self.heads], dim=-1)


def look(lang="en"):
    """What is seen, in words, and the picture of it."""
    torch.manual_seed(0)
    model, x = Heads().eval(), torch.randn(1, 7, 16)
    with torch.no_grad(), jumok.capture() as reading:
        mixed = model(x)
    off = abs(reading[0].mixed[0] - mixed[0, :, :8].numpy()).max()
    n_heads = reading[0].weights.shape[0]
    told = {
        "en": f"Two calls, and {len(reading)} layer of {n_heads} heads is read from them, with the mask as a "
        "rule: causal. Computed again from q, k and v, what "
        f"head 0 mixes differs from the model's own by {off:.0e} at most.",
        "ko": f"계산이 두 번 있었고, 헤드 {n_heads}개짜리 층 {len(reading)}개로 읽었습니다. 마스크는 인과 "
        "마스크라는 규칙으로 읽었습니다. q, k, v로 다시 계산하면 0번 헤드가 섞은 값이 모델 자신의 "
        f"값과 가장 커도 {off:.0e}만큼 다릅니다.",
    }
    return told[lang], jumok.draw(reading[0], lang=lang)


if __name__ == "__main__":
    said, picture = look(*sys.argv[1:2])
    print(said)
    print(picture.save("hand_written.html"))
