"""One sentence as it was annotated: words with their place in the text, and who depends on whom."""

from __future__ import annotations

from dataclasses import dataclass

from ...words import shown

__all__ = ["Sentence", "Word", "cited"]


@dataclass(frozen=True, slots=True)
class Word:
    """One syntactic word.

    form : as written;  upos : its universal part of speech, or ""
    head : the place of the word that it depends on, from 0; −1 for the root, None where nothing is said
    relation : how, ``nsubj``, ``obl:tmod`` …, or ""
    span : (start, end) characters in the sentence's text; the words of one surface form (``du`` = de + le) share it
    """

    form: str
    upos: str = ""
    head: int | None = None
    relation: str = ""
    span: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text, and what was annotated in it.

    name : its ``sent_id``, or its line;  line : where it begins in its file, from 1
    antecedents : for a pronoun's place, the places of the heads of earlier mentions of what it stands for
    """

    text: str
    words: tuple[Word, ...] = ()
    name: str = ""
    line: int = 1
    antecedents: tuple[tuple[int, tuple[int, ...]], ...] = ()


def cited(text: str) -> str:
    """A part of a text in a message: as it can be seen, in quotes.

    >>> print(cited("don't"), cited(""))
    'don't' ''
    """
    return f"'{shown(text)}'" if text else "''"
