"""Example files with ``wanted:``: read as a design task, and given back with the designed W_Q and W_K."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import InputError
from ...path import Rule
from ...path.positions import PositionBias
from ...trace import layers_of
from ..example import Block, Example, attended
from .designed import Design, design

__all__ = ["design_examples"]


def design_examples(
    examples: Sequence[Example],
    d_k: int | None = None,
    rule: Any = None,
    w_q: Any = None,
    w_k: Any = None,
    near: Any = None,
    *,
    layer: int | None = None,
    resume: bool = False,
    **options: Any,
) -> tuple[Design, tuple[Example, ...]]:
    """The design that the ``wanted:`` of some examples asks for, one W for all, and the examples with that W.

    w_q, w_k, near : as in ``design``, or "given" for what stands in the (first) file
    layer : whose W_Q and W_K are designed; None for the last
    resume : True to continue from the W_Q and W_K that stand in the file

    Errors: ``InputError`` where nothing is wanted, for rotary positions, biases of Q and K, and shared key heads.
    """
    at = len(examples[0].layers) - 1 if layer is None else layer
    blocks = [_block(example, at) for example in examples]
    traces = [layers_of(attended(example))[at] for example in examples]
    first = blocks[0]
    w_q, w_k = _side(w_q, first.w_q, first), _side(w_k, first.w_k, first)
    width = d_k
    if width is None:
        width = next((w for w in (w_q, w_k) if w is not None), first.w_q).shape[1] // first.n_heads
    if resume:
        options["start"] = (first.w_q, first.w_k)
    found = design(
        [np.asarray(trace.x) for trace in traces],
        [list(example.wanted) * (first.n_heads if len(example.wanted) == 1 else 1) for example in examples],
        width,
        [_rule(block, width) if rule is None else rule for block in blocks],
        w_q,
        w_k,
        _near(near, first, w_q, w_k),
        tokens=[trace.tokens for trace in traces],
        dimensions=traces[0].dimensions,
        **options,
    )
    return found, tuple(_with(example, at, found) for example in examples)


def _block(example: Example, layer: int) -> Block:
    """The layer that is designed. Errors: ``InputError`` for what a design cannot keep."""
    if not example.wanted:
        raise InputError(
            en=f"{example.name}: nothing is wanted. Add wanted:, such as wanted: {{it: {{cat: 0.9}}}}.",
            ko=f"{example.name}: 바라는 것이 없습니다. wanted:를 더하십시오. 예: wanted: {{it: {{cat: 0.9}}}}.",
        )
    if not 0 <= layer < len(example.layers):
        raise InputError(
            en=f"{example.name}: layer expects a number from 0 to {len(example.layers) - 1}, got {layer}.",
            ko=f"{example.name}: 층에는 0부터 {len(example.layers) - 1}까지의 수가 필요한데 {layer}이(가) 왔습니다.",
        )
    block = example.layers[layer]
    what = (
        ("positions: rotary" if block.positions == "rotary" else None)
        or ("b_q:, b_k:" if block.b_q is not None or block.b_k is not None else None)
        or ("kv_heads:" if block.n_kv_heads not in (None, block.n_heads) else None)
    )
    if what:
        raise InputError(
            en=f"{example.name}: design does not work with {what}; the score would not be x W_Q (x W_K)ᵀ of one head. Take it out.",
            ko=f"{example.name}: design은 {what}을(를) 쓸 수 없습니다. 점수가 한 헤드의 x W_Q (x W_K)ᵀ 꼴이 아니게 됩니다. 빼고 쓰십시오.",
        )
    return block


def _rule(block: Block, d_k: int) -> Rule:
    """The rule of a layer, with the scale of the new width."""
    bias = block.positions if isinstance(block.positions, PositionBias) else None
    if block.scale is None and block.temperature == 1:
        return Rule(allowed=block.allowed, bias=bias)
    return Rule(scale=Rule(scale=block.scale).scale_for(d_k) / block.temperature, allowed=block.allowed, bias=bias)


def _side(side: Any, given: Any, block: Block) -> Any:
    """What is fixed of a projection: None, or a matrix."""
    if isinstance(side, str):
        return {"identity": np.tile(np.eye(len(given)), (1, block.n_heads)), "given": given}.get(side, side)
    return side


def _near(near: Any, block: Block, w_q: Any, w_k: Any) -> Any:
    if not isinstance(near, str) or near != "given":
        return near
    pairs = zip(*(np.split(w, block.n_heads, axis=1) for w in (block.w_q, block.w_k)), strict=True)
    return [k if w_q is not None else q if w_k is not None else q @ k.T for q, k in pairs]


def _with(example: Example, layer: int, found: Design) -> Example:
    """The example with the designed W_Q and W_K in a layer."""
    layers = list(example.layers)
    layers[layer] = dataclasses.replace(layers[layer], w_q=found.w_q, w_k=found.w_k)
    return example.replace(layers=tuple(layers))
