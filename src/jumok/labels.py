"""How a token is shown: characters a reader knows, also where a tokenizer cut them into bytes or letters.

>>> [label.text for label in labels_of(["The", "Ġcat", "Ċ"])]
['The', '␣cat', '⏎']
>>> [(label.text, label.part, label.parts, label.raw) for label in labels_of(["Ġì", "±", "ħ"])][1]
('␣책', 2, 3, 'B1')
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .tokens import Token, as_tokens
from .words import shown

__all__ = ["Label", "labels_of", "names_of"]


@dataclass(frozen=True, slots=True)
class Label:
    """How one token is shown.

    text : what is seen; pieces of one character all show the whole of it
    part, parts : which piece of it this token is, counted from 1
    raw : the token's bytes in hex, or the piece as the tokenizer wrote it; None where that says nothing new
    special : True for marks such as ``[CLS]`` that stand for no text
    """

    text: str
    part: int = 1
    parts: int = 1
    raw: str | None = None
    special: bool = False

    def to_json(self) -> dict[str, Any]:
        """The five fields."""
        return {name: getattr(self, name) for name in ("text", "part", "parts", "raw", "special")}


@dataclass(frozen=True, slots=True)
class _Piece:
    """What one token covers: ``first`` to ``last`` of its row's characters (−1: none), and how it is written."""

    first: int
    last: int
    raw: str
    is_whole: bool  # where it shares no character, nothing more need be said


def labels_of(tokens: Iterable[str | Token], sentence: str | None = None) -> tuple[Label, ...]:
    """One label a token. How the row is written (bytes, word pieces, plain) is decided for the row as a whole.

    sentence : the text that the tokens' spans point into, where it is known
    """
    row = as_tokens(tokens)
    labels: list[Label | None] = [_special(token.text) for token in row]
    rest = [at for at, label in enumerate(labels) if label is None]
    texts = [row[at].text for at in rest]
    if not _verbatim(texts, sentence):
        for written in (_byte_level, _sentencepiece, _wordpiece):
            if (found := written(texts, [at - place for place, at in enumerate(rest)])) is not None:
                return _put(labels, rest, found)
    return _put(labels, rest, _plain([row[at] for at in rest], sentence))


def names_of(tokens: Iterable[str | Token], sentence: str | None = None) -> list[str]:
    """(token,) its label without the white space before it: what a person calls it."""
    return [label.text.lstrip("␣") or label.text for label in labels_of(tokens, sentence)]


def _put(labels: list[Label | None], rest: Sequence[int], found: Sequence[Label]) -> tuple[Label, ...]:
    for at, label in zip(rest, found, strict=True):
        labels[at] = label
    return tuple(label for label in labels if label is not None)


_SPECIAL = re.compile(
    r"\[(CLS|SEP|PAD|MASK|UNK|BOS|EOS|unused\d+)\]|<[|｜].*[|｜]>|</?s>|"
    r"<(pad|unk|mask|bos|eos|cls|sep|start_of_turn|end_of_turn|unused\d+)>"
)


def _special(text: str) -> Label | None:
    return Label(shown(text.replace("▁", " ")), special=True) if _SPECIAL.fullmatch(text) else None


def _verbatim(texts: Sequence[str], sentence: str | None) -> bool:
    """True where the sentence has every token, letter by letter and in order: then nobody rewrote them."""
    at = 0 if sentence else -1
    for text in texts:
        if at >= 0 and (at := (sentence or "").find(text, at)) >= 0:
            at += len(text)
    return at >= 0


# bytes as letters (GPT-2 and its heirs) -----------------------------------------------------------

_OWN = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]  # bytes that stand for themselves
_BYTE = {chr(byte): byte for byte in _OWN} | {
    chr(0x100 + at): byte for at, byte in enumerate(byte for byte in range(256) if byte not in _OWN)
}
_NEVER_TEXT = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def _byte_level(texts: Sequence[str], runs: Sequence[int]) -> list[Label] | None:
    if not texts or not all(letter in _BYTE for text in texts for letter in text):
        return None
    pieces = [bytes(_BYTE[letter] for letter in text) for text in texts]
    if all(text.isascii() for text in texts) or not _read_as_bytes(texts, b"".join(pieces)):
        return None
    return _of_bytes(pieces, runs)


def _read_as_bytes(texts: Sequence[str], joined: bytes) -> bool:
    """True where a row in the byte alphabet means bytes: é or Ġ in somebody's prose look the same alone.

    Prose gives itself away: as bytes it breaks UTF-8 or has control characters, and its Ġ may stand inside a word.
    """
    n_white = joined.count(b" ") + joined.count(b"\n")
    if len(_NEVER_TEXT.findall(joined)) > n_white / 2 or any("Ġ" in text.lstrip("ĠĊĉč") for text in texts):
        return False
    inner = _without_torn_ends(joined)
    if not _utf8(inner):
        return False
    if not inner.isascii() or any(text and not text.strip("ĠĊĉč") for text in texts):
        return True
    spaced = [text.startswith("Ġ") for text in texts]
    by_a_person = spaced[0] and not any(spaced[1:]) and len(texts) > 2  # Ġgantija hija antika
    return any(spaced) and not by_a_person


def _utf8(data: bytes) -> bool:
    try:
        return data.decode("utf-8") is not None
    except UnicodeDecodeError:
        return False


def _without_torn_ends(data: bytes) -> bytes:
    """Without the halves of characters that a cut text begins and ends with."""
    data = re.sub(rb"\A[\x80-\xbf]{1,3}", b"", data)
    return re.sub(rb"([\xc2-\xf4]|[\xe0-\xf4][\x80-\xbf]|[\xf0-\xf4][\x80-\xbf]{2})\Z", b"", data)


def _of_bytes(pieces: Sequence[bytes], runs: Sequence[int]) -> list[Label]:
    """Labels of tokens that are bytes; characters do not reach over a special token between two ``runs``."""
    characters: list[str] = []
    covers: list[_Piece] = []
    start = 0
    while start < len(pieces):
        end = next((at for at in range(start, len(pieces)) if runs[at] != runs[start]), len(pieces))
        owner, found = _characters(b"".join(pieces[start:end]))
        owner = [len(characters) + character for character in owner]
        at = 0
        for piece in pieces[start:end]:
            covered = owner[at : at + len(piece)] or [-1]
            covers.append(_Piece(covered[0], covered[-1], piece.hex(" ").upper(), _utf8(piece)))
            at += len(piece)
        characters += found
        start = end
    return _grouped(characters, covers)


def _characters(data: bytes) -> tuple[list[int], list[str]]:
    """For each byte the character it belongs to, and the characters; a byte that belongs to none shows its hex."""
    owner: list[int] = []
    characters: list[str] = []
    at = 0
    while at < len(data):
        size = next((n for n in range(1, 5) if at + n <= len(data) and _utf8(data[at : at + n])), 0)
        characters.append(data[at : at + size].decode("utf-8") if size else f"{data[at]:02X}")
        owner += [len(characters) - 1] * max(size, 1)
        at += max(size, 1)
    return owner, characters


def _grouped(characters: Sequence[str], covers: Sequence[_Piece]) -> list[Label]:
    """Tokens that share a character become its parts; a token that shares none shows its own characters."""
    groups: list[list[_Piece]] = []
    for piece in covers:
        if groups and piece.first >= 0 and piece.first == groups[-1][-1].last:
            groups[-1].append(piece)
        else:
            groups.append([piece])
    labels = []
    for group in groups:
        text = "".join(characters[group[0].first : group[-1].last + 1]) if group[0].first >= 0 else ""
        for part, piece in enumerate(group, 1):
            raw = None if len(group) == 1 and piece.is_whole else piece.raw
            labels.append(Label(_visible(text), part, len(group), raw))
    return labels


# SentencePiece ------------------------------------------------------------------------------------

_BYTE_PIECE = re.compile(r"<0x([0-9A-F]{2})>")


def _sentencepiece(texts: Sequence[str], runs: Sequence[int]) -> list[Label] | None:
    if not any("▁" in text or _BYTE_PIECE.fullmatch(text) for text in texts):
        return None
    found = [_BYTE_PIECE.fullmatch(text) for text in texts]
    pieces = [
        bytes.fromhex(match[1]) if match else text.replace("▁", " ").encode("utf-8")
        for text, match in zip(texts, found, strict=True)
    ]
    return _of_bytes(pieces, runs)


# WordPiece ----------------------------------------------------------------------------------------


def _wordpiece(texts: Sequence[str], runs: Sequence[int]) -> list[Label] | None:
    """``##`` goes on with a word; letters that were decomposed (Hangul as jamo) are composed again."""
    goes_on = [text.startswith("##") and len(text) > 2 for text in texts]
    if not any(goes_on):
        return None
    characters: list[str] = []
    covers: list[_Piece] = []
    for at, text in enumerate(texts):
        inside = goes_on[at] and at > 0 and runs[at] == runs[at - 1]
        first = len(characters)
        for place, letter in enumerate(text[2:] if goes_on[at] else text):
            if characters and (inside or place) and _one_character(characters[-1] + letter):
                characters[-1] = unicodedata.normalize("NFC", characters[-1] + letter)
                first -= place == 0
            else:
                characters.append(letter)
        last = len(characters) - 1
        covers.append(_Piece(first if last >= first else -1, last if last >= first else -1, text, not goes_on[at]))
    return _grouped(characters, covers)


def _one_character(text: str) -> bool:
    return len(unicodedata.normalize("NFC", text)) == 1 or unicodedata.combining(text[-1]) > 0


# plain texts --------------------------------------------------------------------------------------


def _plain(tokens: Sequence[Token], sentence: str | None) -> list[Label]:
    """Texts as they are; pieces whose spans overlap, or are the same, show the sentence's characters that they are pieces of."""
    groups: list[list[Token]] = []
    for token in tokens:
        pieces = (
            groups and _is_piece(token, sentence) and _is_piece(groups[-1][-1], sentence) and _meet(groups[-1], token)
        )
        if pieces or (groups and _is_same(groups[-1][-1], token, sentence)):
            groups[-1].append(token)
        else:
            groups.append([token])
    labels: list[Label] = []
    for group in groups:
        if len(group) == 1:
            labels.append(Label(_visible(group[0].text, lead=" ")))
            continue
        low, high = _union(group)
        text = _visible((sentence or "")[low:high])
        raws = [None if "�" in token.text or token.text == text else token.text for token in group]
        labels += [Label(text, part, len(group), raw) for part, raw in enumerate(raws, 1)]
    return labels


def _is_piece(token: Token, sentence: str | None) -> bool:
    """True where a token's span says where it is from, and the sentence says something else there."""
    if sentence is None or token.span is None or not token.span[0] < token.span[1] <= len(sentence):
        return False
    there = sentence[slice(*token.span)]
    return unicodedata.normalize("NFC", there) != unicodedata.normalize("NFC", token.text)


def _is_same(one: Token, token: Token, sentence: str | None) -> bool:
    """True for two that were called by the one character that both are pieces of (``picture.labels.readable``)."""
    told = token.span is not None and token.span[0] < token.span[1] <= len(sentence or "")
    return told and (one.span, one.text) == (token.span, token.text)


def _meet(group: Sequence[Token], token: Token) -> bool:
    low, high = _union([token])
    start, end = _union(group)
    return low < end and start < high


def _union(group: Sequence[Token]) -> tuple[int, int]:
    spans = [token.span for token in group if token.span is not None]
    return min(span[0] for span in spans), max(span[1] for span in spans)


_WHITE = str.maketrans({" ": "␣", "\n": "⏎", "\t": "⇥"})


def _visible(text: str, lead: str = "␣") -> str:
    """Characters as they can be seen; only white space shows its signs, and ``lead`` stands for leading spaces."""
    if text and not text.strip(" \n\t"):
        return text.translate(_WHITE)
    bare = text.lstrip(" ")
    spaces = lead * (len(text) - len(bare))
    if lead != " ":
        bare = bare.replace("\n", "⏎").replace("\t", "⇥")
    return (spaces + shown(bare)).replace("�", "\\ufffd")
