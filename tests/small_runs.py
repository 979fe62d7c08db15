"""Small training runs with numbers drawn at random: every part of a history, and no training."""

from __future__ import annotations

from typing import Any

import numpy as np

from jumok.history import History, LayerHistory, Probe
from jumok.path import Rule
from jumok.picture.learned import Run

STEPS = (0, 1, 2, 5, 10, 20)
SENTENCES = (("the", "cat", "sat", "on", "it"), ("고양이가", "매트", "위에", "앉았다"))


def drawn(seed: int, *shape: int, dtype: str = "float32") -> Any:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def history(
    n_layers: int = 2, n_heads: int = 2, d_model: int = 6, sentences: Any = SENTENCES, dtype: str = "float32",
    biases: bool = False, steps: tuple[int, ...] = STEPS, **more: Any,
) -> History:  # fmt: skip
    """Weights that go from small to large, and what entered each layer."""
    n, grow = len(steps), np.linspace(0.2, 1.5, len(steps)).astype(dtype)[:, None, None] / np.sqrt(d_model, dtype=dtype)
    layers = []
    for at in range(n_layers):
        names = ("w_q", "w_k", "w_v", "w_o")
        weights = {name: drawn(7 * at + i, n, d_model, d_model, dtype=dtype) * grow for i, name in enumerate(names)}
        if biases:
            weights |= {f"b_{name}": drawn(50 + at, n, d_model, dtype=dtype) for name in "qkvo"}
        layers.append(LayerHistory(f"layers.{at}.attention", n_heads, n_heads, weights))
    probes = [
        Probe(
            tokens=tokens,
            rules=tuple(Rule.of("causal") if at else Rule() for _ in range(n_layers)),
            arrays=tuple(
                {
                    "x": drawn(100 + 10 * at + layer, n, len(tokens), d_model, dtype=dtype),
                    "gradient": drawn(1, n, len(tokens), d_model),
                }
                for layer in range(n_layers)
            ),
            query=len(tokens) - 1,
            reads=(1,),
            answer="cat",
        )
        for at, tokens in enumerate(sentences)
    ]
    accuracy = np.linspace(0, 1, n) ** 3
    return History(
        steps=steps,
        layers=tuple(layers),
        probes=tuple(probes),
        loss=np.linspace(3, 0.1, steps[-1]),
        accuracy=accuracy,
        gradient_norm={f"layers.0.attention.{name}": drawn(3, steps[-1]) ** 2 for name in ("w_q", "w_k", "w_v")},
        roles={"answer": np.linspace(0.1, 0.9, n * n_layers * n_heads).reshape(n, n_layers, n_heads)},
        baselines={"answer": 0.3},
        task={
            "name": "small",
            "title": {"en": "A small task", "ko": "작은 과제"},
            "about": {"en": "Nothing is learned.", "ko": "배우는 것이 없습니다."},
        },
        settings={
            "steps": steps[-1],
            "batch": 4,
            "learning_rate": 0.1,
            "seed": 0,
            "sizes": {"n_layers": n_layers, "n_heads": n_heads, "d_model": d_model},
        },
        **more,
    )


def run(**options: Any) -> Run:
    return Run(history(**options))
