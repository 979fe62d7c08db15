"""Which heads of a real model could do with a window: those that keep nearly all their weight in it, and what that would save.

>>> import jumok
>>> found = window_heads(jumok.load("minilm-tired"), window=5, keep=0.9)
>>> len(found.heads), [(one.layer, one.head) for one in found.kept][:2]
(72, [(0, 2)])
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..layer_numbers import layer_numbers
from ..path.allowed import Allowed, padding
from ..path.allowed import window as neighbours
from ..path.checked import count
from ..words import LANGS, counted, fill, language
from .cost_words import amount, size
from .error import Kept, kept

__all__ = ["HeadKept", "WindowHeads", "window_heads"]

PHRASES = {
    "pattern": (
        "Window of {tokens:text}{both:text}{sink:text}; text of {all:text}.",
        "토큰 {window:int}개짜리 윈도우{both:text}{sink:text}, 토큰 {n:int}개인 글.",
    ),
    "both": (" to each side (counting the token itself)", "(앞뒤로 각각, 자기 자신 포함)"),
    "sink": (" plus {tokens:text} at the start", "와 처음 토큰 {n:int}개"),
    "short": (
        "The text is too short: no query loses a key to this window, so it says nothing about any head. Take a longer text, or "
        "a smaller window.",
        "글이 너무 짧습니다. 이 윈도우로는 어느 쿼리도 키를 잃지 않으므로 헤드에 대해 알 수 있는 것이 없습니다. 더 긴 글이나 더 작은 윈도우를 쓰십시오.",
    ),
    "some": (
        "Heads that keep {keep:text} of their weight in it or more (mean over the {rows:int} rows that lose a key): {n:int} of "
        "{all:int}: {heads:text}.",
        "헤드 {all:int}개 가운데 {n:int}개가 그 안에 가중치의 {keep:text} 이상을 둡니다(키를 잃는 행 {rows:int}개의 평균): {heads:text}.",
    ),
    "none": (
        "None of {all:int} heads keeps {keep:text} of its weight in it (mean over the {rows:int} rows that lose a key). The nearest: "
        "{heads:text}.",
        "헤드 {all:int}개 가운데 그 안에 가중치의 {keep:text} 이상을 두는 것은 없습니다(키를 잃는 행 {rows:int}개의 평균). 가장 가까운 것: {heads:text}.",
    ),
    "saving": (
        "With a window in these heads only, the model's attention makes {after:text} multiply-adds instead of {before:text} "
        "({saved:pct} less).",
        "이 헤드들만 윈도우로 바꾸면 모델의 어텐션은 곱셈·덧셈을 {before:text} 번 대신 {after:text} 번 합니다({saved:pct} 줄어듦).",
    ),
    "cache": (
        "The cache of keys and values takes {after:text} instead of {before:text} ({saved:pct} less); heads that share keys save only "
        "together.",
        "키/밸류 캐시는 {before:text} 대신 {after:text}입니다({saved:pct} 줄어듦). 키를 함께 쓰는 헤드는 모두 바꿔야 줄어듭니다.",
    ),
    "no_cache": (
        "There is no cache to save: its queries read ahead, so every token is computed anew with the text.",
        "줄일 캐시는 없습니다. 쿼리가 뒤의 토큰도 보므로 글 전체를 매번 다시 계산합니다.",
    ),
    "weights_only": (
        "This is about weights, not about what the model says: cut the heads and look (jumok capture --cut).",
        "이것은 가중치에 대한 것이며 모델의 답에 대한 것이 아닙니다. 헤드를 끊어서 확인하십시오(jumok capture --cut).",
    ),
}  # fmt: skip
MOST_NAMED = 12
NEAREST = 3


@dataclass(frozen=True)
class HeadKept:
    """One head.

    inside : the weight that stays in the window, mean over the rows that lose a key; NaN where none does
    layer, head : its place, the layer by its number in the model
    least : the same of the row that loses most
    """

    layer: int
    head: int
    inside: float
    least: float


@dataclass(frozen=True)
class WindowHeads:
    """What a window would keep of each head, and save.

    heads : every head, layer by layer;  keep : the share of weight that is enough
    window, n_sink : keys that are read: the token itself and window − 1 before it, and the first ``n_sink``
    n_tokens : of the text;  n_rows : rows of a head that lose a key;  reads_ahead : True where queries read keys after them, so that
        the window counts on both sides
    multiply_adds, cache_bytes : (as it is, with a window in ``kept`` only) of all layers; the cache of keys and values
    """

    heads: tuple[HeadKept, ...]
    keep: float
    window: int
    n_sink: int
    n_tokens: int
    n_rows: int
    reads_ahead: bool
    multiply_adds: tuple[int, int]
    cache_bytes: tuple[int, int]

    @property
    def kept(self) -> tuple[HeadKept, ...]:
        """The heads that keep enough."""
        return tuple(one for one in self.heads if one.inside >= self.keep)

    def text(self, lang: str = "en") -> str:
        """What was found, in sentences."""
        return "\n".join(_lines(self, language(lang)))

    def __str__(self) -> str:
        return self.text()

    def to_json(self) -> dict[str, Any]:
        """Every number, as plain JSON."""
        plain = dataclasses.asdict(self)
        heads = [{name: None if value != value else value for name, value in one.items()} for one in plain["heads"]]
        return {"format": "jumok-window-heads", "version": 1, **plain, "heads": heads}


def window_heads(
    reading: Any, window: int = 256, n_sink: int = 0, keep: float = 0.99, itemsize: int = 2
) -> WindowHeads:
    """Which heads of a reading keep nearly all their weight in a window, and what replacing only those would save.

    reading : a ``Reading``, or one layer's ``Trace``
    window : keys that are read, the token itself among them; where queries read ahead, as many after it as before it
    n_sink : first tokens that are read besides;  keep : the share of the weight that is enough, 0 to 1
    itemsize : bytes of a number in the cache (2: half precision)

    Errors: ``InputError`` for a window below 1, and for a reading without layers.
    Source: sinks: Xiao et al. 2023, "StreamingLLM", section 3.
    """
    window, n_sink, itemsize = count("window", window), count("n_sink", n_sink, 0), count("itemsize", itemsize)
    layers = _layers(reading)
    if not layers:
        raise InputError(en="the reading holds no layer.", ko="기록에 층이 없습니다.")
    if isinstance(keep, bool) or not isinstance(keep, (int, float)) or not 0 < keep <= 1:
        raise InputError(
            en=f"keep expects a share above 0 and up to 1, such as 0.99, got {keep!r}.",
            ko=f"keep에는 0보다 크고 1 이하인 비율(예: 0.99)이 필요한데 {keep!r}이(가) 왔습니다.",
        )
    found = [kept(layer, _pattern(layer, window, n_sink)) for layer in layers]
    numbers = layer_numbers(reading)
    of_layers = [list(_heads(*each)) for each in zip(numbers, found, strict=True)]
    chosen = [[head.inside >= keep for head in heads] for heads in of_layers]
    saved = [_saved(*each, itemsize) for each in zip(layers, found, chosen, strict=True)]
    adds, cache = ((sum(one[what][0] for one in saved), sum(one[what][1] for one in saved)) for what in range(2))
    return WindowHeads(
        heads=tuple(itertools.chain(*of_layers)),
        keep=keep,
        window=window,
        n_sink=n_sink,
        n_tokens=int(layers[0].q.shape[1]),
        n_rows=int(found[0].loses.sum()),
        reads_ahead=any(one.reads_ahead for one in found),
        multiply_adds=adds,
        cache_bytes=cache,
    )


def _layers(reading: Any) -> list[Any]:
    """The layers of a reading, or the one that a Trace is."""
    layers = [reading] if hasattr(reading, "q") else list(reading) if isinstance(reading, Iterable) else [reading]
    for layer in layers:
        if any(not hasattr(layer, name) for name in ("q", "k", "v", "rule")):
            raise InputError(
                en=f"window_heads expects a Reading or a Trace, got {type(reading).__name__}. Try jumok.load of a saved one.",
                ko=f"window_heads에는 Reading이나 Trace가 필요한데 {type(reading).__name__}이(가) 왔습니다. 저장한 것을 jumok.load로 "
                f"읽으십시오.",
            )
    return layers


def _pattern(layer: Any, window: int, n_sink: int) -> Allowed:
    near = neighbours(window - 1, window - 1)  # what lies ahead has no weight where the rule forbids it
    return near | padding(np.arange(layer.k.shape[1]) < n_sink) if n_sink else near


def _heads(layer: int, found: Kept) -> Iterator[HeadKept]:
    rows = found.inside[:, found.loses]
    for head, of in enumerate(rows):
        both = (float(of.mean()), float(of.min())) if len(of) else (float("nan"), float("nan"))
        yield HeadKept(layer, head, *both)


def _saved(layer: Any, found: Kept, chosen: Sequence[bool], itemsize: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """((multiply-adds before, after), (bytes of the cache before, after)) of a layer."""
    width = int(layer.q.shape[-1] + layer.v.shape[-1])
    whole, less = (int(n.sum()) for n in (found.n_allowed, found.n_read))
    adds = sum(less if yes else whole for yes in chosen) * width
    if found.reads_ahead:
        return (len(chosen) * whole * width, adds), (0, 0)
    n_keys, n_kv_heads = int(layer.k.shape[1]), int(layer.k.shape[0])
    group = len(chosen) // n_kv_heads
    most = int(found.n_read.max())
    held = [most if all(chosen[at : at + group]) else n_keys for at in range(0, len(chosen), group)]
    cell = width * itemsize
    return (len(chosen) * whole * width, adds), (n_kv_heads * n_keys * cell, sum(held) * cell)


# the sentences ------------------------------------------------------------------------------------


def _say(name: str, lang: str, /, **data: Any) -> str:
    return fill(PHRASES[name][LANGS.index(lang)], data, lang)


def _lines(found: WindowHeads, lang: str) -> Iterator[str]:
    both = _say("both", lang) if found.reads_ahead else ""
    sink = _say("sink", lang, n=found.n_sink, tokens=counted(found.n_sink, "token")) if found.n_sink else ""
    tokens, all_ = counted(found.window, "token"), counted(found.n_tokens, "token")
    yield _say("pattern", lang, window=found.window, tokens=tokens, both=both, sink=sink, n=found.n_tokens, all=all_)
    if not found.n_rows:
        yield _say("short", lang)
        return
    numbers = {"all": len(found.heads), "keep": f"{100 * found.keep:g}%", "rows": found.n_rows}
    if not found.kept:
        nearest = sorted(found.heads, key=lambda one: -one.inside)[:NEAREST]
        yield _say("none", lang, heads=_named(nearest, lang), **numbers)
        return
    yield _say("some", lang, n=len(found.kept), heads=_named(found.kept, lang), **numbers)
    yield _say("saving", lang, **_change(found.multiply_adds, lambda n: amount(n, lang)))
    if found.reads_ahead:
        yield _say("no_cache", lang)
    else:
        yield _say("cache", lang, **_change(found.cache_bytes, size))
    yield _say("weights_only", lang)


def _change(pair: tuple[int, int], said: Any) -> dict[str, Any]:
    before, after = pair
    return {"before": said(before), "after": said(after), "saved": 1 - after / before}


def _named(heads: Sequence[HeadKept], lang: str) -> str:
    names = [f"{one.layer}.{one.head} ({100 * one.inside:.1f}%)" for one in heads[:MOST_NAMED]]
    rest = len(heads) - len(names)
    more = (f"and {rest} more", f"그 밖에 {rest}개")[LANGS.index(lang)]
    return ", ".join([*names, *([more] if rest else [])])
