"""The fast ways on PyTorch: its fused call, the fused call on overlapping tiles, and a backward that makes tiles again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from array_api_compat import is_torch_array
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad, scaled_dot_product_attention

from ..errors import InputError, TooLargeError
from ..path.described import described
from ..path.parts import counted
from ..path.scores import dot
from .asked import Asked
from .flash import flash_reference, key_tiles
from .full import free_bytes
from .spans import band

__all__ = ["FLEX_BYTES", "flex", "free", "fused", "reach", "recomputed", "strided_tiles"]


def fused(asked: Asked) -> Tensor:
    """PyTorch's fused attention, for everything and causal. Its fast kernels take one batch axis, no more and no fewer."""
    q, k, v = (_one_batch_axis(a) for a in (asked.q, asked.k, asked.v))
    diagonals = band(asked.rule.allowed)
    assert diagonals is not None
    mixed: Tensor = scaled_dot_product_attention(
        q, k, v, is_causal=diagonals[1] < asked.n_keys - 1, scale=asked.rule.scale_for(q.shape[-1]),
        enable_gqa=q.shape[1] != k.shape[1],
    )  # fmt: skip
    return mixed.reshape((*asked.q.shape[:-1], v.shape[-1]))


def _one_batch_axis(a: Tensor) -> Tensor:
    return a[None] if a.ndim == 3 else a.flatten(0, -4)


def free(array: Tensor) -> int:
    """Bytes that are free on a tensor's accelerator."""
    return int(torch.cuda.mem_get_info(array.device)[0])


# a window: one fused call on overlapping tiles ----------------------------------------------------


def reach(asked: Asked, diagonals: tuple[float, float]) -> tuple[int, int]:
    """(least, most) key − query of a band in which something is read, cut where there are no keys any more."""
    return int(max(diagonals[0], 1 - asked.n_queries)), int(min(diagonals[1], asked.n_keys - 1))


def strided_tiles(asked: Asked, tile: int) -> Tensor:
    """A band of diagonals: tile t of the queries with keys t · tile + least …, all tiles in one fused call.

    The keys of the tiles overlap and are views of one padded copy, so nothing is stored twice. Heads that share keys lie
    side by side in a tile. Tiles that reach beyond the keys get masks of their own; all others share one.
    """
    diagonals = band(asked.rule.allowed)
    assert diagonals is not None
    least, most = reach(asked, diagonals)
    q, group, tile = asked.q, asked.q.shape[-3] // asked.k.shape[-3], min(tile, asked.n_queries)
    n_tiles, width = -(-asked.n_queries // tile), tile + most - least
    k, v = (_overlapping(a, least, tile, n_tiles, width) for a in (asked.k, asked.v))
    q = pad(q, (0, 0, 0, n_tiles * tile - asked.n_queries))
    q = (
        q.reshape(-1, group, n_tiles, tile, q.shape[-1]).transpose(1, 2).flatten(2, 3)
    )  # (kv heads, tile, group · query, d)
    inside = [t for t in range(n_tiles) if t * tile + least >= 0 and t * tile + least + width <= asked.n_keys]
    first, stop = (inside[0], inside[-1] + 1) if inside else (0, 0)
    parts = []
    for tiles, shared in ((range(first), False), (range(first, stop), True), (range(stop, n_tiles), False)):
        if len(tiles):
            allowed = _tile_masks(range(first, first + 1) if shared else tiles, asked, least, most, tile, width)
            parts.append(_fused_tiles(q, k, v, tiles, allowed.repeat(1, group, 1), asked.rule.scale_for(q.shape[-1])))
    mixed = torch.cat(parts, dim=1) if len(parts) > 1 else parts[0]
    mixed = mixed.reshape(*mixed.shape[:2], group, tile, v.shape[-1]).transpose(1, 2)
    rows: Tensor = mixed.reshape(*asked.q.shape[:-2], n_tiles * tile, v.shape[-1])[..., : asked.n_queries, :]
    return rows


def _overlapping(a: Tensor, least: int, tile: int, n_tiles: int, width: int) -> Tensor:
    """(…, token, d) → (rest, tile, key, d): views of one copy, padded (or cut) so that tile 0 begins at key ``least``."""
    n_padded = (n_tiles - 1) * tile + width
    padded = pad(a, (0, 0, -least, n_padded - a.shape[-2] + least)).reshape(-1, n_padded, a.shape[-1])
    return padded.unfold(1, width, tile).transpose(-1, -2)


def _tile_masks(tiles: range, asked: Asked, least: int, most: int, tile: int, width: int) -> Tensor:
    """(tile, query, key) which keys of its stretch each query of a tile may read."""
    device = asked.q.device
    start = torch.arange(tiles.start, tiles.stop, device=device)[:, None, None] * tile
    query = start + torch.arange(tile, device=device)[None, :, None]
    key = start + least + torch.arange(width, device=device)[None, None, :]
    return (key - query >= least) & (key - query <= most) & (key >= 0) & (key < asked.n_keys)


def _fused_tiles(q: Tensor, k: Tensor, v: Tensor, tiles: range, allowed: Tensor, scale: float) -> Tensor:
    """One fused call; a query that may read nothing is let read everything and set to 0, so that nobody divides 0 by 0."""
    part = slice(tiles.start, tiles.stop)
    reads = allowed.any(-1, keepdim=True)
    mask = (allowed | ~reads)[None]  # the fast kernels take masks of two or four axes only
    mixed = scaled_dot_product_attention(q[:, part], k[:, part], v[:, part], attn_mask=mask, scale=scale)
    return mixed.masked_fill(~reads, 0) if not bool(reads.all()) else mixed


# any rule: tiles forward, the same tiles again backward -------------------------------------------


def recomputed(asked: Asked, tile: int) -> tuple[Tensor, Tensor]:
    """(mixed, lse) by tiles; the backward keeps no tile but makes each again. Also for arrays in the rule that are learned."""
    arrays: dict[str, Any] = {}
    described(asked.rule, arrays)
    learned = [a for a in arrays.values() if is_torch_array(a) and a.requires_grad]
    mixed: tuple[Tensor, Tensor] = _Recomputed.apply(  # type: ignore[no-untyped-call]
        asked.q, asked.k, asked.v, asked, tile, *learned
    )
    return mixed


class _Recomputed(torch.autograd.Function):
    """Source: Dao et al. 2022, "FlashAttention", algorithm 4 and appendix B.2."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, asked: Asked, tile: int, *learned: Tensor) -> Any:
        mixed, lse = flash_reference(asked, tile)
        ctx.save_for_backward(q, k, v, mixed, lse, *learned)
        ctx.rule, ctx.tile = asked.rule, tile
        return mixed, lse

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_mixed: Tensor, of_lse: Tensor) -> Any:
        q, k, v, mixed, lse, *learned = ctx.saved_tensors
        asked = Asked(q, k, v, ctx.rule, v.dtype)
        average = (of_mixed * mixed).sum(-1) - of_lse
        into = [torch.zeros_like(a) for a in (q, k, v, *learned)]
        for queries in counted(asked.n_queries, ctx.tile):
            for keys in key_tiles(asked, queries, ctx.tile):
                _tile_backward(asked, queries, keys, of_mixed, average, lse, learned, into)
        if asked.rule.sink is not None:
            _sink_backward(asked, average, lse, learned, into[3:])
        return (*into[:3], None, None, *into[3:])


def _tile_backward(
    asked: Asked, queries: range, keys: range,
    of_mixed: Tensor, average: Tensor, lse: Tensor, learned: list[Tensor], into: list[Tensor],
) -> None:  # fmt: skip
    """What one tile adds to the gradients: dS = P · (dO vᵀ − average), and from dS on by PyTorch's own derivative of the tile."""
    rows, columns = slice(queries.start, queries.stop), slice(keys.start, keys.stop)
    q, k = (a.detach().requires_grad_() for a in (asked.q[..., rows, :], asked.k[..., columns, :]))
    with torch.enable_grad():
        scaled = asked.scaled(q, k, queries, keys)
    allowed = asked.rule.allowed.block(asked.positions(queries), asked.positions(keys))
    read = torch.where(lse == -math.inf, math.inf, lse)[..., rows, None]  # exp(score − ∞) = 0 where nothing is read
    weights = torch.exp(scaled.detach() - read).masked_fill(~allowed.unsqueeze(-3), 0)
    of_scaled = weights * (dot(of_mixed[..., rows, :], asked.v[..., columns, :], sure=True) - average[..., rows, None])
    found = torch.autograd.grad(scaled, [q, k, *learned], of_scaled, allow_unused=True)
    into[0][..., rows, :] += found[0]
    into[1][..., columns, :] += found[1]
    into[2][..., columns, :] += _by_kv_head(weights, asked).mT @ _by_kv_head(of_mixed[..., rows, :], asked)
    _add(into[3:], found[2:])


def _sink_backward(asked: Asked, average: Tensor, lse: Tensor, learned: list[Tensor], into: list[Tensor]) -> None:
    """The sink hands over nothing, so its dS is −weight · average."""
    with torch.enable_grad():
        sink = asked.sink
    if sink is None or not sink.requires_grad:
        return
    of_sink = -(torch.exp(sink.detach()[:, None] - lse) * average).sum(-1)
    _add(into, torch.autograd.grad(sink, learned, of_sink.reshape(-1, len(sink)).sum(0), allow_unused=True))


def _add(into: list[Tensor], found: Sequence[Tensor | None]) -> None:
    for total, part in zip(into, found, strict=True):
        if part is not None:
            total += part


def _by_kv_head(a: Tensor, asked: Asked) -> Tensor:
    """(…, head, query, width) → (…, kv_head, group · query, width)."""
    return a.reshape(*a.shape[:-3], asked.k.shape[-3], -1, a.shape[-1])


# any rule of positions, compiled ------------------------------------------------------------------


FLEX_BYTES = 11  # a pair of query and key, while the blocks are looked for: ours 1, and 10 that PyTorch 2.13 was measured to take


def flex(asked: Asked) -> Tensor:
    """PyTorch's FlexAttention with the rule as its mask; compiled anew for each shape.

    Errors: ``InputError`` for a rule with a soft cap, bias, sink, or another mask in each batch; ``TooLargeError`` where the
    table of all pairs, which it needs once, would not fit; ``RuntimeError`` of PyTorch's own where there is no compiler.
    """
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    rule = asked.rule
    if asked.by_batch or any(part is not None for part in (rule.softcap, rule.bias, rule.sink)):
        raise InputError(
            en="flex=True takes rules of who may read whom and a scale; this one has a soft cap, bias or sink, or another mask in "
            "each batch. Leave flex out.",
            ko="flex=True는 누가 누구를 볼 수 있는지와 scale만 정한 규칙을 받는데, 이 규칙에는 소프트 캡, 위치 편향, 싱크 또는 배치마다 "
            "다른 마스크가 있습니다. flex를 빼고 다시 부르십시오.",
        )
    _refuse_large_table(asked)
    q, k, v = (_one_batch_axis(a) for a in (asked.q, asked.k, asked.v))
    allowed: Tensor = rule.allowed.block(asked.positions(range(asked.n_queries)), asked.positions(range(asked.n_keys)))

    def may_read(_b: Tensor, _h: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return allowed[query, key]

    mask = create_block_mask(may_read, None, None, asked.n_queries, asked.n_keys, device=q.device)
    compiled: Any = torch.compile(flex_attention, dynamic=False)
    mixed: Tensor = compiled(
        q, k, v, block_mask=mask, scale=rule.scale_for(q.shape[-1]), enable_gqa=q.shape[1] != k.shape[1]
    )
    return mixed.reshape((*asked.q.shape[:-1], v.shape[-1]))


def _refuse_large_table(asked: Asked) -> None:
    needed, there = FLEX_BYTES * asked.n_queries * asked.n_keys, free_bytes(asked.q)
    if there is None or needed <= there:
        return
    raise TooLargeError(
        en=f"flex=True looks for its blocks in a table of all pairs, which takes {needed / 1e9:.1f} GB for {asked.n_queries:,} queries "
        f"and {asked.n_keys:,} keys, and {there / 1e9:.1f} GB are free. Leave flex out: jumok's own blocks need no table.",
        ko=f"flex=True는 모든 쌍의 표에서 블록을 찾는데, 쿼리 {asked.n_queries:,}개와 키 {asked.n_keys:,}개의 표에는 {needed / 1e9:.1f} GB가 "
        f"필요하고 남은 메모리는 {there / 1e9:.1f} GB입니다. flex를 빼십시오. jumok의 블록에는 표가 필요 없습니다.",
        bytes_needed=needed,
    )
