"""A model with a sliding window (Mistral): the window is read off the model as a rule.

슬라이딩 윈도우를 쓰는 모델(Mistral)입니다. 윈도우를 규칙으로 알아냅니다.

    python gallery/sliding_window.py [en|ko]
"""

import sys

import torch
from transformers import MistralConfig, MistralModel

import jumok


def look(lang="en"):
    """What is seen, in words, and the picture of it."""
    torch.manual_seed(0)
    config = MistralConfig(
        vocab_size=100, hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, sliding_window=6, max_position_embeddings=64,
    )  # fmt: skip
    reading = jumok.capture(MistralModel(config).eval(), torch.arange(24)[None])
    rows = reading[0].weights[0] > 0
    furthest = max(query - int(keys.argmax()) for query, keys in enumerate(rows))
    told = {
        "en": f"No token reads further back than {furthest} tokens; with itself that is the window of "
        f"{config.sliding_window}. Two layers reach {2 * furthest} back.",
        "ko": f"어느 토큰도 {furthest}개보다 더 앞은 보지 못합니다. 자신까지 세면 윈도우는 "
        f"{config.sliding_window}입니다. 두 층이면 {2 * furthest}개 앞까지 닿습니다.",
    }
    return told[lang], jumok.draw(reading, "heat", layer=0, head=0, lang=lang)


if __name__ == "__main__":
    said, picture = look(*sys.argv[1:2])
    print(said)
    print(picture.save("sliding_window.html"))
