"""PyTorch's own nn.TransformerEncoder with padding: nobody reads the filler, so it is no part of the record.

PyTorch의 nn.TransformerEncoder에 패딩을 넣습니다. 채워 넣은 자리는 아무도 참고하지 않으므로 기록에도 들어가지 않습니다.

    python gallery/torch_encoder.py [en|ko]
"""

import sys

import torch
from torch import nn

import jumok


def look(lang="en"):
    """What is seen, in words, and the picture of it."""
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    filler = torch.tensor([[False] * 6 + [True] * 2])  # True: not a token
    with torch.no_grad(), jumok.capture() as reading:
        model(torch.randn(1, 8, 32), src_key_padding_mask=filler)
    n_heads, n_tokens, _ = reading[1].weights.shape
    told = {
        "en": f"8 places, 2 of them filler: {len(reading)} layers of {n_heads} heads over {n_tokens} tokens are "
        "read. Each row sums to "
        f"{reading[1].weights.sum(-1).min():.3f} over these alone.",
        "ko": f"자리 8개 가운데 2개는 채워 넣은 것입니다. 토큰 {n_tokens}개 위의 헤드 {n_heads}개씩 "
        f"{len(reading)}개 층을 읽었습니다. 각 행은 이 토큰들만으로 "
        f"합이 {reading[1].weights.sum(-1).min():.3f}입니다.",
    }
    return told[lang], jumok.draw(reading, "heat", layer=1, head=0, lang=lang)


if __name__ == "__main__":
    said, picture = look(*sys.argv[1:2])
    print(said)
    print(picture.save("torch_encoder.html"))
