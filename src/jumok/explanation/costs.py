"""What each variant of attention does, told with the sizes that somebody asked the cost of.

>>> from jumok.variants.cost import cost
>>> (section,) = explained(cost(n=8192, n_heads=1, variants="full", budget_s=0, rule="everything"))
>>> section.lines[0][1].split(":")[0]
'full'
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..variants import cost_formulas as formulas
from ..variants.cost import Cost
from ..variants.cost_kinds import KINDS
from ..variants.cost_words import amount, size
from ..variants.flash import TILE as FLASH_TILE
from ..words import LANGS, fill, language
from .explanation import Section
from .facts import Fact

__all__ = ["PHRASES", "explained", "facts"]

TITLE = ("What each does, at n = {n:int}", "저마다 하는 일, n = {n:int}일 때")
PHRASES = {
    "full": (
        "full: every query with every key. That is {scores:text} scores a head; the table of them takes {table:text} a head in single "
        "precision and is written and read twice, as scores and as weights.",
        "full: 모든 쿼리를 모든 키와 견줍니다. 헤드 하나에 점수가 {scores:text} 개입니다. 이 표는 단정밀도로 헤드마다 {table:text}이고, 점수로 한 번 "
        "가중치로 한 번, 두 번 쓰고 읽습니다.",
    ),
    "flash": (
        "flash: the same numbers without the table. Tiles of {tile:int} × {tile:int} scores are folded one after another into three "
        "things a row: its largest score so far, the sum of exponentials, the weighted sum; where a larger score turns up, the sums "
        "are scaled down to it. It makes {scores:text} scores a head{skipped:text}, and moves {moved:text} in all heads instead of {naive:text}.",
        "flash: 같은 값을 표 없이 구합니다. {tile:int} × {tile:int} 타일의 점수를 하나씩 행마다 세 가지에 접어 넣습니다. 지금까지 가장 큰 점수, "
        "지수의 합, 가중합입니다. 더 큰 점수가 나오면 그때까지의 합을 그만큼 줄입니다. 헤드마다 점수 {scores:text} 개를 "
        "만들고{skipped:text}, 헤드 모두에서 {naive:text} 대신 {moved:text}를 옮깁니다.",
    ),
    "window": (
        "window: each query reads {window:int} tokens{both:text}, itself among them, and nothing further. That is {scores:text} "
        "scores a head, {share:pct} of all n²; what lies further away is lost in this layer, and comes only through the layers above, "
        "{back:int} tokens further with each.",
        "window: 쿼리마다 자기 자신을 포함해 {both:text}토큰 {window:int}개만 보고 그 밖은 보지 않습니다. 헤드마다 점수 {scores:text} 개, n²의 "
        "{share:pct}입니다. 더 먼 것은 이 층에서 잃고, 위층을 거치며 한 층에 {back:int}토큰씩 더 멀리 닿습니다.",
    ),
    "sparse": (
        "sparse: a pattern of keys. Here the first {sink:int} tokens (on which many heads put what they need nowhere) and a window of "
        "{window:int}: {scores:text} scores a head, {share:pct} of all n².",
        "sparse: 정해진 무늬의 키만 봅니다. 여기서는 처음 토큰 {sink:int}개(많은 헤드가 쓸 곳 없는 가중치를 두는 자리)와 윈도우 {window:int}개를 봅니다. "
        "헤드마다 점수 {scores:text} 개, n²의 {share:pct}입니다.",
    ),
    "linear": (
        "linear: scores are products of features, so the keys and values read so far fit into one table of {features:int} × {width:int} "
        "numbers a head, however long the text is: {state:text} numbers instead of {scores:text} scores. It is another function than "
        "softmax and does not pick out one key as sharply.",
        "linear: 점수를 특징의 곱으로 바꿉니다. 그러면 지금까지 읽은 키와 밸류가 글의 길이와 상관없이 헤드마다 {features:int} × {width:int} 표 하나에 "
        "들어갑니다. 점수 {scores:text} 개 대신 수 {state:text} 개입니다. 소프트맥스와는 다른 함수라서 키 하나를 그만큼 또렷하게 고르지 못합니다.",
    ),
    "lowrank": (
        "lowrank: {landmarks:int} landmarks, means of neighbouring tokens, stand for all. In place of one table of n × n there are three "
        "thin ones, {scores:text} scores a head, {share:pct} of all n². It follows no causal mask, since a landmark mixes past and "
        "future.",
        "lowrank: 이웃한 토큰의 평균인 대표점 {landmarks:int}개가 전체를 대신합니다. n × n 표 하나 대신 얇은 표 셋, 헤드마다 점수 "
        "{scores:text} 개, n²의 {share:pct}입니다. 대표점에는 과거와 미래가 섞이므로 인과 마스크를 따를 수 없습니다.",
    ),
}  # fmt: skip
SKIPPED = (
    ", {share:pct} of all n², since the mask forbids the other tiles",
    "(마스크가 금한 타일을 뺀 n²의 {share:pct})",
)
AMOUNTS, SIZES = ("scores", "state"), ("table", "moved", "naive")  # facts said as large numbers, and as sizes in memory
BOTH = (" on each side", "앞뒤로 각각 ")


def explained(cost: Cost, lang: str = "en") -> list[Section]:
    """The ideas of the variants whose cost was asked, each with its numbers at the largest n."""
    at = LANGS.index(language(lang))
    lines = tuple((True, _sentence(fact, lang)) for fact in facts(cost))
    return [Section("ideas", fill(TITLE[at], {"n": cost.n[-1]}, lang), lines)]


def facts(cost: Cost) -> Iterator[Fact]:
    """One fact for each idea, with the numbers that its sentence needs."""
    for idea in dict.fromkeys(KINDS[name].idea for name in cost.variants):
        yield Fact("ideas", idea, _FACTS[idea](cost))


def _sizes(cost: Cost) -> formulas.Sizes:
    return cost.sizes if cost.n[-1] == cost.sizes.n_queries else cost.sizes.at(cost.n[-1])


def _full(cost: Cost) -> dict[str, Any]:
    sizes = _sizes(cost)
    scores = sizes.n_queries * sizes.n_keys
    return {"scores": scores, "table": scores * sizes.itemsize}


def _flash(cost: Cost) -> dict[str, Any]:
    sizes = _sizes(cost)
    found, tile = formulas.flash(sizes), FLASH_TILE
    scores = found.multiply_adds // sizes.width // sizes.n_heads
    share = scores / (sizes.n_queries * sizes.n_keys)
    moved, naive = found.moved_bytes, formulas.full(sizes).moved_bytes
    return {"tile": tile, "scores": scores, "share": share, "moved": moved, "naive": naive}


def _window(cost: Cost) -> dict[str, Any]:
    sizes, window = _sizes(cost), cost.settings.window
    both = sizes.n_ahead != 0
    scores = formulas.n_read(sizes.within(window - 1, window - 1 if both else 0))
    share = scores / (sizes.n_queries * sizes.n_keys)
    return {"window": window, "back": window - 1, "both": both, "scores": scores, "share": share}


def _sparse(cost: Cost) -> dict[str, Any]:
    sizes, settings = _sizes(cost), cost.settings
    causal = sizes.within(sizes.n_keys, 0)
    scores = formulas.n_read(causal.within(settings.window - 1, 0)) + formulas.n_sunk(
        causal, settings.window - 1, settings.n_sink
    )
    share = scores / (sizes.n_queries * sizes.n_keys)
    return {"sink": settings.n_sink, "window": settings.window, "scores": scores, "share": share}


def _linear(cost: Cost) -> dict[str, Any]:
    sizes = _sizes(cost)
    is_random = "linear" not in cost.variants
    features = cost.settings.n_features if is_random else sizes.d_head
    state = features * (sizes.d_value + 1)
    return {"features": features, "width": sizes.d_value + 1, "state": state, "scores": sizes.n_queries * sizes.n_keys}


def _lowrank(cost: Cost) -> dict[str, Any]:
    sizes = _sizes(cost)
    few = min(sizes.n_queries, cost.settings.n_landmarks), min(sizes.n_keys, cost.settings.n_landmarks)
    scores = sizes.n_queries * few[1] + few[0] * few[1] + few[0] * sizes.n_keys
    return {"landmarks": few[1], "scores": scores, "share": scores / (sizes.n_queries * sizes.n_keys)}


_FACTS: dict[str, Callable[[Cost], dict[str, Any]]] = {
    "full": _full, "flash": _flash, "window": _window, "sparse": _sparse, "linear": _linear, "lowrank": _lowrank,
}  # fmt: skip


def _sentence(fact: Fact, lang: str) -> str:
    at = LANGS.index(lang)
    said: dict[str, Any] = {
        name: amount(value, lang) if name in AMOUNTS else size(value) if name in SIZES else value
        for name, value in fact.data.items()
    }
    said["both"] = BOTH[at] if said.get("both") else ""
    said["skipped"] = fill(SKIPPED[at], fact.data, lang) if fact.data.get("share", 1) < 1 else ""
    return fill(PHRASES[fact.kind][at], said, lang)
