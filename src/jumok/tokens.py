"""The tokens of a record: pieces of text, found again by position or by what they say.

>>> token_index(as_tokens(["a", "b", "a"]), "a#2")
2
"""

from __future__ import annotations

import difflib
import operator
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import InputError, UnknownName

__all__ = ["Token", "as_names", "as_tokens", "positions", "token_index", "token_name", "token_names", "unknown_name"]

SHOWN = 12  # names in a message


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text as a reader should see it.

    text : any string, also an empty one
    span : (start, end) characters in the source text, or None where it is not known
    """

    text: str
    span: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if not _is_text(self.text):
            raise InputError(
                en=f"a token expects text, got {self.text!r}.",
                ko=f"토큰에는 문자열이 필요한데 {self.text!r}이(가) 왔습니다.",
            )
        if self.span is not None and not _is_span(self.span):
            raise InputError(
                en=f"the span of a token expects (start, end) in characters, 0 ≤ start ≤ end, got {self.span!r}.",
                ko=f"토큰의 span에는 글자 위치 (시작, 끝), 0 ≤ 시작 ≤ 끝이 필요한데 {self.span!r}이(가) 왔습니다.",
            )

    def __str__(self) -> str:
        return self.text


def _is_text(value: Any) -> bool:
    try:
        return isinstance(value, str) and value.encode("utf-8") is not None
    except UnicodeEncodeError:  # half of a surrogate pair
        return False


def _is_span(value: Any) -> bool:
    return isinstance(value, tuple) and [type(at) for at in value] == [int, int] and 0 <= value[0] <= value[1]


def as_tokens(tokens: Iterable[str | Token]) -> tuple[Token, ...]:
    """Texts as tokens; what is a token already stays as it is."""
    if isinstance(tokens, tuple) and all(isinstance(token, Token) for token in tokens):
        return tokens
    return tuple(token if isinstance(token, Token) else Token(token) for token in _listed("tokens", tokens))


def as_names(what: str, names: Iterable[str]) -> tuple[str, ...]:
    """Texts in NFC, so that decomposed Hangul is the same name as composed."""
    return tuple(unicodedata.normalize("NFC", Token(name).text) for name in _listed(what, names))


def _listed(what: str, texts: Any) -> list[Any]:
    if isinstance(texts, Iterable) and not isinstance(texts, (str, bytes, dict)):
        return list(texts)
    hint, hint_ko = (f" Try {texts.split()!r}.", f" 예: {texts.split()!r}.") if isinstance(texts, str) else ("", "")
    raise InputError(
        en=f"{what} expects a list of texts, got {texts!r}.{hint}",
        ko=f"{what}에는 문자열의 목록이 필요한데 {texts!r}이(가) 왔습니다.{hint_ko}",
    )


def token_index(tokens: Sequence[Token], token: int | str | Token) -> int:
    """The position of a token, by position or by text; the second of two equal ones is ``word#2``.

    Texts are compared in NFC. Errors: ``UnknownName`` for a text that is not there, or that stands
    more than once and is not numbered; ``InputError`` for a position out of range.
    """
    if not isinstance(token, (str, Token)):
        return position("token", "토큰", token, len(tokens))
    text = unicodedata.normalize("NFC", str(token))
    at = _standing(tokens, text)
    if len(at) > 1:
        named = _some([f"{text}#{n + 1}" for n in range(len(at))])
        raise UnknownName(
            en=f"the token {text!r} stands {len(at)} times; say which: {named}.",
            ko=f"토큰 {text!r}이(가) {len(at)}번 나옵니다. 어느 것인지 밝히십시오: {named}.",
        )
    if at:
        return at[0]
    word, _, number = text.rpartition("#")
    at = _standing(tokens, word)
    if number.isascii() and number.isdigit() and 1 <= int(number[:9]) <= len(at):
        return at[int(number[:9]) - 1]
    raise unknown_name("token", "토큰", text, [other.text for other in tokens])


def token_name(tokens: Sequence[Token], at: int) -> str:
    """The name by which ``token_index`` finds a token again: its text, ``word#2`` for the second of two.

    >>> token_name(as_tokens(["a", "b", "a"]), 2)
    'a#2'
    """
    text = unicodedata.normalize("NFC", tokens[at].text)
    same = _standing(tokens, text)
    return text if len(same) == 1 else f"{text}#{same.index(at) + 1}"


def token_names(tokens: Sequence[Token]) -> list[str]:
    """``token_name`` of each token, in one go.

    >>> token_names(as_tokens(["a", "b", "a"]))
    ['a#1', 'b', 'a#2']
    """
    texts = [unicodedata.normalize("NFC", token.text) for token in tokens]
    n, seen = Counter(texts), Counter[str]()
    names = []
    for text in texts:
        seen[text] += 1
        names.append(text if n[text] == 1 else f"{text}#{seen[text]}")
    return names


def _standing(tokens: Sequence[Token], text: str) -> list[int]:
    return [i for i, token in enumerate(tokens) if unicodedata.normalize("NFC", token.text) == text]


def positions(what: str, what_ko: str, value: Any, n: int) -> list[int]:
    """One position, or several, each from 0 to n − 1."""
    return [position(what, what_ko, one, n) for one in several(value)]


def position(what: str, what_ko: str, value: Any, n: int) -> int:
    """A position from 0 to n − 1; True and False are none."""
    try:
        at = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        at = -1
    if 0 <= at < n:
        return at
    raise InputError(
        en=f"{what} expects a position from 0 to {n - 1}, got {value!r}.",
        ko=f"{what_ko}에는 0부터 {n - 1}까지의 위치가 필요한데 {value!r}이(가) 왔습니다.",
    )


def several(value: Any) -> list[Any]:
    """One thing, or a list of them, as a list."""
    one = isinstance(value, (str, Token)) or not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0
    return [value] if one else list(value)


def unknown_name(what: str, what_ko: str, got: Any, known: Iterable[str]) -> UnknownName:
    """The refusal of a name that is not there, with the nearest ones that are."""
    names = list(dict.fromkeys(known))
    near = difflib.get_close_matches(str(got)[:200], names[:2000], n=3, cutoff=0.6)
    some = _some([repr(name) for name in names])
    meant = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    meant_ko = f" 혹시 {', '.join(map(repr, near))}입니까?" if near else ""
    return UnknownName(
        en=f"unknown {what} {got!r}.{meant} There are: {some}.",
        ko=f"알 수 없는 {what_ko} {got!r}입니다.{meant_ko} 쓸 수 있는 것: {some}.",
    )


def _some(names: list[str]) -> str:
    return ", ".join(names if len(names) <= SHOWN else [*names[:SHOWN], "…"])
