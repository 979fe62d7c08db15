"""An encoder-decoder (T5): three kinds of attention; in cross-attention what is written asks what was read.

인코더-디코더(T5)입니다. 어텐션이 세 가지 있습니다. 교차 어텐션(cross-attention)에서는 쓰고 있는 글이 읽은 글에 묻습니다.

    python gallery/cross_attention.py [en|ko]
"""

import sys

import torch
from transformers import T5Config, T5ForConditionalGeneration

import jumok


def look(lang="en"):
    """What is seen, in words, and the picture of it."""
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=60, d_model=32, d_kv=8, d_ff=32, num_layers=2, num_heads=4, decoder_start_token_id=0,
    )  # fmt: skip
    model = T5ForConditionalGeneration(config).eval()
    reading = jumok.capture(model, {"input_ids": torch.arange(5, 14)[None], "decoder_input_ids": torch.arange(5)[None]})
    cross = reading.choose("cross")
    shape = cross[0].weights.shape
    told = {
        "en": f"Three readings: {', '.join(reading.names)}. In cross-attention {shape[1]} tokens that are written "
        f"ask {shape[2]} that were read, with {shape[0]} heads in each layer.",
        "ko": f"세 가지입니다: {', '.join(reading.names)}. 교차 어텐션에서는 쓰는 토큰 {shape[1]}개가 읽은 토큰 "
        f"{shape[2]}개에 묻고, 층마다 헤드가 {shape[0]}개입니다.",
    }
    return told[lang], jumok.draw(cross, "heat", layer=0, head=0, lang=lang)


if __name__ == "__main__":
    said, picture = look(*sys.argv[1:2])
    print(said)
    print(picture.save("cross_attention.html"))
