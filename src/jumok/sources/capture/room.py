"""How much memory a capture will take, before it starts: refused where the machine has less."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ...errors import TooLargeError
from ...memory import available

__all__ = ["available", "needed", "refuse_too_large"]


def refuse_too_large(model: Any, n_texts: int, n_tokens: int, layers: Collection[int] | None) -> None:
    """Refuse a text whose q, k and v, with what the model itself needs for attention, would not fit in memory.

    Errors: ``TooLargeError`` with the bytes; nothing where the model or the machine does not tell.
    """
    wanted, there = needed(model, n_texts, n_tokens, layers), available()
    if wanted is None or there is None or wanted <= there:
        return
    raise TooLargeError(
        en=f"reading {n_tokens:,} tokens would take about {wanted / 1e9:.1f} GB, and {there / 1e9:.1f} GB are free. Take fewer "
        f"layers (layers=range(4), --layers 0-3), a part of the text, or a model that runs fused attention "
        f'(model.set_attn_implementation("sdpa")).',
        ko=f"토큰 {n_tokens:,}개를 읽는 데 약 {wanted / 1e9:.1f} GB가 필요한데 남은 메모리는 {there / 1e9:.1f} GB입니다. 층을 "
        f"줄이거나(layers=range(4), --layers 0-3), 글의 일부만 쓰거나, 결합된 어텐션을 쓰는 모델"
        f'(model.set_attn_implementation("sdpa"))로 읽으십시오.',
        bytes_needed=wanted,
    )


def needed(model: Any, n_texts: int, n_tokens: int, layers: Collection[int] | None = None) -> int | None:
    """Bytes of q, k and v of all layers kept, and of the tables that eager attention makes; None where a model's config
    does not tell its sizes.
    """
    config: Any = getattr(model, "config", None)
    config = config.get_text_config() if hasattr(config, "get_text_config") else config
    sizes = [getattr(config, name, None) for name in ("num_hidden_layers", "num_attention_heads", "hidden_size")]
    told = [size for size in sizes if isinstance(size, int)]
    if len(told) < len(sizes):
        return None
    n_layers, n_heads, d_model = told
    d_head = getattr(config, "head_dim", None) or d_model // n_heads
    n_kv_heads = getattr(config, "num_key_value_heads", None) or n_heads
    itemsize = next((int(parameter.element_size()) for parameter in model.parameters()), 4)
    kept = n_layers if layers is None else sum(layer in layers for layer in range(n_layers))
    total = kept * (n_heads + 2 * n_kv_heads) * d_head * n_tokens * itemsize
    if getattr(config, "_attn_implementation", None) == "eager":
        total += 3 * n_heads * n_tokens**2 * 4  # scores, weights, and a copy on the way
    return int(total) * n_texts
