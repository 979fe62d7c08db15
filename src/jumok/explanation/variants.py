"""How flash and linear attention come to one token's row, in sentences with the reader's own numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..tokens import Token, token_index, token_name, token_names
from ..trace import Trace
from ..variants.linear import is_causal
from ..variants.steps import FlashSteps, Fold, LinearStep, few_tiles, flash_steps, linear_steps
from ..words import LANGS, PIECES, fill, language
from .explanation import Section
from .facts import Fact

__all__ = ["PHRASES", "TITLES", "VariantExplanation", "explain_flash", "explain_linear"]

MOST_NAMED = 6  # keys of a tile; of a wider one the first and the last are named

TITLES = {
    "flash": ("Flash attention: the row of {token}, tile by tile", "플래시 어텐션: {token}의 행을 타일 하나씩 구하기"),
    "linear": ("Linear attention: what it remembers, token by token", "선형 어텐션: 토큰마다 기억하는 것"),
}
PHRASES = {
    "flash.about": (
        "Flash attention never holds the row of {token} (head {head:int}) as a whole. Its {n:int} keys are read in tiles of "
        "{tile:int}, and only three things are kept: the largest score so far, Σ exp(score − largest), and Σ exp(score − largest) · "
        "value. All numbers are rounded.",
        "플래시 어텐션은 {token}의 행({head:int}번 헤드)을 통째로 들고 있지 않습니다. 키 {n:int}개를 {tile:int}개씩 타일로 읽으면서 세 가지만 "
        "기억합니다: 지금까지 가장 큰 점수, Σ exp(점수 − 가장 큰 점수), Σ exp(점수 − 가장 큰 점수) · 밸류. 모든 수는 반올림했습니다.",
    ),
    "flash.sink": (
        "Before the first key the sink takes its share: the largest score is {top:n}, the sum 1.",
        "첫 키를 읽기 전에 싱크가 제 몫을 가져갑니다. 가장 큰 점수는 {top:n}, 합은 1입니다.",
    ),
    "flash.few_keys": ("Tile {at:int} ({keys:names}): ", "타일 {at:int}({keys:names}): "),
    "flash.many_keys": (
        "Tile {at:int} ({n_keys:int} keys, {first} to {last}): ",
        "타일 {at:int}(키 {n_keys:int}개, {first}부터 {last}까지): ",
    ),
    "flash.first": (
        "scores {scores:vec}. The largest is {top:n}; Σ exp = {total:n}, Σ exp · value = {mixed:vec}.",
        "점수 {scores:vec}. 가장 큰 점수는 {top:n}, Σ exp = {total:n}, Σ exp · 밸류 = {mixed:vec}입니다.",
    ),
    "flash.same": (
        "scores {scores:vec}. None is above {top:n}, so nothing is rescaled: Σ exp = {before:n} + {added:n} = {total:n}, "
        "Σ exp · value = {mixed:vec}.",
        "점수 {scores:vec}. {top:n}보다 큰 점수가 없으므로 앞의 합을 고치지 않습니다. Σ exp = {before:n} + {added:n} = {total:n}, "
        "Σ exp · 밸류 = {mixed:vec}입니다.",
    ),
    "flash.rescaled": (
        "scores {scores:vec}. {top:n} is larger than {top_before:n}, so both sums are first multiplied by "
        "exp({top_before:n} − {top:b}) = {rescale:n}: Σ exp = {before:n} × {rescale:n} + {added:n} = {total:n}, Σ exp · value = {mixed:vec}.",
        "점수 {scores:vec}. {top:은/는} 앞의 {top_before:n}보다 크므로, 두 합에 먼저 exp({top_before:n} − {top:b}) = {rescale:을/를} 곱합니다. "
        "Σ exp = {before:n} × {rescale:n} + {added:n} = {total:n}, Σ exp · 밸류 = {mixed:vec}입니다.",
    ),
    "flash.nothing": (
        "{token} may read none of them, so nothing changes.",
        "{token:이/가} 볼 수 있는 키가 없으므로 아무것도 바뀌지 않습니다.",
    ),
    "flash.end": (
        "At the end {sums:vec} ÷ {total:n} = {mixed:vec}: exactly the row of full attention. Never were more than {tile:int} of the "
        "{n:int} scores held. The log-sum-exp, {top:n} + ln {total:n} = {lse:n}, is all that the way back needs to make the weights again.",
        "마지막으로 {sums:vec} ÷ {total:n} = {mixed:vec}. 전체 어텐션의 행과 정확히 같습니다. 점수 {n:int}개 가운데 한 번에 {tile:int}개까지만 "
        "들고 있었습니다. 역전파에서 가중치를 다시 만드는 데에는 log-sum-exp, 곧 {top:n} + ln {total:n} = {lse:n} 하나면 됩니다.",
    ),
    "flash.empty": (
        "{token} may read no key at all, so its row is 0.",
        "{token:이/가} 볼 수 있는 키가 하나도 없으므로 그 행은 0입니다.",
    ),
    "linear.about": (
        "Linear attention keeps no keys: for each token that is read, φ(k) ⊗ v is added to one matrix S of {features:int} × {d:int} and "
        "φ(k) to one vector z, however long the text. φ(x) = elu(x) + 1 here. All numbers are rounded, and the result is another one "
        "than softmax's.",
        "선형 어텐션은 키를 쌓아 두지 않습니다. 토큰을 읽을 때마다 φ(k) ⊗ v를 {features:int} × {d:int} 행렬 S 하나에, φ(k)를 벡터 z 하나에 더할 "
        "뿐이며, 글이 길어져도 크기는 그대로입니다. 여기서 φ(x) = elu(x) + 1입니다. 모든 수는 반올림했고, 결과는 소프트맥스와 다릅니다.",
    ),
    "linear.all": (
        "{token}: after all {n:int} tokens that may be read, z = {keys:vec}. With φ(q) = {query:vec}, φ(q) · z = {total:n} and "
        "φ(q) S ÷ {total:n} = {mixed:vec}.",
        "{token}: 볼 수 있는 토큰 {n:int}개를 모두 읽은 뒤 z = {keys:vec}. φ(q) = {query:vec}이므로 φ(q) · z = {total:n}, "
        "φ(q) S ÷ {total:n} = {mixed:vec}입니다.",
    ),
    "linear.step": (
        "{token}: now z = {keys:vec}. With φ(q) = {query:vec}, φ(q) · z = {total:n} and φ(q) S ÷ {total:n} = {mixed:vec}.",
        "{token}: 이제 z = {keys:vec}. φ(q) = {query:vec}이므로 φ(q) · z = {total:n}, φ(q) S ÷ {total:n} = {mixed:vec}입니다.",
    ),
}


@dataclass(frozen=True)
class VariantExplanation:
    """Facts without language, in the order in which things happen, and sentences made of them.

    token : whose row it is;  layer : its number where there are several
    """

    facts: tuple[Fact, ...]
    token: str
    lang: str = "en"
    layer: int | None = None

    def sections(self, lang: str | None = None) -> list[Section]:
        """All sentences under one title; tiles and tokens are entries of a list."""
        lang = self.lang if lang is None else language(lang)
        name = self.facts[0].section
        title = fill(TITLES[name][LANGS.index(lang)], {"token": self.token}, lang)
        if self.layer is not None:
            title = PIECES["layer"][LANGS.index(lang)].format(layer=self.layer, title=title)
        lines = tuple((_is_entry(fact), _sentence(fact, lang)) for fact in self.facts)
        return [Section(name, title, lines, self.layer)]

    def text(self, lang: str | None = None) -> str:
        """All sentences, one a line, in a language."""
        (section,) = self.sections(lang)
        return "".join(f"{line}\n" for _, line in section.lines)

    def to_json(self) -> dict[str, Any]:
        """Facts and sentences as plain JSON."""
        text = {lang: self.text(lang) for lang in LANGS}
        return {"token": self.token, "facts": [fact.to_json() for fact in self.facts], "text": text}

    def __str__(self) -> str:
        return self.text()


def explain_flash(
    trace: Trace,
    token: int | str | Token = 0,
    *,
    head: int = 0,
    tile: int | None = None,
    lang: str = "en",
    layer: int | None = None,
) -> VariantExplanation:
    """How flash attention comes to one token's row, tile by tile.

    tile : keys of a tile; None for as few as make eight tiles at most
    layer : the number of the trace's layer, to be told where there are several

    >>> import jumok
    >>> print(explain_flash(jumok.attend(jumok.load("student")), "studies").text().splitlines()[1])
    Tile 1 ('The' and student): scores (0, 2.303). The largest is 2.303; Σ exp = 1.1, Σ exp · value = (1, 0, 0, 0).

    Errors: ``UnknownName`` for a token or language, ``InputError`` for a head or tile.
    """
    language(lang)
    query = token_index(trace.tokens, token)
    tile = few_tiles(trace.n_keys) if tile is None else tile
    steps = flash_steps(trace.q, trace.k, trace.v, trace.rule, query=query, head=head, tile=tile)
    return VariantExplanation(tuple(_of_flash(trace, steps, tile)), token_name(trace.tokens, query), lang, layer)


def explain_linear(
    trace: Trace, token: int | str | Token | None = None, *, head: int = 0, lang: str = "en", layer: int | None = None
) -> VariantExplanation:
    """What the memory of linear attention holds at each token, and what the token reads from it.

    token : the only one that is told, or None for all;  layer : as in ``explain_flash``

    Errors: ``InputError`` for a rule that linear attention cannot follow; ``UnknownName`` for a token or language.
    """
    language(lang)
    query = None if token is None else token_index(trace.tokens, token)
    rule = replace(trace.rule, scale=None)  # elu + 1 is no approximation of softmax: it has no use for a scale
    steps = linear_steps(trace.q, trace.k, trace.v, rule, head=head)
    told = steps if query is None else steps[query : query + 1]
    name = "" if query is None else token_name(trace.tokens, query)
    return VariantExplanation(tuple(_of_linear(trace, told, head)), name, lang, layer)


def _is_entry(fact: Fact) -> bool:
    return "at" in fact.data or fact.kind in ("linear.step", "linear.all")


def _sentence(fact: Fact, lang: str) -> str:
    """A fact as a sentence; of a tile, with its keys before it."""
    kinds = [fact.kind]
    if "at" in fact.data:
        kinds.insert(0, "flash.few_keys" if "keys" in fact.data else "flash.many_keys")
    return "".join(fill(PHRASES[kind][LANGS.index(lang)], fact.data, lang) for kind in kinds)


def _of_flash(trace: Trace, steps: FlashSteps, tile: int) -> Iterator[Fact]:
    names, read = token_names(trace.tokens), token_names(trace.read_tokens)
    token, n = names[steps.query], len(read)
    about = {"token": token, "n": n, "tile": min(tile, n), "head": steps.head}
    yield Fact("flash", "flash.about", about, steps.head)
    if steps.sink is not None:
        yield Fact("flash", "flash.sink", {"top": steps.sink}, steps.head)
    for at, fold in enumerate(steps.folds):
        data = {"at": at + 1, "token": token, **_keys(read, fold.keys), **_numbers(fold)}
        yield Fact("flash", f"flash.{_kind(fold)}", data, steps.head)
    last = steps.folds[-1]
    if last.top is None or steps.lse is None:
        yield Fact("flash", "flash.empty", about, steps.head)
        return
    end = {"sums": list(last.mixed), "total": last.total, "top": last.top, "mixed": list(steps.mixed), "lse": steps.lse}
    yield Fact("flash", "flash.end", about | end, steps.head)


def _keys(read: Sequence[str], keys: range) -> dict[str, Any]:
    """The names of a tile's keys, or of its first and last."""
    if len(keys) <= MOST_NAMED:
        return {"keys": [read[key] for key in keys]}
    return {"n_keys": len(keys), "first": read[keys[0]], "last": read[keys[-1]]}


def _kind(fold: Fold) -> str:
    if not fold.read:
        return "nothing"
    if fold.top_before is None:
        return "first"
    return "same" if fold.top == fold.top_before else "rescaled"


def _numbers(fold: Fold) -> dict[str, Any]:
    return {
        "scores": list(fold.scores), "top": fold.top, "top_before": fold.top_before, "rescale": fold.rescale,
        "before": fold.total_before, "added": fold.added, "total": fold.total, "mixed": list(fold.mixed),
    }  # fmt: skip


def _of_linear(trace: Trace, steps: Sequence[LinearStep], head: int) -> Iterator[Fact]:
    names = token_names(trace.tokens)
    yield Fact("linear", "linear.about", {"features": len(steps[0].keys), "d": len(steps[0].mixed)}, head)
    n_read = _n_read(trace)
    kind, numbers = ("linear.all", {"n": n_read}) if n_read > 1 else ("linear.step", {})
    for step in steps:
        data = {"token": names[step.query], "keys": list(step.keys), "query": list(step.features), **numbers}
        yield Fact("linear", kind, data | {"total": step.total, "mixed": list(step.mixed)}, head)


def _n_read(trace: Trace) -> int:
    """How many tokens every query reads where all read the same ones; 0 where each reads those so far."""
    if is_causal(trace.rule):
        return 0
    return int(trace.rule.allowed.block(np.arange(1), np.arange(trace.n_keys)).sum())
