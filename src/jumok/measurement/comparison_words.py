"""A comparison in sentences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..picture.labels import readable
from ..words import LANGS, fill

if TYPE_CHECKING:
    from .comparison import Comparison

__all__ = ["sentences"]

MOST_NAMED = 8


def sentences(found: Comparison, lang: str) -> str:
    """What changed, in a language."""
    a, b = (readable(one).tokens for one in found.layer(0))
    said: list[tuple[str, dict[str, Any]]] = [("matched", {"n": len(found.pairs), "n_a": len(a), "n_b": len(b)})]
    for name, tokens, places in (("only_a", a, found.only_a), ("only_b", b, found.only_b)):
        if places:
            more = len(places) - MOST_NAMED
            said.append((name, {"names": [tokens[at].text for at in places[:MOST_NAMED]]}))
            said += [("more", {"n": more})] if more > 0 else []
    said += list(_of_heads(found))
    return " ".join(fill(_PHRASES[name][LANGS.index(lang)], data, lang) for name, data in said)


def _of_heads(found: Comparison) -> Iterable[tuple[str, dict[str, Any]]]:
    top = found.heads[0]
    if top.distance is None:
        yield "nothing", {}
        return
    number = found.layer_numbers[top.layer]
    if max(top.unmatched) > 0:
        yield "unmatched", {"a": top.unmatched[0], "b": top.unmatched[1], "layer": number, "head": top.head}
    floor = found.noise_floor
    if top.distance <= (0.0 if floor is None else floor.distance):
        yield "same", {"floor": 0.0 if floor is None else floor.distance}
        return
    yield "top", {"layer": number, "head": top.head, "distance": top.distance, "n": top.n_rows}
    if top.query is not None and top.key is not None:
        b = readable(found.layer(top.layer)[1])
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
        "(행 {n:int}개의 옌센–섀넌 거리. 0이면 같고 1이면 겹치는 것이 없음).",
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
    "floor": (
        "Rounding alone makes a distance of {floor:n} (the noise floor).",
        "반올림 오차만으로 생기는 거리(잡음 수준)는 {floor:n}입니다.",
    ),
}
