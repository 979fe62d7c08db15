"""Two texts beside each other: which heads and which tokens changed, and by how much more than rounding.

>>> import jumok
>>> tired, soft = (jumok.attend(jumok.load(name)) for name in ("it-tired", "it-soft"))
>>> found = compare(tired, soft)
>>> found.heads[0].layer, round(found.heads[0].distance, 2)
(1, 0.16)
"""

from __future__ import annotations

import dataclasses
import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InputError, TooLargeError
from ..layer_numbers import layer_numbers, layer_place
from ..tokens import Token, position
from ..trace import MOST_BYTES, Reading, Trace, layers_of
from ..words import counted, language, with_particle
from .alignment import common
from .comparison_words import sentences
from .noise import NoiseFloor, noise_floor
from .row_distances import Doubles, Pair, distance, in_tiles, row_distances, without

__all__ = ["Comparison", "HeadChange", "NoiseFloor", "TokenChange", "compare", "distance"]

ALIKE = 1e-9  # relative: changes nearer to each other are equal but for rounding


@dataclass(frozen=True)
class HeadChange:
    """What one head does differently in the second text.

    distance : mean Jensen–Shannon distance of its matched rows: 0 the same, 1 nothing in common; None without a row
    n_rows : rows in it; a row that has no weight on any matched key, in either text, is left out
    largest : the largest change of one weight, second − first; of equal ones the first by query, then key
    query, key : where it is, each (in a, in b)
    unmatched : weight on tokens that only one text has, mean over the matched queries, (in a, in b)
    """

    layer: int
    head: int
    distance: float | None
    n_rows: int
    largest: float = 0.0
    query: Pair | None = None
    key: Pair | None = None
    unmatched: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class TokenChange:
    """What one layer does differently with one token.

    pair : its positions, (in a, in b)
    distance : mean over the heads of the Jensen–Shannon distance of its rows; None where no row can be compared
    cosine : of its two output vectors, after the mean of all output vectors of this layer in both texts was
        taken off: what all tokens share hides what changed; None where one of them is that mean
    raw_cosine : of the two as they are; None where one of them is 0
    """

    layer: int
    pair: Pair
    distance: float | None
    cosine: float | None
    raw_cosine: float | None


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two Traces or two Readings, token by token and head by head. No n × n table is kept.

    pairs : matched tokens, each (position in a, position in b);  only_a, only_b : the others
    heads : one ``HeadChange`` a head, the most changed first
    tokens : one ``TokenChange`` a layer and pair, the most changed first
    noise_floor : what only rounding would change, or None where the numbers do not fit float32
    """

    a: Trace | Reading
    b: Trace | Reading
    pairs: tuple[Pair, ...]
    heads: tuple[HeadChange, ...]
    tokens: tuple[TokenChange, ...]
    noise_floor: NoiseFloor | None

    @property
    def only_a(self) -> tuple[int, ...]:
        """Positions of the tokens that only the first text has."""
        return without(len(layers_of(self.a)[0].tokens), [i for i, _ in self.pairs])

    @property
    def only_b(self) -> tuple[int, ...]:
        """Positions of the tokens that only the second text has."""
        return without(len(layers_of(self.b)[0].tokens), [j for _, j in self.pairs])

    @property
    def n_layers(self) -> int:
        """The number of layers, the same in both."""
        return len(layers_of(self.a))

    @cached_property
    def layer_numbers(self) -> tuple[int, ...]:
        """(layer,) the number that each layer goes by in the program, as people are told; its place where the two differ."""
        numbers = layer_numbers(self.a)
        return numbers if numbers == layer_numbers(self.b) else tuple(range(self.n_layers))

    def layer_place(self, number: Any) -> int:
        """The place of the layer that goes by this number. Errors: ``InputError`` where there is none."""
        if self.layer_numbers == layer_numbers(self.a):
            return layer_place(self.a, number)
        return position("layer", "층", number, self.n_layers)

    def layer(self, at: int) -> tuple[Trace, Trace]:
        """One layer of both, by its place."""
        at = position("layer", "층", at, self.n_layers)
        return layers_of(self.a)[at], layers_of(self.b)[at]

    def key_pairs(self, layer: int) -> tuple[Pair, ...]:
        """Matched tokens among those that are read: ``pairs``, or those of another sequence (cross-attention)."""
        return _key_pairs(*self.layer(layer), self.pairs)

    def matched(self, layer: int, head: int) -> tuple[Doubles, Doubles]:
        """(pair, key pair) the weights of both texts, of matched queries on matched keys, each row made to sum to 1.

        A row without weight on any matched key stays 0.
        Errors: ``InputError`` for a layer or head that is not there, ``TooLargeError`` beyond 256 MiB.
        """
        a, b = self.layer(layer)
        head, keys = position("head", "헤드", head, a.n_heads), self.key_pairs(layer)
        _refuse_too_large(len(self.pairs), len(keys))
        made = list(in_tiles(a, b, self.pairs, keys, head))
        none = np.zeros((0, len(keys)))
        return np.concatenate([none, *(p[0] for (p, *_), _ in made)]), np.concatenate(
            [none, *(q[0] for _, (q, *_) in made)]
        )

    def difference(self, layer: int, head: int) -> Doubles:
        """(pair, key pair) ``matched`` of the second text minus that of the first.

        Errors: ``InputError`` for a layer or head that is not there, ``TooLargeError`` beyond 256 MiB.
        """
        first, second = self.matched(layer, head)
        return second - first

    def distances(self, layer: int, head: int) -> Doubles:
        """(pair,) the Jensen–Shannon distance of each matched row of a head; NaN where it cannot be compared."""
        a, b = self.layer(layer)
        head, keys = position("head", "헤드", head, a.n_heads), self.key_pairs(layer)
        found = [np.zeros(0)]
        for (p, p_mass, _), (q, q_mass, _) in in_tiles(a, b, self.pairs, keys, head):
            found += [*row_distances(p, p_mass, q, q_mass)]
        return np.concatenate(found)

    def text(self, lang: str = "en") -> str:
        """What changed, in a few sentences, ``"en"`` or ``"ko"``."""
        return sentences(self, language(lang))

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"Comparison({counted(len(self.pairs), 'matched token')}, {counted(len(self.heads), 'head')}, {counted(self.n_layers, 'layer')})"

    def pairing(self) -> dict[str, Any]:
        """What a page needs beside the two records, as plain JSON: which token stands for which, and the heads."""
        told = self.to_json()
        return {"pairs": told["pairs"], "heads": told["heads"]}

    def to_json(self) -> dict[str, Any]:
        """All that was found, as plain JSON with every digit; not the two records themselves."""
        texts = [[token.text for token in layers_of(one)[0].tokens] for one in (self.a, self.b)]
        return {
            "format": "jumok-comparison",
            "version": 1,
            "tokens": texts,
            "pairs": [list(pair) for pair in self.pairs],
            "only": [list(self.only_a), list(self.only_b)],
            "heads": [dataclasses.asdict(head) for head in self.heads],
            "rows": [dataclasses.asdict(token) for token in self.tokens],
            "noise_floor": None if self.noise_floor is None else dataclasses.asdict(self.noise_floor),
        }


def compare(
    a: Trace | Reading,
    b: Trace | Reading,
    *,
    pairs: Iterable[tuple[int | str | Token, int | str | Token]] | None = None,
) -> Comparison:
    """Two texts under the same heads: which heads and which tokens changed.

    a, b : two Traces, or two Readings with as many layers and heads
    pairs : which token of a stands for which of b, by position or text; None for the longest common
        subsequence of their texts (in NFC)

    Weights are compared between matched queries and matched keys only: each row is shared out anew over the
    matched keys, and what was on the others is told as ``unmatched``. The distance of two rows p and q is
    √((KL(p‖m) + KL(q‖m)) / 2) with m = (p + q)/2 and logarithms of base 2: from 0 to 1, the same in both
    directions, and a metric.

    Errors: ``InputError`` for records of different kinds, layers or heads, or a token that is paired twice.
    Source: Lin 1991, "Divergence measures based on the Shannon entropy"; Endres and Schindelin 2003, "A new
    metric for probability distributions".
    """
    _refuse_unlike(a, b)
    first, second = layers_of(a)[0], layers_of(b)[0]
    chosen = common(_texts(first.tokens), _texts(second.tokens)) if pairs is None else _given(pairs, first, second)
    heads: list[HeadChange] = []
    tokens: list[TokenChange] = []
    for at, (one, other) in enumerate(zip(layers_of(a), layers_of(b), strict=True)):
        found, distances = _compared(at, one, other, chosen, _key_pairs(one, other, chosen))
        heads += found
        tokens += _token_changes(at, one, other, chosen, distances)
    heads.sort(key=lambda head: -1.0 if head.distance is None else head.distance, reverse=True)
    tokens.sort(key=lambda token: -1.0 if token.distance is None else token.distance, reverse=True)
    return Comparison(a, b, chosen, tuple(heads), tuple(tokens), _noise_of_both(a, b, chosen))


def _noise_of_both(a: Trace | Reading, b: Trace | Reading, pairs: tuple[Pair, ...]) -> NoiseFloor | None:
    """The larger of the noise floors of both texts."""
    both = list(zip(layers_of(a), layers_of(b), strict=True))
    keys = [_key_pairs(one, other, pairs) for one, other in both]
    found = [
        noise_floor(
            [(layers[side], [pair[side] for pair in some]) for layers, some in zip(both, keys, strict=True)],
            [pair[side] for pair in pairs],
        )
        for side in (0, 1)
    ]
    floors = [floor for floor in found if floor is not None]
    if len(floors) < len(found):
        return None
    weight, far = (max(getattr(floor, name) for floor in floors) for name in ("weight", "distance"))
    return NoiseFloor(weight, far, floors[0].n_rows)


# the door -----------------------------------------------------------------------------------------


def _refuse_unlike(a: Any, b: Any) -> None:
    for one in (a, b):
        if not isinstance(one, (Trace, Reading)) or not layers_of(one):
            raise InputError(
                en=f"compare expects two Traces, two Readings with layers or two Examples, got {type(one).__name__}. "
                f'Try jumok.compare(jumok.load("it-tired"), jumok.load("it-soft")).',
                ko=f"compare에는 Trace 둘, 층이 있는 Reading 둘, Example 둘 가운데 하나가 필요한데 {with_particle(type(one).__name__, '이/가')} "
                f'왔습니다. 예: jumok.compare(jumok.load("it-tired"), jumok.load("it-soft")).',
            )
    sizes = [(len(layers_of(one)), [layer.n_heads for layer in layers_of(one)]) for one in (a, b)]
    if sizes[0] != sizes[1]:
        told = [f"{n} × {'/'.join(map(str, dict.fromkeys(heads)))}" for n, heads in sizes]
        raise InputError(
            en=f"compare expects as many layers and heads on both sides, got {told[0]} and {told[1]} (layers × heads).",
            ko=f"두 기록의 층과 헤드 수가 같아야 하는데 {told[0]}와(과) {told[1]}입니다(층 × 헤드).",
        )
    for one in (a, b):
        lengths = {layer.n_queries for layer in layers_of(one)}
        if len(lengths) > 1:
            raise InputError(
                en=f"compare expects the same tokens in every layer, got layers of {sorted(lengths)} tokens.",
                ko=f"모든 층의 토큰이 같아야 하는데 층마다 토큰 수가 다릅니다: {sorted(lengths)}.",
            )
    crossed = [[layer.key_tokens is not None for layer in layers_of(one)] for one in (a, b)]
    if crossed[0] != crossed[1]:
        raise InputError(
            en="one record reads its own tokens where the other reads another sequence (cross-attention).",
            ko="한 기록은 자기 토큰을 읽고 다른 기록은 다른 문장을 읽습니다(크로스 어텐션).",
        )


def _given(pairs: Any, a: Trace, b: Trace) -> tuple[Pair, ...]:
    try:
        listed = [(one, other) for one, other in pairs]
    except (TypeError, ValueError):
        raise InputError(
            en=f"pairs expects pairs of tokens such as [(0, 0), ('cat', 'dog')], got {pairs!r}.",
            ko=f"pairs에는 [(0, 0), ('고양이', '개')]처럼 토큰 쌍의 목록이 필요한데 {with_particle(repr(pairs), '이/가')} 왔습니다.",
        ) from None
    found = [(a.index(one), b.index(other)) for one, other in listed]
    for side in (0, 1):
        places = [pair[side] for pair in found]
        twice = next((at for at in places if places.count(at) > 1), None)
        if twice is not None:
            raise InputError(
                en=f"position {twice} of the {('first', 'second')[side]} text is paired twice; each token may stand for one.",
                ko=f"{('첫째', '둘째')[side]} 글의 위치 {with_particle(str(twice), '이/가')} 두 번 짝지어졌습니다. 토큰마다 짝은 하나입니다.",
            )
    return tuple(found)


def _texts(tokens: Sequence[Token]) -> list[str]:
    return [unicodedata.normalize("NFC", token.text) for token in tokens]


def _key_pairs(a: Trace, b: Trace, pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
    return pairs if a.key_tokens is None else common(_texts(a.read_tokens), _texts(b.read_tokens))


def _refuse_too_large(n_pairs: int, n_keys: int) -> None:
    needed = 8 * n_pairs * n_keys
    if needed <= MOST_BYTES:
        return
    raise TooLargeError(
        en=f"{n_pairs:,} × {n_keys:,} matched weights would take {needed // 2**20:,} MiB; at most "
        f"{MOST_BYTES // 2**20} MiB is made at once. The distance of every row takes little: "
        f"comparison.distances(layer, head).",
        ko=f"짝지은 가중치 {n_pairs:,} × {n_keys:,}개에는 {needed // 2**20:,} MiB가 필요합니다. 한 번에 "
        f"{MOST_BYTES // 2**20} MiB까지만 만듭니다. 행마다의 거리는 얼마 들지 않습니다: comparison.distances(layer, head).",
        bytes_needed=needed,
    )


# comparing ----------------------------------------------------------------------------------------


@dataclass
class _Head:
    """What is gathered of one head while its rows pass by."""

    largest: float = 0.0
    at: Pair | None = None


def _compared(
    layer: int, a: Trace, b: Trace, pairs: tuple[Pair, ...], keys: tuple[Pair, ...]
) -> tuple[list[HeadChange], Doubles]:
    """Every head of a layer, and (head, pair) the distances of its rows."""
    gathered = [_Head() for _ in range(a.n_heads)]
    distances, others = [np.zeros((a.n_heads, 0))], np.zeros((2, a.n_heads))
    before = 0
    for (p, p_mass, p_others), (q, q_mass, q_others) in in_tiles(a, b, pairs, keys):
        distances.append(row_distances(p, p_mass, q, q_mass))
        others += p_others.sum(axis=-1), q_others.sum(axis=-1)
        if keys:
            _largest(gathered, q - p, before)
        before += p.shape[1]
    found = np.concatenate(distances, axis=1)
    mean_others = others / max(1, len(pairs))
    return [
        _head_change(layer, head, found[head], one, pairs, keys, mean_others[:, head])
        for head, one in enumerate(gathered)
    ], found


def _largest(gathered: list[_Head], change: Doubles, before: int) -> None:
    """Of changes that only rounding tells apart (two keys: what one loses the other gets) the first in reading order."""
    for head, rows in enumerate(change):
        sizes = np.abs(rows)
        at = int((sizes >= sizes.max() * (1 - ALIKE)).argmax())
        if sizes.flat[at] > abs(gathered[head].largest) * (1 + ALIKE):
            row, key = divmod(at, rows.shape[1])
            gathered[head].largest, gathered[head].at = float(rows.flat[at]), (before + row, key)


def _head_change(
    layer: int, head: int, rows: Doubles, one: _Head, pairs: tuple[Pair, ...], keys: tuple[Pair, ...], others: Doubles
) -> HeadChange:
    told = rows[~np.isnan(rows)]
    query, key = (None, None) if one.at is None else (pairs[one.at[0]], keys[one.at[1]])
    mean = float(told.mean()) if told.size else None
    return HeadChange(layer, head, mean, int(told.size), one.largest, query, key, (float(others[0]), float(others[1])))


def _token_changes(layer: int, a: Trace, b: Trace, pairs: tuple[Pair, ...], distances: Doubles) -> list[TokenChange]:
    outputs = [one.output.astype(np.float64) for one in (a, b)]
    n_told = (~np.isnan(distances)).sum(axis=0)
    means = np.divide(np.nansum(distances, axis=0), n_told, out=np.full(len(pairs), np.nan), where=n_told > 0)
    raw = centred = [None] * len(pairs)
    if outputs[0].shape[1] == outputs[1].shape[1] and pairs:
        mean = np.concatenate(outputs).mean(axis=0)
        first, second = (output[[pair[side] for pair in pairs]] for side, output in enumerate(outputs))
        raw, centred = _cosines(first, second), _cosines(first - mean, second - mean)
    return [
        TokenChange(layer, pair, None if math.isnan(means[at]) else float(means[at]), centred[at], raw[at])
        for at, pair in enumerate(pairs)
    ]


def _cosines(first: Doubles, second: Doubles) -> list[Any]:
    """(pair,) the cosine of two vectors; None where one of them is 0."""
    lengths = np.linalg.norm(first, axis=-1) * np.linalg.norm(second, axis=-1)
    cosines = np.divide((first * second).sum(axis=-1), lengths, out=np.full(len(lengths), np.nan), where=lengths > 0)
    return [None if math.isnan(one) else float(np.clip(one, -1, 1)) for one in cosines]
