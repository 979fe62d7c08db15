"""An encoder of Hugging Face: with random numbers every head is about even; a trained one points.

Hugging Face의 인코더입니다. 무작위 숫자일 때는 모든 헤드가 고르게 보지만, 학습된 모델의 헤드는 어딘가를 가리킵니다.

    python gallery/hf_encoder.py [en|ko] [FOLDER]      # FOLDER: a model of yours; demo: the extra jumok[demo]
"""

import sys

import numpy as np
import torch
from transformers import BertConfig, BertModel

import jumok

TEXT = "The cat sat on the mat because it was tired."


def read(folder):
    """The text, read by a model in a folder, or by a small one that nobody has trained."""
    if folder is not None:
        return jumok.capture(folder, TEXT)
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    model = BertModel(BertConfig(vocab_size=100, **sizes)).eval()
    return jumok.capture(model, torch.arange(1, 11)[None])


def look(lang="en", folder=None):
    """What is seen, in words, and the picture of it."""
    reading = read(folder)
    weights = np.stack([layer.weights for layer in reading])  # (layer, head, query, key)
    inner = weights[..., 1:-1, 1:-1]  # the marks at both ends collect what nobody needs
    layer, head, query, key = np.unravel_index(inner.argmax(), inner.shape)
    texts = [token.text for token in reading.tokens]
    share, even = weights[..., 0].mean(), 1 / len(texts)
    told = {
        "en": f"{len(reading)} layers of {weights.shape[1]} heads. Of every row {share:.2f} goes to the first "
        f"token (even: {even:.2f}). "
        f"The strongest arrow between the others: layer {layer}, head {head}, {texts[query + 1]} → "
        f"{texts[key + 1]}, {inner.max():.2f}.",
        "ko": f"헤드 {weights.shape[1]}개씩 {len(reading)}개 층입니다. 각 행의 {share:.2f}만큼이 첫 토큰으로 "
        f"갑니다(고르다면 {even:.2f}). "
        f"나머지 토큰 사이에서 가장 센 화살표: {layer}층 {head}번 헤드, {texts[query + 1]} → {texts[key + 1]}, "
        f"{inner.max():.2f}.",
    }
    return told[lang], jumok.draw(reading, lang=lang)


if __name__ == "__main__":
    said, picture = look(*sys.argv[1:3])
    print(said)
    print(picture.save("hf_encoder.html"))
