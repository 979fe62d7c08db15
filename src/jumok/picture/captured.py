"""A captured reading on the terminal: what was read and how far to trust it, where the heads' weight goes, arrows, a cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..layer_numbers import layer_numbers, layer_place
from ..measurement.comparison import Comparison
from ..measurement.first_look import PLACES, Arrow, HeadLook, arrows, head_looks, some_queries
from ..measurement.noise import HeadShift, NeutralEdit
from ..tokens import Token, token_name
from ..trace import Reading
from ..words import LANGS, counted, isolated, number, percent, quoted
from .labels import labels, names, names_of_keys
from .terminal import Screen, mask_name

__all__ = ["captured", "shifted", "strongest", "words"]

N_HEADS, N_ARROWS, N_SHIFTS, N_KEYS = 3, 10, 6, 3
MOST_TOKENS = 60
MOST_READINGS = 8
SINK = 0.3  # Gu et al. 2025: a head is a sink head where it puts more than this on the first token

WORDS = {
    "model": ("Model: {name}", "모델: {name}"),
    "sizes": (
        "{n_layers} × {heads} heads ({kv} key/value), d_head {d_head}, {n_tokens}",
        "층 {layers}개 × 헤드 {heads}개(키·밸류 {kv}개), d_head {d_head}, 토큰 {n}개",
    ),
    "way.interface": ("read from transformers' attention functions", "transformers의 어텐션 함수에서 읽음"),
    "way.fused": ("read from PyTorch's fused attention calls", "PyTorch의 결합된 어텐션 연산에서 읽음"),
    "way.written": ("read from matrix products and softmax", "행렬 곱과 소프트맥스에서 읽음"),
    "mask": ("mask: {mask}", "마스크: {mask}"),
    "verified": (
        "Verified: computed again from q, k and v, the mixed values are the model's own to {off} in every layer.",
        "확인: q, k, v로 다시 계산한 값이 모든 층에서 모델이 낸 값과 {off} 안에서 같습니다.",
    ),
    "kept": ("Kept: {size} (q, k and v).", "보관한 크기: {size} (q, k, v)."),
    "refused": ("Refused: {module}: {why}", "거절한 층: {module}: {why}"),
    "seen": ("Seen and not read: {text}", "보았지만 읽지 않은 것: {text}"),
    "note": ("Note: {text}", "알림: {text}"),
    "stacks": (
        "This is the reading {name!r}. Others (layers × tokens), each with --reading NAME: {names}",
        "이것은 {name!r} 기록입니다. 다른 기록(층 × 토큰)은 --reading 이름: {names}",
    ),
    "instead": (
        "A multilingual encoder (such as multilingual-e5-small) or a decoder that reads bytes (such as SmolLM2) can: "
        "jumok capture --model FOLDER …",
        "다국어 인코더(multilingual-e5-small 등)나 바이트를 읽는 디코더(SmolLM2 등)는 읽을 수 있습니다: jumok capture --model 폴더 …",
    ),
    "tokens": ("Tokens", "토큰"),
    "more": ("… {n} more", "… {n}개 더"),
    "long": (
        "The text is long: of its {n} rows {some}, evenly spread, are looked at below.",
        "글이 깁니다. 아래에서는 행 {n}개 가운데 고르게 고른 {some}개를 봅니다.",
    ),
    "looks": ("Where the weight goes", "가중치가 가는 곳"),
    "sink": (
        "The first token {token} takes {mean} of all weight, more than {sink} in {n} of {all} heads: an attention sink. It is "
        "set apart: the shares below are of the weight on the other tokens.",
        "첫 토큰 {token}에 전체 가중치의 {mean}가 가고, 헤드 {all}개 가운데 {n}개에서는 {sink}를 넘습니다(어텐션 싱크). 아래 몫은 첫 "
        "토큰을 빼고 나머지 가중치에서 차지하는 것입니다.",
    ),
    "no_sink": (
        "The first token {token} takes {mean} of all weight. The shares below are of the weight on the other tokens.",
        "첫 토큰 {token}에 전체 가중치의 {mean}가 갑니다. 아래 몫은 첫 토큰을 빼고 나머지 가중치에서 차지하는 것입니다.",
    ),
    "where": ("attends to", "참고하는 곳"),
    "heads": ("heads that do so most (L layer, H head)", "가장 그런 헤드 (L 층, H 헤드)"),
    "first": ("the first token", "첫 토큰"),
    "itself": ("the token itself", "자기 자신"),
    "previous": ("the one before", "바로 앞 토큰"),
    "next": ("the one after", "바로 다음 토큰"),
    "arrows": (
        "Strongest arrows, without the first token, special tokens and neighbours",
        "가장 강한 화살표 (첫 토큰, 특수 토큰, 이웃은 빼고)",
    ),
    "arrows_of": (
        "Strongest arrows of L{layer}H{head}, without the first token",
        "L{layer}H{head}의 가장 강한 화살표 (첫 토큰은 빼고)",
    ),
    "no_arrow": ("There is none.", "없습니다."),
    "cut": ("What the model does without it", "끊었을 때 달라지는 것"),
    "shifts": ("Heads that changed most", "가장 많이 달라진 헤드"),
    "shifts_of": ("Heads whose row of {token} changed most", "{token}의 행이 가장 많이 달라진 헤드"),
    "same": (
        "The row of {token} is exactly the same in both texts, in all {n} heads. In a causal model it cannot be otherwise: what "
        "differs comes later. Look at a token that comes after the difference{try}.",
        "두 글에서 {token}의 행은 헤드 {n}개 모두에서 똑같습니다. 다른 곳이 뒤에 나오는 인과 모델에서는 당연합니다. 달라진 곳 다음의 토큰을 "
        "보십시오{try}.",
    ),
    "try": (": --token {token}", ": --token {token}"),
    "neutral": (
        "Noise floor: the largest distance of an edit of the first text that should not matter ({n} used):",
        "잡음 수준: 첫째 글을 뜻과 상관없이 바꾼 것(쓴 것 {n}개)에서 가장 큰 거리:",
    ),
    "above": (
        "{n} of {all} heads moved further than any of these edits moves them.",
        "헤드 {all}개 가운데 {n}개가 이보다 많이 움직였습니다.",
    ),
    "edit.stop": ("full stop", "마침표"),
    "edit.capital": ("capital", "대문자"),
    "edit.spaces": ("two spaces", "띄어쓰기 두 칸"),
    "edit.comma": ("comma", "쉼표"),
    "edit.opening": ("opening word", "앞머리 말"),
    "edit.polite": ("polite form", "높임"),
    "edit.alike": ("same sense", "같은 뜻"),
    "not_held": ("(leaves no such token, not used)", "(이 토큰이 남지 않아 쓰지 않음)"),
    "distance": ("distance", "거리"),
    "floor": ("noise floor", "잡음 수준"),
    "weights": ("weights that changed most", "가장 많이 달라진 가중치"),
    "paired": ("Paired as standing in the same place: {names}.", "같은 자리에 있는 것으로 짝지은 토큰: {names}."),
    "head": ("head", "헤드"),
    "rounded": ("numbers are rounded (--json has every digit)", "숫자는 반올림한 것입니다 (--json에는 모든 자리)"),
    "json_only": ("numbers are rounded", "숫자는 반올림한 것입니다"),
}


def words(name: str, lang: str, /, **data: Any) -> str:
    """A phrase of this screen, in a language."""
    return WORDS[name][LANGS.index(lang)].format(**data)


def captured(screen: Screen, reading: Any, layer: int | None = None, head: int | None = None) -> None:
    """What was read: the model, how far it can be trusted, its tokens, where its heads look.

    reading : what ``capture`` gave;  layer, head : whose arrows; None for the strongest of all
    """
    lang = screen.lang
    unreadable = reading.source.details.get("unreadable")
    if unreadable is not None:
        screen.say(f"! {unreadable[lang]}", "bold")
        screen.say(words("instead", lang))
        screen.say()
    _what(screen, reading)
    _tokens(screen, reading)
    some = some_queries(reading)
    if some is not None:
        screen.say()
        screen.say(words("long", lang, n=f"{reading[0].n_queries:,}", some=len(some)))
    if looks := head_looks(reading, some):
        _looks(screen, looks, names(reading)[0])
    _arrows(screen, reading, layer, head)
    screen.say()
    screen.say(words("rounded", lang), "dim")


def _what(screen: Screen, reading: Any) -> None:
    first, lang = reading[0], screen.lang
    screen.say(words("model", lang, name=reading.source.name or "?"), "bold")
    heads = "/".join(dict.fromkeys(str(layer.n_heads) for layer in reading))
    kv = "/".join(dict.fromkeys(str(layer.n_kv_heads) for layer in reading))
    said = first.source.details
    layers, n = len(reading), first.n_queries
    english = {"n_layers": counted(layers, "layer"), "n_tokens": counted(n, "token")}
    sizes = words("sizes", lang, layers=layers, heads=heads, kv=kv, d_head=first.d_head, n=n, **english)
    masks = ", ".join(mask_name(kind, lang) for kind in dict.fromkeys(layer.rule.allowed.kind for layer in reading))
    screen.say(" · ".join([sizes, words(f"way.{said['way']}", lang), words("mask", lang, mask=masks)]), "dim")
    screen.say(words("verified", lang, off=f"{reading.source.details['largest_difference']:.1e}"))
    held = sum(array.nbytes for layer in reading for array in (layer.q, layer.k, layer.v))
    screen.say(words("kept", lang, size=f"{held / 1e6:.3g} MB"))
    for one in reading.refused:
        screen.say(words("refused", lang, module=one.module, why=one.why_ko if lang == "ko" else one.why_en))
    for one in reading.seen:
        screen.say(words("seen", lang, text=one.text(lang)))
    for note in reading.source.details.get("notes", []):
        screen.say(words("note", lang, text=note[lang]))
    others = [at for at, name in enumerate(reading.names) if name != reading.main]
    if others:
        named = ", ".join(_named(reading, at) for at in others[:MOST_READINGS])
        more = f", {words('more', lang, n=len(others) - MOST_READINGS)}" if len(others) > MOST_READINGS else ""
        screen.say(words("stacks", lang, name=reading.main, names=named + more))


def _named(reading: Any, at: int) -> str:
    """What a reading is called, and its layers and tokens."""
    one = reading.readings[at]
    return f"{reading.names[at]} ({len(one)} × {one[0].n_queries})"


def _tokens(screen: Screen, reading: Any) -> None:
    some = labels(reading)
    screen.title(words("tokens", screen.lang))
    said = [f"{one.text}({one.part}/{one.parts})" if one.parts > 1 else one.text for one in some[:MOST_TOKENS]]
    if len(some) > MOST_TOKENS:
        said.append(words("more", screen.lang, n=len(some) - MOST_TOKENS))
    screen.say(" ".join(said))


def _looks(screen: Screen, looks: Sequence[HeadLook], first: str) -> None:
    lang = screen.lang
    mean, n = float(np.mean([look.first for look in looks])), sum(look.first > SINK for look in looks)
    screen.title(words("looks", lang))
    screen.say(
        words(
            "sink" if mean > SINK else "no_sink", lang, token=quoted(first, lang), mean=percent(mean), sink=percent(SINK),
            n=n, all=len(looks),
        )
    )  # fmt: skip
    rows = []
    for place in ("first", *PLACES):
        most = sorted(looks, key=lambda look: -getattr(look, place))[:N_HEADS]
        if number(getattr(most[0], place)) == "0":  # in a causal model nothing is read ahead
            continue
        said = ", ".join(f"L{look.layer}H{look.head} {number(getattr(look, place))}" for look in most)
        rows.append([words(place, lang), said])
    screen.listed(rows, [words("where", lang), words("heads", lang)])


def _arrows(screen: Screen, reading: Any, layer: int | None, head: int | None) -> None:
    lang, named, some = screen.lang, names(reading), some_queries(reading)
    one = layer is not None or head is not None
    if one:
        layer, head = layer_numbers(reading)[-1] if layer is None else layer, 0 if head is None else head
    found = arrows(reading, N_ARROWS, layer, head, {0}, queries=some) if one else strongest(reading, N_ARROWS)
    screen.title(words("arrows_of", lang, layer=layer, head=head) if one else words("arrows", lang))
    for arrow in found:
        query, key = (
            token_name([Token(text) for text in texts], at)
            for texts, at in (
                (named, arrow.query),
                (names_of_keys(reading[layer_place(reading, arrow.layer)], named), arrow.key),
            )
        )
        screen.entries(
            [(True, f"L{arrow.layer}H{arrow.head}  {isolated(query)} → {isolated(key)}  {number(arrow.weight)}")]
        )
    if not found:
        screen.say(words("no_arrow", lang))


def strongest(reading: Reading, n: int) -> Sequence[Arrow]:
    """The n largest weights between words: without the first token, special tokens and neighbours; of a long text of some rows."""
    marks = [at for at, label in enumerate(labels(reading)) if label.special]
    return arrows(reading, n, apart={0, *marks}, near=False, queries=some_queries(reading))


# two texts ----------------------------------------------------------------------------------------


def shifted(
    screen: Screen, found: Comparison, moved: Sequence[HeadShift], token: int | None, edits: Sequence[tuple[NeutralEdit, bool]],
    placed: Sequence[tuple[int, int]],
) -> None:  # fmt: skip
    """Two texts under one model: the heads that moved furthest above what neutral edits move them.

    token : position in the first text whose rows were looked at, or None for all
    edits : each neutral edit, and whether it could be used;  placed : pairs that stand in the same place with other texts
    """
    lang, a, b = screen.lang, names(found.a), names(found.b)
    screen.say(found.text(lang))
    if placed:
        screen.say(words("paired", lang, names=", ".join(f"{a[i]} ↔ {b[j]}" for i, j in placed)))
    if a == b:  # the same text twice
        return
    if token is not None and moved and not any(one.distance for one in moved):
        later = next((i for i, _ in placed if i > token), None)
        tip = "" if later is None else words("try", lang, token=a[later])
        screen.say()
        screen.say(words("same", lang, token=quoted(a[token], lang), n=len(moved), **{"try": tip}), "bold")
        return
    screen.title(words("shifts", lang) if token is None else words("shifts_of", lang, token=quoted(a[token], lang)))
    rows = [
        [f"L{one.layer}H{one.head}", number(one.distance), number(one.floor), _changes(found, one, token, (a, b))]
        for one in moved[:N_SHIFTS]
    ]
    screen.listed(rows, [words(name, lang) for name in ("head", "distance", "floor", "weights")])
    if edits:
        screen.say()
        screen.say(words("neutral", lang, n=sum(used for _, used in edits)))
        screen.entries([(True, _edit(edit, used, lang)) for edit, used in edits])
        screen.say(words("above", lang, n=sum(one.distance > one.floor for one in moved), all=len(moved)))
    screen.say()
    screen.say(words("json_only", lang), "dim")


def _edit(edit: NeutralEdit, used: bool, lang: str) -> str:
    """What was edited and how it reads then; with an edit that could not be used said to be none."""
    text = edit.text if edit.kind == "own" else f"{words(f'edit.{edit.kind}', lang)}: {edit.text}"
    return text if used else f"{text} {words('not_held', lang)}"


def _changes(found: Comparison, one: HeadShift, token: int | None, said: tuple[list[str], list[str]]) -> str:
    """The weights of a row that changed most, as they are in both texts."""
    traces = found.layer(one.layer)
    if token is None:
        change = next(head for head in found.heads if (head.layer, head.head) == (one.layer, one.head))
        if change.query is None:
            return ""
        pair = change.query
    else:
        pair = next(pair for pair in found.pairs if pair[0] == token)
    rows = [trace.rows("weights", queries=[at], heads=[one.head])[0, 0] for trace, at in zip(traces, pair, strict=True)]
    keys = sorted(found.key_pairs(one.layer), key=lambda keys: -abs(rows[0][keys[0]] - rows[1][keys[1]]))[:N_KEYS]
    before = "" if token is not None else f"{isolated(said[0][pair[0]])}: "
    return before + ", ".join(
        f"{_both(said[0][i], said[1][j])} {number(float(rows[0][i]))} → {number(float(rows[1][j]))}" for i, j in keys
    )


def _both(first: str, second: str) -> str:
    return isolated(first) if first == second else f"{isolated(first)}/{isolated(second)}"
