"""A cut in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...words import LANGS, fill, language, number, shown

if TYPE_CHECKING:
    from .cut import Cut, Guesses

__all__ = ["PHRASES", "sentences"]

N_TOLD = 3


def sentences(cut: Cut, lang: str) -> str:
    """What was cut and what it changed, in a language."""
    lang = language(lang)
    said = [_what(cut), (f"way.{cut.way}", {}), *_came(cut)]
    return " ".join(fill(PHRASES[name][LANGS.index(lang)], data, lang) for name, data in said)


def _what(cut: Cut) -> tuple[str, dict[str, Any]]:
    data: dict[str, Any] = {"layer": cut.layer, "head": cut.head, "weight": cut.weight}
    for name in ("query", "key"):
        token = getattr(cut, name)
        data[name] = None if token is None else token.text
    return f"cut.{'all' if cut.query is None else 'one'}.{'all' if cut.key is None else 'one'}", data


def _came(cut: Cut) -> Iterator[tuple[str, dict[str, Any]]]:
    if not any(change.norm for change in cut.changes):
        yield "nothing", {}
        return
    for guesses in cut.guesses:
        data = {"token": cut.tokens[guesses.position].text, "words": _words(guesses), "moved": guesses.moved}
        yield f"guesses.{cut.kind}", data | {"logits": guesses.logits}
    if cut.guesses:
        return
    if cut.kind == "numbers":
        yield "numbers", vars(cut.changes[0])
        return
    most = sorted(cut.changes, key=lambda change: -change.norm)[:N_TOLD]
    for name, change in zip(("most", *["also"] * len(most)), most, strict=False):
        yield f"vector.{name}", vars(change) | {"token": cut.tokens[change.position].text}


def _words(guesses: Guesses) -> str:
    return ", ".join(f"{shown(word.text)} {_moved(word.before, word.after)}" for word in guesses.words)


def _moved(before: float, after: float) -> str:
    """Both numbers; with as many digits as tell them apart where three decimals do not."""
    first, second = number(before), number(after)
    for digits in range(3, 9):
        if first != second or before == after:
            break
        first, second = f"{before:.{digits}g}", f"{after:.{digits}g}"
    return f"{first} → {second}"


PHRASES = {
    "cut.one.one": (
        "Cut in layer {layer:int}, head {head:int}: the weight {weight:n} of {query} on {key}.",
        "{layer:int}층 {head:int}번 헤드에서 {query:이/가} {key:을/를} 참고하는 가중치 {weight:을/를} 끊었습니다.",
    ),
    "cut.all.one": (
        "Cut in layer {layer:int}, head {head:int}: the weights of every token on {key}, {weight:n} on average.",
        "{layer:int}층 {head:int}번 헤드에서 모든 토큰이 {key:을/를} 참고하는 가중치(평균 {weight:n})를 끊었습니다.",
    ),
    "cut.one.all": (
        "Cut in layer {layer:int}, head {head:int}: the whole row of {query}.",
        "{layer:int}층 {head:int}번 헤드에서 {query}의 행 전체를 끊었습니다.",
    ),
    "cut.all.all": (
        "Cut: head {head:int} of layer {layer:int}, at every token.",
        "{layer:int}층 {head:int}번 헤드를 모든 토큰에서 끊었습니다.",
    ),
    "way.zero": ("Nothing takes its place.", "그 자리는 비워 두었습니다."),
    "way.renormalised": (
        "The rest of the row is shared out anew, as if this key were masked.",
        "행의 나머지는 이 키를 가린 것처럼 합이 1이 되게 다시 나누었습니다.",
    ),
    "way.mean": (
        "In its place stands the mean of what this head hands over, over all tokens.",
        "그 자리에는 이 헤드가 건네주는 값을 모든 토큰에 걸쳐 평균한 것을 넣었습니다.",
    ),
    "nothing": ("The model's output stays exactly the same.", "모델의 출력은 조금도 바뀌지 않습니다."),
    "guesses.next": (
        "After {token} the next token: {words:e}; {moved:pct} of the probability goes elsewhere, the logits move by {logits:n}.",
        "{token} 다음에 올 토큰: {words:e}. 확률의 {moved:pct}가 다른 토큰으로 옮겨 가고 로짓은 {logits:n}만큼 움직입니다.",
    ),
    "guesses.word": (
        "At {token} the model reads: {words:e}; {moved:pct} of the probability goes elsewhere, the logits move by {logits:n}.",
        "{token} 자리에서 모델이 보는 토큰: {words:e}. 확률의 {moved:pct}가 다른 토큰으로 옮겨 가고 로짓은 {logits:n}만큼 움직입니다.",
    ),
    "numbers": (
        "The output moves by {norm:n}, {relative:pct} of its length (cosine {cosine:n}).",
        "출력이 {norm:n}만큼 움직입니다(길이의 {relative:pct}, 코사인 {cosine:n}).",
    ),
    "vector.most": (
        "The output vector of {token} moves most: by {norm:n}, {relative:pct} of its length (cosine {cosine:n}).",
        "출력 벡터는 {token}에서 가장 많이 움직입니다: {norm:n} (길이의 {relative:pct}, 코사인 {cosine:n}).",
    ),
    "vector.also": (
        "Then {token}: {norm:n} ({relative:pct}).",
        "그다음은 {token}: {norm:n} ({relative:pct}).",
    ),
}
