"""Readings such as a model would give, made from nothing: structured heads over Korean bytes and English words.

Each head is one of a few known kinds, so that its picture means something: it looks at the token before, at the
first token, at the same token, at what followed the same token (an induction head), at what is near, or around.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jumok import Reading, Rule, Source, Trace, allowed

KOREAN = "나는 책을 좋아한다. 고양이가 생선을 먹었다. "
ENGLISH = "The cat sat on the mat because it was tired. "
KINDS = ("previous", "first", "same", "induction", "near", "around")
STRENGTHS = {  # how much a query of each kind asks for: place before, place here, same text, followed same, first
    "previous": (9.0, 0.0, 0.0, 0.0, 2.0),
    "first": (0.0, 1.0, 0.5, 0.0, 7.0),
    "same": (0.0, 0.0, 9.0, 0.0, 2.0),
    "induction": (0.0, 0.0, 0.0, 10.0, 3.0),
    "near": (3.0, 4.0, 0.0, 0.0, 1.0),
    "around": (0.5, 0.5, 1.0, 0.5, 1.0),
}
D_HEAD, D_PLACE, D_TEXT = 64, 32, 15  # 32 places, 15 own text, 15 text before, 1 first, 1 rest

_OWN = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_LETTER = {byte: chr(byte) for byte in _OWN} | {
    byte: chr(0x100 + at) for at, byte in enumerate(byte for byte in range(256) if byte not in _OWN)
}


def byte_tokens(n: int) -> list[str]:
    """(n,) pieces as byte-level tokenizers write them: a word in English, a byte or two of a syllable in Korean."""
    pieces = ["<s>"]
    while len(pieces) < n:
        for word in (KOREAN + ENGLISH).split():
            data = f" {word}".encode()
            step = len(data) if data.isascii() else 2
            pieces += ["".join(_LETTER[byte] for byte in data[at : at + step]) for at in range(0, len(data), step)]
    return pieces[:n]


def reading(
    n_layers: int = 12, n_heads: int = 12, n: int = 64, *, n_kv_heads: int | None = None, rule: Any = "causal",
    seed: int = 0,
) -> Reading:  # fmt: skip
    """A Reading of so many layers and heads over n tokens; ``rule``: a Rule, or who may read whom."""
    tokens = byte_tokens(n)
    layers = [
        _layer(at, tokens, n_heads, n_kv_heads or n_heads, Rule.of(rule), np.random.default_rng([seed, at]))
        for at in range(n_layers)
    ]
    name = f"synthetic {n_layers} × {n_heads}"
    return Reading(
        layers, Source(kind="model", name=name, details={"title": {"en": name, "ko": f"합성 {n_layers} × {n_heads}"}})
    )


def small(n_layers: int = 12, n_heads: int = 12, n: int = 64, seed: int = 0) -> Reading:
    """Twelve layers of twelve heads, as in BERT and GPT-2."""
    return reading(n_layers, n_heads, n, seed=seed)


def grouped(n: int = 64, seed: int = 0) -> Reading:
    """Thirty layers of nine heads with three key/value heads, as in SmolLM2."""
    return reading(30, 9, n, n_kv_heads=3, seed=seed)


def windowed(n: int = 512, n_back: int = 63, n_layers: int = 2, n_heads: int = 4) -> Reading:
    """Heads that see only the last few tokens."""
    return reading(n_layers, n_heads, n, rule=allowed.window(n_back))


def _layer(
    at: int, tokens: Sequence[str], n_heads: int, n_kv_heads: int, rule: Rule, rng: np.random.Generator
) -> Trace:
    n = len(tokens)
    place, text = _places(n), _texts(tokens)
    before = np.roll(text, 1, axis=0)
    before[0] = 0
    first = (np.arange(n) == 0).astype(float)[:, None]
    keys = np.concatenate([place, text, before, first, np.zeros((n, 1))], axis=1)
    k = keys + rng.normal(0, 0.03, (n_kv_heads, n, D_HEAD))
    q = np.stack([_query(KINDS[(head + 2 * at) % len(KINDS)], place, text, rng) for head in range(n_heads)])
    v = np.concatenate([text, place, before, first, first], axis=1) + rng.normal(0, 0.05, (n_kv_heads, n, D_HEAD))
    source = Source(kind="model", name=f"layer {at}", layer=at)
    return Trace(tokens, *(array.astype(np.float32) for array in (q, k, v)), rule=rule, source=source)


def _query(kind: str, place: np.ndarray, text: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(query, d_head) what a head of this kind asks; the scale is undone, so that a strength is a scaled score."""
    back, here, same, followed, first = STRENGTHS[kind]
    before = np.roll(place, 1, axis=0)
    strength = 1 + 0.2 * rng.random()
    parts = [
        (back * before + here * place) * 2, same * text, followed * text, np.full((len(text), 1), first),
        np.zeros((len(text), 1)),
    ]  # fmt: skip
    return np.concatenate(parts, axis=1) * np.sqrt(D_HEAD) * strength + rng.normal(0, 0.3, (len(text), D_HEAD))


def _places(n: int) -> np.ndarray:
    """(token, 32) of length 1: the nearer two places, the larger their product."""
    frequencies = 2 ** -np.linspace(0, 9, D_PLACE // 2)
    angles = np.arange(n)[:, None] * frequencies
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=1) / np.sqrt(D_PLACE / 2)


def _texts(tokens: Sequence[str]) -> np.ndarray:
    """(token, 15) of length 1, the same for the same text."""
    made = {}
    for at, token in enumerate(dict.fromkeys(tokens)):
        vector = np.random.default_rng([7, at]).normal(size=D_TEXT)
        made[token] = vector / np.linalg.norm(vector)
    return np.stack([made[token] for token in tokens])
