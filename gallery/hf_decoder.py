"""A decoder of Hugging Face with grouped keys and rotary positions: no token reads what comes later; trained ones rest on the first.

키를 나누어 쓰고(GQA) 회전 위치 인코딩을 하는 Hugging Face의 디코더입니다. 뒤에 오는 것은 아무도 볼 수 없고, 학습된 모델은 첫 토큰에 기댑니다.

    python gallery/hf_decoder.py [en|ko] [FOLDER]      # FOLDER: a Llama, Mistral, Qwen … of yours
"""

import sys

import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM

import jumok

TEXT = "The bank of the river was steep. The bank on Main Street was closed."


def read(folder):
    """The text, read by a model in a folder, or by a small one that nobody has trained."""
    if folder is not None:
        return jumok.capture(str(folder), TEXT)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=100, hidden_size=48, intermediate_size=64, num_hidden_layers=2, num_attention_heads=6,
        num_key_value_heads=2, max_position_embeddings=64,
    )  # fmt: skip
    return jumok.capture(LlamaForCausalLM(config).eval(), torch.arange(1, 17)[None])


def look(lang="en", folder=None):
    """What is seen, in words, and the picture of it."""
    reading = read(folder)
    weights = np.stack([layer.weights for layer in reading])  # (layer, head, query, key)
    later, n = np.triu(weights, 1).max(), weights.shape[-1]
    sink = weights[:, :, 1:, 0].mean()  # the first token can read itself alone
    even = np.mean([1 / (at + 1) for at in range(1, n)])
    n_keys = reading[0].k.shape[0]
    told = {
        "en": f"{weights.shape[1]} heads share {n_keys} sets of keys in each of {len(reading)} layers. Weight on "
        f"what comes later: {later:.1f}. "
        f"On the first token: {sink:.2f} (even: {even:.2f}).",
        "ko": f"{len(reading)}개 층마다 헤드 {weights.shape[1]}개가 키 {n_keys}벌을 나누어 씁니다. 뒤에 오는 것에 "
        f"둔 가중치: {later:.1f}. "
        f"첫 토큰에 둔 가중치: {sink:.2f} (고르다면 {even:.2f}).",
    }
    return told[lang], jumok.draw(reading, lang=lang)


if __name__ == "__main__":
    said, picture = look(*sys.argv[1:3])
    print(said)
    print(picture.save("hf_decoder.html"))
