"""A document of 4,096 tokens: all heads are read and drawn, and no 4,096 × 4,096 table is ever stored.

토큰 4,096개짜리 긴 글입니다. 모든 헤드를 읽고 그리지만 4,096 × 4,096 표는 한 번도 저장하지 않습니다.

    python gallery/long_document.py [en|ko]
"""

import sys

import torch
from transformers import LlamaConfig, LlamaModel

import jumok

N = 4096


def look(lang="en"):
    """What is seen, in words, and the picture of it."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=200, hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=N,
    )  # fmt: skip
    model = LlamaModel(config).eval()
    reading = jumok.capture(model, torch.randint(200, (1, N)))
    held = sum(layer.q.nbytes + layer.k.nbytes + layer.v.nbytes for layer in reading)
    tables = sum(layer.q.shape[0] for layer in reading) * N * N * 4
    row = reading[1].rows("weights", queries=[N - 1])
    told = {
        "en": f"{N:,} tokens: q, k and v take {held / 1e6:.1f} MB, the tables would take {tables / 1e6:.0f} MB. "
        f"The last row is computed when somebody looks; it sums to {row[0, 0].sum():.3f}.",
        "ko": f"토큰 {N:,}개: q, k, v는 {held / 1e6:.1f} MB이고, 표를 저장했다면 {tables / 1e6:.0f} MB였을 "
        f"것입니다. 마지막 행은 누가 볼 때 계산합니다. 그 합은 {row[0, 0].sum():.3f}입니다.",
    }
    return told[lang], jumok.draw(reading, lang=lang)


if __name__ == "__main__":
    said, picture = look(*sys.argv[1:2])
    print(said)
    print(picture.save("long_document.html"))
