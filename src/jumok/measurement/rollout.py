"""Attention rollout: how much of each token's place at the top comes from each token at the bottom, through all layers.

>>> import jumok
>>> found = rollout(jumok.attend(jumok.load("it-tired")), "it")
>>> [(token.text, round(float(share), 2)) for token, share in zip(found.tokens, found.shares[0]) if share > 0.1]
[('cat', 0.23), ('sat', 0.11), ('it', 0.27), ('tired', 0.25)]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..door import tiles
from ..errors import InputError, TooLargeError
from ..tokens import Token, several
from ..trace import MOST_BYTES, Reading, Trace, layers_of
from ..words import with_particle

__all__ = ["Rollout", "rollout"]

Doubles = npt.NDArray[np.float64]
RESIDUAL = 0.5
Rows = Callable[[Trace, range], Doubles]


@dataclass(frozen=True, eq=False)
class Rollout:
    """How the layers of a Reading mix its tokens, if attention were all that they did.

    queries : positions of the rows;  tokens : (key,)
    shares : (query, key) each row sums to 1
    normalised : True where each share was divided by that of a model which attends evenly to what it may read
    """

    queries: tuple[int, ...]
    tokens: tuple[Token, ...]
    shares: Doubles
    normalised: bool


def rollout(
    reading: Trace | Reading, queries: Any = None, *, residual: float = RESIDUAL, normalise: bool | None = None
) -> Rollout:
    """Attention rolled out over the layers: the product of (1 − residual) · (mean of the heads) + residual · identity.

    queries : one token or several, by position or text; None for all, which takes n × n numbers
    residual : the share of the residual connection in each layer
    normalise : True to divide by the same product for even attention over the allowed keys, and share each row out anew.
        In a causal model the first tokens gather weight in every product, whatever the heads do; None: where no token may
        read a later one

    Values, W_O and the feed-forward layers are left out, so this is a picture of the weights, not of what the model does
    with them: see ``cut`` for that.

    Errors: ``InputError`` for layers that do not read their own tokens, or a residual that is no share; ``TooLargeError``
    where all rows together would take more than 256 MiB.
    Source: Abnar and Zuidema 2020, "Quantifying attention flow in transformers".
    """
    layers = layers_of(reading)
    _refuse(layers, residual)
    first = layers[0]
    chosen = list(range(first.n_queries)) if queries is None else [first.index(query) for query in several(queries)]
    _refuse_too_large(len(chosen), first.n_keys)
    shares = _rolled(layers, chosen, residual, _mean_of_heads)
    if normalise is None:
        normalise = all(_is_causal(layer) for layer in layers)
    if normalise:
        shares = _to_one(shares / np.maximum(_rolled(layers, chosen, residual, _even), 1e-300))
    return Rollout(tuple(chosen), first.tokens, shares, normalise)


def _rolled(layers: tuple[Trace, ...], queries: list[int], residual: float, rows_of: Rows) -> Doubles:
    """(query, key) rows of the product, from the top layer down: no layer's whole table is made."""
    shares = np.eye(layers[0].n_keys)[queries]
    for layer in reversed(layers):
        mixed = np.zeros_like(shares)
        for rows in tiles(layer.n_queries, layer.n_heads * layer.n_keys * 8):
            part = _to_one(rows_of(layer, rows)) * (1 - residual)
            part[np.arange(len(rows)), list(rows)] += residual
            mixed += shares[:, rows.start : rows.stop] @ _to_one(part)  # a row that may read nothing keeps itself
        shares = mixed
    return shares


def _mean_of_heads(layer: Trace, rows: range) -> Doubles:
    made: Doubles = layer.rows("weights", queries=list(rows)).mean(axis=0, dtype=np.float64)
    return made


def _even(layer: Trace, rows: range) -> Doubles:
    return layer.rows("allowed", queries=list(rows)).astype(np.float64)


def _to_one(rows: Doubles) -> Doubles:
    """Rows that sum to 1; what is all 0 stays so."""
    total = rows.sum(axis=-1, keepdims=True)
    made: Doubles = np.divide(rows, total, out=np.zeros_like(rows), where=total > 0)
    return made


def _is_causal(layer: Trace) -> bool:
    places = np.arange(layer.n_keys)
    return all(
        not (layer.rows("allowed", queries=list(rows)) & (places > np.array(rows)[:, None])).any()
        for rows in tiles(layer.n_queries, layer.n_keys)
    )


# the door -----------------------------------------------------------------------------------------


def _refuse(layers: tuple[Trace, ...], residual: float) -> None:
    if not layers or any(layer.key_tokens is not None or layer.tokens != layers[0].tokens for layer in layers):
        raise InputError(
            en="rollout expects layers that all read the same tokens, their own (no cross-attention).",
            ko="rollout에는 모두 같은 토큰을, 자기 토큰을 읽는 층이 필요합니다(크로스 어텐션은 안 됨).",
        )
    if not 0 <= residual < 1:
        raise InputError(
            en=f"residual expects a share from 0 to below 1, got {residual!r}.",
            ko=f"residual에는 0 이상 1 미만의 몫이 필요한데 {with_particle(repr(residual), '이/가')} 왔습니다.",
        )


def _refuse_too_large(n_queries: int, n_keys: int) -> None:
    needed = 3 * n_queries * n_keys * 8
    if needed > MOST_BYTES:
        raise TooLargeError(
            en=f"the rollout of {n_queries:,} tokens over {n_keys:,} would take {needed / 1e6:,.0f} MB; at most "
            f"{MOST_BYTES / 1e6:.0f} MB is made at once. Ask for some rows: rollout(reading, queries=[0]).",
            ko=f"토큰 {n_queries:,}개의 롤아웃(키 {n_keys:,}개)에는 {needed / 1e6:,.0f} MB가 필요합니다. 한 번에 "
            f"{MOST_BYTES / 1e6:.0f} MB까지만 만듭니다. 몇 행만 요청하십시오: rollout(reading, queries=[0]).",
            bytes_needed=needed,
        )
