"""The small model that is trained: embeddings, attention layers with residual, an answer at each place."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ... import nn as attention
from ...errors import MissingExtra
from ...path import Rule, allowed
from .task import Sizes

try:
    import torch
    from torch import nn
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise MissingExtra(extra="learn", package="torch") from None

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Layer", "SmallTransformer", "cut"]


class Layer(nn.Module):
    """x + attention(norm(x)), then the same with a small MLP where there is one."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        d, width = sizes.d_model, sizes.d_mlp
        self.attention_norm = nn.LayerNorm(d) if sizes.norm else nn.Identity()
        self.attention = attention.MultiHeadAttention(d, sizes.n_heads, bias=False)
        norm = nn.LayerNorm(d) if sizes.norm else nn.Identity()
        self.mlp = nn.Sequential(norm, nn.Linear(d, width), nn.GELU(), nn.Linear(width, d)) if width else None

    def forward(self, x: Tensor, rule: Rule) -> Tensor:
        """(…, token, d_model) → the same axes."""
        x = x + self.attention(self.attention_norm(x), rule, need_weights=False)[0]
        return x if self.mlp is None else x + self.mlp(x)


class SmallTransformer(nn.Module):
    """Symbols and positions → attention layers with residual → the scores of an answer at each place.

    n_symbols : tokens and answers;  n_positions : the longest sequence;  causal : read only what stands before

    >>> model = SmallTransformer(10, 6, Sizes(d_model=8), causal=True)
    >>> tuple(model(torch.zeros(2, 6, dtype=torch.long)).shape)  # (sequence, token, symbol)
    (2, 6, 10)
    """

    def __init__(self, n_symbols: int, n_positions: int, sizes: Sizes, causal: bool) -> None:
        super().__init__()
        d = sizes.d_model
        self.causal = causal
        self.token_embedding = nn.Embedding(n_symbols, d)
        self.position_embedding = nn.Embedding(n_positions, d)
        self.layers = nn.ModuleList(Layer(sizes) for _ in range(sizes.n_layers))
        self.norm = nn.LayerNorm(d) if sizes.norm else nn.Identity()
        self.answer = nn.Linear(d, n_symbols, bias=False)
        for embedding in (self.token_embedding, self.position_embedding):
            nn.init.normal_(embedding.weight, std=1 / math.sqrt(d))

    def forward(self, tokens: Tensor, lengths: Tensor | None = None) -> Tensor:
        """(sequence, token) numbers → (sequence, token, symbol) scores; ``lengths`` where some are padded."""
        rule = self.rule(tokens.shape[-1], lengths)
        x = self.token_embedding(tokens) + self.position_embedding.weight[: tokens.shape[-1]]
        for layer in self.layers:
            x = layer(x, rule)
        scores: Tensor = self.answer(self.norm(x))
        return scores

    def rule(self, n_tokens: int, lengths: Tensor | None = None) -> Rule:
        """Who may read whom: padding on the right needs no rule of its own where it is causal."""
        if self.causal:
            return Rule(allowed="causal")
        if lengths is None or bool((lengths == n_tokens).all()):
            return Rule()
        return Rule(allowed=allowed.padding(torch.arange(n_tokens) < lengths[:, None]))

    @property
    def attentions(self) -> list[attention.MultiHeadAttention]:
        """The attention of each layer."""
        return [layer.attention for layer in self.layers]  # type: ignore[misc]


@contextmanager
def cut(module: Any, head: int) -> Iterator[None]:
    """Within the block one head of an attention module hands over nothing: its mixed values are 0."""
    d = module.d_head

    def without(_: Any, arguments: tuple[Tensor]) -> tuple[Tensor]:
        mixed = arguments[0].clone()
        mixed[..., head * d : (head + 1) * d] = 0
        return (mixed,)

    hook = module.w_o.register_forward_pre_hook(without)
    try:
        yield
    finally:
        hook.remove()
