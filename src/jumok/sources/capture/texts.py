"""Text → what a model is given, and the tokens as a reader should see them, with their place in the text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import InputError
from ...tokens import Token
from ...words import LANGS, percent

__all__ = ["Encoded", "encoded", "refuse_blank", "tokens_of", "unreadable", "word_of"]

_UNREADABLE = {
    "unknown": (
        "This model cannot read this text: {share} of its tokens stand for text that its vocabulary does not know ([UNK]). "
        "What is shown is about them, not about the text.",
        "이 모델은 이 글을 읽지 못합니다. 토큰의 {share}가 어휘에 없는 글([UNK])입니다. 보이는 것은 글이 아니라 이 토큰들에 대한 것입니다.",
    ),
    "jamo": (
        "This model has no Hangul syllables: it reads the text as single jamo.",
        "이 모델의 어휘에는 한글 음절이 없어서 글을 자모 하나하나로 읽습니다.",
    ),
}


@dataclass(frozen=True)
class Encoded:
    """One batch of texts.

    inputs : what the model is called with: input_ids and what else the tokenizer gives
    tokens : (text, token) pieces with spans; padding too
    real : (text, token) False where a token is padding
    special : True where the tokenizer added tokens of its own
    unknown : (text,) the share of tokens that stand for text the vocabulary does not know
    """

    inputs: dict[str, Any]
    tokens: list[list[Token]]
    real: list[list[bool]]
    special: bool
    unknown: list[float]


def encoded(tokenizer: Any, texts: Sequence[str]) -> Encoded:
    """Texts through a tokenizer: of transformers, of tokenizers, or anything with ``encode`` and ``decode``.

    Errors: ``InputError`` for an empty text, one with half a character, or a tokenizer of another kind.
    """
    for text in texts or [""]:
        if not isinstance(text, str) or not text:  # of a corpus, a line of spaces is read as it is
            raise _blank(text, "capture", "capture")
        _refuse_halves(text)
    if hasattr(tokenizer, "convert_ids_to_tokens"):
        return _transformers(tokenizer, texts)
    if hasattr(tokenizer, "encode_batch") and hasattr(tokenizer, "id_to_token"):
        return _tokenizers(tokenizer, texts)
    if hasattr(tokenizer, "encode") and hasattr(tokenizer, "decode"):
        return _plain(tokenizer, texts)
    raise InputError(
        en=f"tokenizer expects one of transformers or tokenizers, or an object with encode and decode, got "
        f"{type(tokenizer).__name__}.",
        ko=f"tokenizer에는 transformers나 tokenizers의 토크나이저, 또는 encode와 decode가 있는 객체가 필요한데 "
        f"{type(tokenizer).__name__}이(가) 왔습니다.",
    )


def refuse_blank(text: Any, called: str = "capture", called_ko: str = "capture") -> None:
    """Refuse what a person typed where there is nothing in it that could be read: no text, or spaces alone.

    called, called_ko : what the text is for, in the message
    """
    if not isinstance(text, str) or not text.strip():
        raise _blank(text, called, called_ko)


def _blank(text: Any, called: str, called_ko: str) -> InputError:
    spaces, spaces_ko = ("", "")
    if isinstance(text, str) and text:
        spaces, spaces_ko = " Spaces alone are nothing to attend to.", " 공백만으로는 참고할 것이 없습니다."
    return InputError(
        en=f"{called} expects a text that is not empty, got {text!r:.60}.{spaces}",
        ko=f"{called_ko}에는 비어 있지 않은 글이 필요한데 {text!r:.60}이(가) 왔습니다.{spaces_ko}",
    )


def _refuse_halves(text: str) -> None:
    """Half of a surrogate pair is no character: what was read was no UTF-8."""
    half = re.search("[\ud800-\udfff]", text)
    if half is not None:
        raise InputError(
            en=f"the text holds {half[0]!r} at character {half.start()}, which is no character but half of one. If it came from "
            f"a file or a command line, it was not written in UTF-8: convert it first, or take this character out.",
            ko=f"글의 {half.start()}번째 글자 {half[0]!r}은(는) 글자가 아니라 글자의 반쪽입니다. 파일이나 명령줄에서 왔다면 UTF-8로 쓴 것이 "
            f"아닙니다. 먼저 UTF-8로 바꾸거나 이 글자를 빼십시오.",
        )


def _transformers(tokenizer: Any, texts: Sequence[str]) -> Encoded:
    fast = bool(getattr(tokenizer, "is_fast", False))
    several, lent = len(texts) > 1, tokenizer.pad_token is None
    if several and lent:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    try:
        made = tokenizer(
            list(texts),
            return_tensors="pt",
            padding=several,
            return_offsets_mapping=fast,
            return_special_tokens_mask=True,
        )
    finally:
        if several and lent:
            tokenizer.pad_token = None
    offsets = made.pop("offset_mapping").tolist() if fast else None
    special = made.pop("special_tokens_mask").tolist()
    rows = made["input_ids"].tolist()
    real = made["attention_mask"].bool().tolist() if "attention_mask" in made else [[True] * len(row) for row in rows]
    tokens = [
        [
            Token(_text(piece), _span(offsets, i, j, bool(special[i][j])))
            for j, piece in enumerate(tokenizer.convert_ids_to_tokens(row))
        ]
        for i, row in enumerate(rows)
    ]
    unknown = getattr(tokenizer, "unk_token_id", None)
    shares = [_share([one == unknown for one in row], real[i], special[i]) for i, row in enumerate(rows)]
    return Encoded(dict(made), tokens, real, any(map(any, special)), shares)


def unreadable(tokens: Sequence[Token], sentence: str, unknown: float) -> dict[str, str] | None:
    """Why a model cannot read a text, "unknown" or "jamo", and as a sentence a language; None where it can.

    unknown : the share of tokens that its vocabulary does not know
    """
    jamo = any("\u1100" <= letter <= "\u11ff" for token in tokens for letter in token.text)
    hangul = any("가" <= letter <= "힣" for letter in unicodedata.normalize("NFC", sentence))
    why = "unknown" if unknown > 0 else "jamo" if jamo and hangul else None
    if why is None:
        return None
    said = dict(zip(LANGS, (text.format(share=percent(unknown)) for text in _UNREADABLE[why]), strict=True))
    return {"why": why, **said}


def _share(unknown: Sequence[bool], real: Sequence[bool], special: Sequence[Any]) -> float:
    """The share of unknown tokens among those that stand for text; [UNK] is marked as special by some tokenizers."""
    text = [
        is_unknown
        for is_unknown, there, mark in zip(unknown, real, special, strict=True)
        if there and (is_unknown or not mark)
    ]
    return sum(text) / len(text) if text else 0.0


def _tokenizers(tokenizer: Any, texts: Sequence[str]) -> Encoded:
    import torch

    before = tokenizer.padding
    if len(texts) > 1 and before is None:
        tokenizer.enable_padding()
    try:
        found = tokenizer.encode_batch(list(texts))
    finally:
        if before is None:
            tokenizer.no_padding()
    tokens = [
        [
            Token(_text(piece), None if special else tuple(span))
            for piece, span, special in zip(one.tokens, one.offsets, one.special_tokens_mask, strict=True)
        ]
        for one in found
    ]
    inputs = {"input_ids": torch.tensor([one.ids for one in found])}
    if len(texts) > 1:
        inputs["attention_mask"] = torch.tensor([one.attention_mask for one in found])
    real = [[bool(a) for a in one.attention_mask] for one in found]
    unknown = getattr(tokenizer.model, "unk_token", None)
    shares = [
        _share([piece == unknown for piece in one.tokens], one.attention_mask, one.special_tokens_mask) for one in found
    ]
    return Encoded(inputs, tokens, real, any(any(one.special_tokens_mask) for one in found), shares)


def _plain(tokenizer: Any, texts: Sequence[str]) -> Encoded:
    """Anything with encode and decode; the texts have to be of one length, since nobody knows its padding."""
    import torch

    rows = [list(tokenizer.encode(text)) for text in texts]
    if len({len(row) for row in rows}) != 1:
        raise InputError(
            en="texts of different lengths need a tokenizer that pads. Capture them one by one.",
            ko="길이가 다른 글을 한 번에 읽으려면 채우기(padding)를 하는 토크나이저가 필요합니다. 하나씩 읽으십시오.",
        )
    tokens = []
    for text, row in zip(texts, rows, strict=True):
        at, mine = 0, []
        for one in row:
            piece = str(tokenizer.decode([one]))
            place = text.find(piece, at) if piece else -1
            mine.append(Token(piece, (place, place + len(piece)) if place >= 0 else None))
            at = place + len(piece) if place >= 0 else at
        tokens.append(mine)
    return Encoded(
        {"input_ids": torch.tensor(rows)}, tokens, [[True] * len(row) for row in rows], False, [0.0] * len(rows)
    )


def _text(piece: Any) -> str:
    """A piece as text that can be kept: half of a surrogate pair is spelled out."""
    text = piece.decode("utf-8", "backslashreplace") if isinstance(piece, bytes) else str(piece)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _span(offsets: Any, i: int, j: int, special: bool) -> tuple[int, int] | None:
    return None if offsets is None or special else (int(offsets[i][j][0]), int(offsets[i][j][1]))


def tokens_of(tokenizer: Any, ids: Sequence[int]) -> list[Token]:
    """The pieces of numbers, without a place in a text."""
    if hasattr(tokenizer, "convert_ids_to_tokens"):
        return [Token(_text(piece)) for piece in tokenizer.convert_ids_to_tokens(list(ids))]
    if hasattr(tokenizer, "id_to_token"):
        return [Token(_text(tokenizer.id_to_token(one))) for one in ids]
    return [Token(_text(tokenizer.decode([one]))) for one in ids]


def word_of(tokenizer: Any) -> Callable[[int], str]:
    """How a token reads by its number; bytes that are no whole character are spelled out in hex."""

    def word(number: int) -> str:
        text = str(tokenizer.decode([number]))
        return text if text.strip() and "\ufffd" not in text else _spelled(tokens_of(tokenizer, [number])[0].text)

    return word


_OWN = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_BYTES = {chr(byte): byte for byte in _OWN} | {
    chr(0x100 + at): byte for at, byte in enumerate(byte for byte in range(256) if byte not in _OWN)
}  # the letters by which byte-level tokenizers write bytes


def _spelled(piece: str) -> str:
    if piece and all(letter in _BYTES for letter in piece):
        data = bytes(_BYTES[letter] for letter in piece)
        return data.decode("utf-8") if data.isascii() else data.hex(" ").upper()
    return piece.replace("▁", " ")
