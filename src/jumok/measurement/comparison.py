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
from typing import Any

import numpy as np
import numpy.typing as npt

from ..door import tiles
from ..errors import InputError, TooLargeError
from ..explanation.words import LANGS, fill, language
from ..path import Steps
from ..tokens import Token, position, token_index
from ..trace import MOST_BYTES, Reading, Trace
from .alignment import common

__all__ = ["Comparison", "HeadChange", "NoiseFloor", "TokenChange", "compare", "distance"]

Doubles = npt.NDArray[np.float64]
Pair = tuple[int, int]

ROWS_FOR_NOISE = 64


@dataclass(frozen=True)
class HeadChange:
    """What one head does differently in the second text.

    distance : mean Jensen–Shannon distance of its matched rows: 0 the same, 1 nothing in common; None without a row
    n_rows : rows in it; a row that has no weight on any matched key, in either text, is left out
    largest : the largest change of one weight, second − first;  query, key : where it is, each (in a, in b)
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


@dataclass(frozen=True)
class NoiseFloor:
    """How much rounding alone can change: the same q and k, through float32 and through float64.

    weight : the largest difference of one weight;  distance : the largest mean distance of one head
    n_rows : queries looked at in each text, spread over it

    It says what two runs of a program in float32 may differ by without meaning anything. It knows nothing of
    what q and k lost before they came into the record (a model in half precision, storage as whole numbers).
    """

    weight: float
    distance: float
    n_rows: int


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
        return _without(len(_layers(self.a)[0].tokens), [i for i, _ in self.pairs])

    @property
    def only_b(self) -> tuple[int, ...]:
        """Positions of the tokens that only the second text has."""
        return _without(len(_layers(self.b)[0].tokens), [j for _, j in self.pairs])

    @property
    def n_layers(self) -> int:
        """The number of layers, the same in both."""
        return len(_layers(self.a))

    def layer(self, at: int) -> tuple[Trace, Trace]:
        """One layer of both."""
        at = position("layer", "층", at, self.n_layers)
        return _layers(self.a)[at], _layers(self.b)[at]

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
        made = list(_both(a, b, self.pairs, keys, head))
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
        for (p, p_mass, _), (q, q_mass, _) in _both(a, b, self.pairs, keys, head):
            found += [*_row_distances(p, p_mass, q, q_mass)]
        return np.concatenate(found)

    def text(self, lang: str = "en") -> str:
        """What changed, in a few sentences, ``"en"`` or ``"ko"``."""
        return _sentences(self, language(lang))

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"Comparison({len(self.pairs)} matched tokens, {len(self.heads)} heads, {self.n_layers} layers)"

    def to_json(self) -> dict[str, Any]:
        """All that was found, as plain JSON with every digit; not the two records themselves."""
        texts = [[token.text for token in _layers(one)[0].tokens] for one in (self.a, self.b)]
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
    first, second = _layers(a)[0], _layers(b)[0]
    chosen = common(_texts(first.tokens), _texts(second.tokens)) if pairs is None else _given(pairs, first, second)
    heads: list[HeadChange] = []
    tokens: list[TokenChange] = []
    for at, (one, other) in enumerate(zip(_layers(a), _layers(b), strict=True)):
        found, distances = _compared(at, one, other, chosen, _key_pairs(one, other, chosen))
        heads += found
        tokens += _token_changes(at, one, other, chosen, distances)
    heads.sort(key=lambda head: -1.0 if head.distance is None else head.distance, reverse=True)
    tokens.sort(key=lambda token: -1.0 if token.distance is None else token.distance, reverse=True)
    return Comparison(a, b, chosen, tuple(heads), tuple(tokens), _noise_floor(a, b, chosen))


def distance(p: Doubles, q: Doubles) -> Doubles:
    """(…) the Jensen–Shannon distance of rows that sum to 1: from 0, the same, to 1, nothing in common.

    p, q : (…, key)

    >>> distance(np.array([1.0, 0.0]), np.array([0.0, 1.0])).round(3).item()
    1.0
    """
    total = p + q
    apart = np.divide(p - q, total, out=np.zeros_like(total), where=total > 0)  # p = m(1 + apart), q = m(1 - apart)
    # With log1p, so that rows which differ in their last digit are not lost in the rounding of two logarithms.
    terms = total / 2 * (_times_log(apart) + _times_log(-apart))
    found: Doubles = np.sqrt(np.clip(terms.sum(axis=-1) / (2 * math.log(2)), 0, 1))
    return found


def _times_log(apart: Doubles) -> Doubles:
    """(1 + x) · log(1 + x), 0 at x = −1."""
    made: Doubles = (1 + apart) * np.log1p(apart, out=np.zeros_like(apart), where=apart > -1)
    return made


# the door -----------------------------------------------------------------------------------------


def _refuse_unlike(a: Any, b: Any) -> None:
    for one in (a, b):
        if not isinstance(one, (Trace, Reading)) or not _layers(one):
            raise InputError(
                en=f"compare expects two Traces or two Readings with layers, got {type(one).__name__}.",
                ko=f"compare에는 Trace 둘이나 층이 있는 Reading 둘이 필요한데 {type(one).__name__}이(가) 왔습니다.",
            )
    sizes = [(len(_layers(one)), [layer.n_heads for layer in _layers(one)]) for one in (a, b)]
    if sizes[0] != sizes[1]:
        told = [f"{n} × {'/'.join(map(str, dict.fromkeys(heads)))}" for n, heads in sizes]
        raise InputError(
            en=f"compare expects as many layers and heads on both sides, got {told[0]} and {told[1]} (layers × heads).",
            ko=f"두 기록의 층과 헤드 수가 같아야 하는데 {told[0]}와(과) {told[1]}입니다(층 × 헤드).",
        )
    for one in (a, b):
        lengths = {layer.n_queries for layer in _layers(one)}
        if len(lengths) > 1:
            raise InputError(
                en=f"compare expects the same tokens in every layer, got layers of {sorted(lengths)} tokens.",
                ko=f"모든 층의 토큰이 같아야 하는데 층마다 토큰 수가 다릅니다: {sorted(lengths)}.",
            )
    crossed = [[layer.key_tokens is not None for layer in _layers(one)] for one in (a, b)]
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
            ko=f"pairs에는 [(0, 0), ('cat', 'dog')]처럼 토큰 쌍의 목록이 필요한데 {pairs!r}이(가) 왔습니다.",
        ) from None
    found = [(token_index(a.tokens, one), token_index(b.tokens, other)) for one, other in listed]
    for side in (0, 1):
        places = [pair[side] for pair in found]
        twice = next((at for at in places if places.count(at) > 1), None)
        if twice is not None:
            raise InputError(
                en=f"position {twice} of the {('first', 'second')[side]} text is paired twice; each token may stand for one.",
                ko=f"{('첫째', '둘째')[side]} 글의 위치 {twice}이(가) 두 번 짝지어졌습니다. 토큰마다 짝은 하나입니다.",
            )
    return tuple(found)


def _layers(record: Trace | Reading) -> tuple[Trace, ...]:
    return (record,) if isinstance(record, Trace) else record.layers


def _texts(tokens: Sequence[Token]) -> list[str]:
    return [unicodedata.normalize("NFC", token.text) for token in tokens]


def _without(n: int, taken: Iterable[int]) -> tuple[int, ...]:
    rest = set(taken)
    return tuple(at for at in range(n) if at not in rest)


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
        ko=f"짝지어진 가중치 {n_pairs:,} × {n_keys:,}개에는 {needed // 2**20:,} MiB가 필요합니다. 한 번에 "
        f"{MOST_BYTES // 2**20} MiB까지만 만듭니다. 행마다의 거리는 얼마 들지 않습니다: comparison.distances(layer, head).",
        bytes_needed=needed,
    )


# comparing ----------------------------------------------------------------------------------------

Part = tuple[Doubles, Doubles, Doubles]  # shared out over matched keys, their mass, the mass of the others


def _shared_out(weights: npt.NDArray[Any], keys: list[int]) -> Part:
    wide = weights.astype(np.float64)
    on = wide[..., keys]
    mass = on.sum(axis=-1)
    others = wide[..., list(_without(wide.shape[-1], keys))].sum(axis=-1)
    shared = np.divide(on, mass[..., None], out=np.zeros_like(on), where=mass[..., None] > 0)
    return shared, mass, others


def _both(
    a: Trace, b: Trace, pairs: Sequence[Pair], keys: Sequence[Pair], head: int | None = None
) -> Iterable[tuple[Part, Part]]:
    """The rows of the matched queries in both, so many at a time that they take little.

    (head, row, key pair);  head : one, kept as an axis, or None for all
    """
    n_heads = a.n_heads if head is None else 1
    heads = None if head is None else [head]
    for rows in tiles(len(pairs), n_heads * max(a.n_keys, b.n_keys) * 8):
        some = [pairs[at] for at in rows]
        made = [
            _shared_out(
                one.rows("weights", queries=[pair[side] for pair in some], heads=heads), [p[side] for p in keys]
            )
            for side, one in enumerate((a, b))
        ]
        yield made[0], made[1]


def _row_distances(p: Doubles, p_mass: Doubles, q: Doubles, q_mass: Doubles) -> Doubles:
    """(head, row) NaN where one of the two has no weight on a matched key."""
    return np.where((p_mass > 0) & (q_mass > 0), distance(p, q), np.nan)


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
    for (p, p_mass, p_others), (q, q_mass, q_others) in _both(a, b, pairs, keys):
        distances.append(_row_distances(p, p_mass, q, q_mass))
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
    for head, rows in enumerate(change):
        at = int(np.abs(rows).argmax())
        if abs(rows.flat[at]) > abs(gathered[head].largest):
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


# noise --------------------------------------------------------------------------------------------


def _noise_floor(a: Trace | Reading, b: Trace | Reading, pairs: tuple[Pair, ...]) -> NoiseFloor | None:
    some = [pairs[at] for at in np.unique(np.linspace(0, len(pairs) - 1, min(len(pairs), ROWS_FOR_NOISE)).astype(int))]
    weight = far = 0.0
    for side, record in enumerate((a, b)):
        for at, layer in enumerate(_layers(record)):
            keys = [pair[side] for pair in _key_pairs(_layers(a)[at], _layers(b)[at], pairs)]
            queries = [pair[side] for pair in some]
            made = [_in_precision(layer, queries, kind) for kind in (np.float32, np.float64)]
            if not np.isfinite(made[0]).all():
                return None
            (p, p_mass, _), (q, q_mass, _) = (_shared_out(one, keys) for one in made)
            rows = _row_distances(p, p_mass, q, q_mass)
            weight = max(weight, float(np.abs(made[0] - made[1]).max(initial=0)))
            far = max(far, *(float(one[~np.isnan(one)].mean()) if (~np.isnan(one)).any() else 0.0 for one in rows))
    return NoiseFloor(weight, far, len(some))


def _in_precision(layer: Trace, queries: list[int], kind: type[np.floating[Any]]) -> npt.NDArray[Any]:
    with np.errstate(over="ignore", invalid="ignore"):  # what does not fit is seen in the result
        q, k, v = (array.astype(kind) for array in (layer.q, layer.k, layer.v))
        if not (np.isfinite(q).all() and np.isfinite(k).all()):
            return np.full((layer.n_heads, len(queries), layer.n_keys), np.nan)
        return Steps(q, k, v, layer.rule).part(None, queries).weights  # type: ignore[no-any-return]


# the sentences ------------------------------------------------------------------------------------


def _sentences(found: Comparison, lang: str) -> str:
    a, b = (_layers(one)[0].tokens for one in (found.a, found.b))
    said: list[tuple[str, dict[str, Any]]] = [("matched", {"n": len(found.pairs), "n_a": len(a), "n_b": len(b)})]
    for name, tokens, places in (("only_a", a, found.only_a), ("only_b", b, found.only_b)):
        if places:
            more = len(places) - MOST_NAMED
            said.append((name, {"names": [tokens[at].text for at in places[:MOST_NAMED]]}))
            said += [("more", {"n": more})] if more > 0 else []
    said += list(_of_heads(found))
    return " ".join(fill(_PHRASES[name][LANGS.index(lang)], data, lang) for name, data in said)


MOST_NAMED = 8


def _of_heads(found: Comparison) -> Iterable[tuple[str, dict[str, Any]]]:
    top = found.heads[0]
    if top.distance is None:
        yield "nothing", {}
        return
    if max(top.unmatched) > 0:
        yield "unmatched", {"a": top.unmatched[0], "b": top.unmatched[1], "layer": top.layer, "head": top.head}
    floor = found.noise_floor
    if top.distance <= (0.0 if floor is None else floor.distance):
        yield "same", {"floor": 0.0 if floor is None else floor.distance}
        return
    yield "top", {"layer": top.layer, "head": top.head, "distance": top.distance, "n": top.n_rows}
    if top.query is not None and top.key is not None:
        _, b = found.layer(top.layer)
        query, key = b.tokens[top.query[1]].text, b.read_tokens[top.key[1]].text
        way = "rose" if top.largest > 0 else "fell"
        yield way, {"query": query, "key": key, "by": abs(top.largest)}
    if floor is not None:
        yield "floor", {"floor": floor.distance}


_PHRASES = {
    "matched": (
        "{n:int} tokens are matched (of {n_a:int} and {n_b:int}).",
        "토큰 {n:int}개를 짝지었습니다(첫째 글 {n_a:int}개, 둘째 글 {n_b:int}개).",
    ),
    "only_a": ("Only in the first: {names:names}.", "첫째 글에만 있는 토큰: {names:names}."),
    "only_b": ("Only in the second: {names:names}.", "둘째 글에만 있는 토큰: {names:names}."),
    "more": ("({n:int} more.)", "(그 밖에 {n:int}개.)"),
    "nothing": ("No two rows can be compared.", "비교할 수 있는 행이 없습니다."),
    "same": (
        "Among the matched tokens no head shares out its weight differently: no distance is larger than that of rounding, {floor:n}.",
        "짝지은 토큰끼리만 보면 가중치를 다르게 나눈 헤드가 없습니다. 반올림 오차(거리 {floor:n})보다 큰 거리가 없습니다.",
    ),
    "top": (
        "Head {head:int} of layer {layer:int} changed most: its rows are {distance:n} apart on average "
        "(Jensen–Shannon distance over {n:int} rows: 0 the same, 1 nothing in common).",
        "{layer:int}층 {head:int}번 헤드가 가장 많이 달라졌습니다. 행 사이의 거리는 평균 {distance:n}입니다"
        "(행 {n:int}개의 젠슨–섀넌 거리. 0이면 같고 1이면 겹치는 것이 없음).",
    ),
    "rose": (
        "The largest change in it: the weight of {query} on {key} rose by {by:n}.",
        "그 안에서 가장 크게 달라진 것: {query:이/가} {key:을/를} 참고하는 가중치가 {by:n}만큼 커졌습니다.",
    ),
    "fell": (
        "The largest change in it: the weight of {query} on {key} fell by {by:n}.",
        "그 안에서 가장 크게 달라진 것: {query:이/가} {key:을/를} 참고하는 가중치가 {by:n}만큼 작아졌습니다.",
    ),
    "unmatched": (
        "Of the weights of head {head:int} in layer {layer:int}, {a:pct} in the first text and {b:pct} in the second are on "
        "tokens without a match; what follows is about the rest, shared out anew.",
        "{layer:int}층 {head:int}번 헤드의 가중치 가운데 첫째 글에서는 {a:pct}, 둘째 글에서는 {b:pct}가 짝이 없는 토큰에 있습니다. "
        "아래는 나머지를 합이 1이 되게 다시 나눈 것입니다.",
    ),
    "floor": ("Rounding alone makes {floor:n}.", "반올림만으로는 {floor:n}입니다."),
}
