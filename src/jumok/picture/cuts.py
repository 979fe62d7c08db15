"""Cuts as a page carries them: what was taken away and what came of it, as numbers and texts of tokens.

A cut is what ``reading.cut(…)`` gives (``jumok-cut`` as JSON); the page makes sentences and tables of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..errors import InputError
from ..layer_numbers import layer_numbers
from ..trace import Reading, Trace, layers_of

__all__ = ["carried", "refuse_cuts"]

N_CHANGES = 5  # output vectors that are told one by one
SAME = 1e-6  # of a weight that is read again


def carried(cuts: Any, record: Trace | Reading, document: int = 0) -> list[dict[str, Any]]:
    """What a page needs of each cut, as plain JSON.

    cuts : what ``reading.cut(…)`` gave, a list of them, or None;  record : whose cuts they are
    document : which of the page's records that is

    Errors: ``InputError`` for what is no cut, a cut of another reading, or numbers that are not finite.
    """
    given = [] if cuts is None else list(cuts) if isinstance(cuts, (list, tuple)) else [cuts]
    return [{"document": document, **_told(_plain(cut), record)} for cut in given]


def refuse_cuts(cuts: Any) -> None:
    """Where two records stand beside each other, nobody would know whose cut it is."""
    if cuts is not None:
        raise InputError(
            en="cuts= is for the page of one reading, not of a comparison. Leave it out.",
            ko="cuts=는 비교가 아니라 기록 하나의 페이지에만 쓸 수 있습니다. 빼고 부르십시오.",
        )


def _plain(cut: Any) -> Mapping[str, Any]:
    plain = cut.to_json() if hasattr(cut, "to_json") else None
    if isinstance(plain, Mapping) and plain.get("format") == "jumok-cut":
        return plain
    raise InputError(
        en=f"cuts expects what reading.cut(layer, head, query, key) gives, or a list of them, got {type(cut).__name__}.",
        ko=f"cuts에는 reading.cut(layer, head, query, key)가 주는 것이나 그 목록이 필요한데 {type(cut).__name__}이(가) 왔습니다.",
    )


def _told(plain: Mapping[str, Any], record: Trace | Reading) -> dict[str, Any]:
    """A cut; ``layer`` is the place of its layer in the record, as everywhere in a page."""
    numbers, layers, (query, key) = layer_numbers(record), layers_of(record), plain["at"]
    layer = numbers.index(plain["layer"]) if plain["layer"] in numbers else None
    if layer is None or not _is_of(layers[layer], plain["head"], query, key, plain["weight"]):
        raise InputError(
            en=f"this cut (layer {plain['layer']}, head {plain['head']}) is of another reading: the weight that was cut is not "
            f"there. Show the whole reading whose cut it is (of several readings: reading.cut(…, reading=1)).",
            ko=f"이 끊기({plain['layer']}층 {plain['head']}번 헤드)는 다른 기록의 것입니다. 끊은 가중치가 여기에 없습니다. 끊은 기록 전체를 "
            f"보이십시오(기록이 여럿이면 reading.cut(…, reading=1)).",
        )
    texts = [token["text"] for token in plain["tokens"]]
    found = {
        "layer": layer,
        **{name: plain[name] for name in ("head", "weight", "way", "kind")},
        "query": query,
        "key": key,
        **{f"{name}_text": None if plain[name] is None else plain[name]["text"] for name in ("query", "key")},
        "changes": [{**one, "token": texts[one["position"]]} for one in _most(plain["changes"])],
        "guesses": [{**one, "token": texts[one["position"]]} for one in plain["guesses"]],
    }
    if not all(map(math.isfinite, _numbers(found))):
        raise InputError(
            en="the output of this cut has numbers that are not finite (nan, inf), so a page cannot show it.",
            ko="이 끊기의 출력에 유한하지 않은 수(nan, inf)가 있어서 페이지에 보일 수 없습니다.",
        )
    return found


def _is_of(trace: Trace, head: int, query: int | None, key: int | None, weight: float | None) -> bool:
    """Whether the weight that was cut stands in this layer, where it was cut."""
    if head >= trace.n_heads or (query or 0) >= trace.n_queries or (key or 0) >= trace.n_keys:
        return False
    if key is None or weight is None:
        return True
    weights = trace.rows("weights", None if query is None else [query], [head])[0, :, key]
    return abs(float(weights.mean()) - weight) <= SAME


def _most(changes: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The output vectors that moved most, the furthest first."""
    return sorted(changes, key=lambda change: -change["norm"])[:N_CHANGES]


def _numbers(plain: Any) -> Iterator[float]:
    if isinstance(plain, float):
        yield plain
    for part in plain.values() if isinstance(plain, Mapping) else plain if isinstance(plain, (list, tuple)) else ():
        yield from _numbers(part)
