"""A nanoGPT-style model learns sums: every second digit is the last digit of the two before it. A head that reads the one before appears by itself.

nanoGPT처럼 생긴 모델이 덧셈을 배웁니다. 두 번에 한 번, 숫자는 앞 두 수를 더한 끝자리입니다. 바로 앞을 읽는 헤드가 저절로 생깁니다.

    python gallery/nano_gpt.py [en|ko]
"""

import sys

import torch
from torch import nn

import jumok

LENGTH = 12


class Digits:
    """A tokenizer in two lines: a digit is a token."""

    def encode(self, text):
        return [int(digit) for digit in text]

    def decode(self, ids):
        return "".join(map(str, ids))


def sums(n):
    """n lines of digits: a sum and a new digit by turns, each sum the last digit of the two before it: 1 4 5 9 4 0 4 …"""
    line = torch.randint(10, (n, LENGTH))
    for at in range(2, LENGTH, 2):
        line[:, at] = (line[:, at - 2] + line[:, at - 1]) % 10
    return line


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        q, k, v = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.c_attn(self.ln_1(x)).chunk(3, dim=-1)
        )
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.c_proj(mixed.transpose(1, 2).flatten(2))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, width=32, heads=2, layers=2, context=LENGTH):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(10, width), nn.Embedding(context, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.head = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 10))

    def forward(self, ids):
        return self.head(self.blocks(self.wte(ids) + self.wpe.weight[: ids.shape[-1]]))


def train(model, steps=200):
    """Predict each sum; the other digits follow from nothing. The share that is right in the last batch."""
    adam = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(steps):
        batch = sums(64)
        logits, wanted = model(batch[:, :-1])[:, 1::2], batch[:, 2::2]
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten())
        adam.zero_grad()
        loss.backward()
        adam.step()
    return float((logits.argmax(-1) == wanted).float().mean())


def on_the_one_before(reading):
    """(layer, head) → the mean weight on the digit before, where a sum is due, of every head."""
    return {
        (layer.source.layer, at): float(table.diagonal(-1)[::2].mean())
        for layer in reading
        for at, table in enumerate(layer.weights)
    }


def look(lang="en"):
    """What is seen, in words, and the picture of it."""
    torch.manual_seed(0)
    model, line = GPT(), "145942695497"
    before = on_the_one_before(jumok.capture(model.eval(), line, Digits()))
    right = train(model.train())
    reading = jumok.capture(model.eval(), line, Digits())
    after = on_the_one_before(reading)
    layer, head = max(after, key=after.get)
    told = {
        "en": f"After 200 steps {right:.0%} of the sums are right. Layer {layer}, head {head} puts "
        f"{after[layer, head]:.2f} of its weight "
        f"on the digit before; untrained it was {before[layer, head]:.2f}.",
        "ko": f"200걸음 뒤 합의 {right:.0%}를 맞힙니다. {layer}층 {head}번 헤드는 가중치의 "
        f"{after[layer, head]:.2f}만큼을 바로 앞 숫자에 둡니다"
        f"(학습 전 {before[layer, head]:.2f}).",
    }
    return told[lang], jumok.draw(reading, "heat", layer=layer, head=head, lang=lang)


if __name__ == "__main__":
    said, picture = look(*sys.argv[1:2])
    print(said)
    print(picture.save("nano_gpt.html"))
