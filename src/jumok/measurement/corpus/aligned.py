"""Words over a tokenizer's pieces: which pieces make up which word, by their places in the text.

>>> from jumok import Token
>>> from jumok.measurement.corpus.sentence import Sentence, Word
>>> cats = Sentence("old cats", (Word("old", span=(0, 3)), Word("cats", span=(4, 8))))
>>> pieces = [Token("[CLS]"), Token("old", (0, 3)), Token("cat", (4, 7)), Token("##s", (7, 8))]
>>> aligned(cats, pieces).pieces.tolist()
[-1, 0, 1, 1]
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ...tokens import Token
from ...words import name_shown, shown, with_particle
from .sentence import Sentence, cited

__all__ = ["Aligned", "aligned"]

Whole = npt.NDArray[np.int64]
MOST_SHOWN = 200  # characters of a sentence in a message


@dataclass(frozen=True, eq=False)
class Aligned:
    """Units: words, or several that share a piece and cannot be told apart.

    pieces : (token,) the unit that a piece belongs to; −1 for a mark of the tokenizer's own
    units : (word,) the unit that a word belongs to
    """

    pieces: Whole
    units: Whole

    @property
    def n_units(self) -> int:
        """How many units there are."""
        return int(self.units.max(initial=-1)) + 1


def aligned(sentence: Sentence, tokens: Sequence[Token]) -> Aligned:
    """The words of a sentence over the pieces of its text.

    Words that share a piece (수준 + 이지만 in one piece, ``do`` + ``n't`` as ``don`` ``'`` ``t``), or a surface form
    (``du`` = de + le), become one unit; what relates them to each other cannot be measured.

    Errors: ``InputError`` with the sentence where a word has no piece, or a piece spans a space between two words.
    """
    spans = [_trimmed(sentence.text, token.span) for token in tokens]
    touched = [_words_under(sentence, span) for span in spans]
    for token, words in zip(tokens, touched, strict=True):
        _refuse_across_space(sentence, token, words)
    units = _joined(len(sentence.words), touched, sentence)
    seen = {word for words in touched for word in words}
    for at, word in enumerate(sentence.words):
        if at not in seen:
            raise _refusal(
                sentence,
                f"the word {cited(word.form)} has no piece of its own in what the tokenizer gave",
                f"토크나이저가 준 조각 가운데 단어 {cited(word.form)}에 해당하는 것이 없습니다",
            )
    pieces = [int(units[words[0]]) if words else -1 for words in touched]
    return Aligned(np.array(pieces, dtype=np.int64), units)


def _trimmed(text: str, span: tuple[int, int] | None) -> tuple[int, int]:
    """A piece's span without white space at its ends, which byte-level pieces hold."""
    if span is None:
        return 0, 0
    start, end = span
    while start < end and text[start : start + 1].isspace():
        start += 1
    while start < end and text[end - 1 : end].isspace():
        end -= 1
    return start, end


def _words_under(sentence: Sentence, span: tuple[int, int]) -> list[int]:
    start, end = span
    return [at for at, word in enumerate(sentence.words) if max(start, word.span[0]) < min(end, word.span[1])]


def _refuse_across_space(sentence: Sentence, token: Token, words: list[int]) -> None:
    for one, other in itertools.pairwise(words):
        between = sentence.text[sentence.words[one].span[1] : sentence.words[other].span[0]]
        if between.strip() != between:
            raise _refusal(
                sentence,
                f"the piece {cited(token.text)} spans two words that stand apart",
                f"조각 {with_particle(cited(token.text), '이/가')} 떨어져 있는 두 단어에 걸쳐 있습니다",
            )


def _joined(n: int, touched: Sequence[Sequence[int]], sentence: Sentence) -> Whole:
    """(word,) units counted from 0: neighbours are one where a piece, or a span, covers both."""
    follows = np.zeros(n, dtype=bool)  # True where a word is of one unit with the word before it
    for words in touched:
        for at in words[1:]:
            follows[at] = True
    for at in range(1, n):
        follows[at] |= sentence.words[at].span[0] < sentence.words[at - 1].span[1]
    units: Whole = np.cumsum(~follows) - 1
    return units


def _refusal(sentence: Sentence, en: str, ko: str) -> InputError:
    text = shown(sentence.text)
    text = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
    where = name_shown(sentence.name or f"line {sentence.line}")
    return InputError(
        en=f"the words of sentence {where} cannot be laid over the tokenizer's pieces: {en}. The sentence: {text}",
        ko=f"문장 {where}의 단어를 토크나이저의 조각에 맞출 수 없습니다. {ko}. 문장: {text}",
    )
