"""What is known of a sequence before any head is looked at: its pieces, its marks, and what was annotated.

>>> from jumok.tokens import as_tokens
>>> known = marked(as_tokens(["[CLS]", "the", "cat", "the", "[SEP]"]))
>>> known.sink.tolist(), known.ids.tolist()
([True, False, False, False, True], [0, 1, 2, 1, 3])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ...labels import labels_of
from ...tokens import Token
from ..corpus.aligned import Aligned, aligned
from ..corpus.sentence import Sentence, Word

__all__ = ["Links", "Marked", "marked"]

Whole = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Links = tuple[Whole, Whole]  # units that read, units that are read; by the one that reads, in order

VERBAL = ("VERB", "AUX")
CORE = {"nsubj": ("subject-verb", "verb-subject"), "obj": ("object-verb", "verb-object")}


@dataclass(frozen=True, eq=False)
class Marked:
    """A sequence, as far as roles need to know it.

    ids : (token,) a number for each piece, the same for the same text
    special : (token,) True for marks of the tokenizer's own, which stand for no text
    sink : (token,) True for the first token and for marks: what is set apart before anything else is said
    units : (token,) the word that a piece belongs to, −1 for none; or None where no words are known
    links : role → which unit should read which, where that was annotated
    n_joined : words that share a unit with the word before them, because a piece covers both
    """

    ids: Whole
    special: Flags
    sink: Flags
    units: Whole | None = None
    links: dict[str, Links] = field(default_factory=dict)
    n_joined: int = 0

    @property
    def n_units(self) -> int:
        """How many words there are."""
        return 0 if self.units is None else int(self.units.max(initial=-1)) + 1

    def until(self, n: int) -> Marked:
        """The first n tokens alone."""
        if n == len(self.ids):
            return self
        return replace(self, ids=self.ids[:n], special=self.special[:n], sink=self.sink[:n])


def marked(tokens: Sequence[Token], sentence: Sentence | None = None) -> Marked:
    """What is known of a sequence from its tokens, and from what was annotated in its text.

    Errors: ``InputError`` where the words cannot be laid over the pieces.
    """
    numbers: dict[str, int] = {}
    ids = np.array([numbers.setdefault(token.text, len(numbers)) for token in tokens], dtype=np.int64)
    special = _special(tokens)
    sink = special.copy()
    sink[:1] = True
    if sentence is None or not sentence.words:
        return Marked(ids, special, sink)
    laid = aligned(sentence, tokens)
    return Marked(ids, special, sink, laid.pieces, _links(sentence, laid), len(laid.units) - laid.n_units)


def _special(tokens: Sequence[Token]) -> Flags:
    """Marks: no place in the text where the other tokens have one, or written like a mark."""
    if any(token.span is not None for token in tokens):
        return np.array([token.span is None or token.span[0] == token.span[1] for token in tokens], dtype=bool)
    return np.array([label.special for label in labels_of(tokens)], dtype=bool)


def _links(sentence: Sentence, laid: Aligned) -> dict[str, Links]:
    found: dict[str, set[tuple[int, int]]] = {}
    for role, reads, read in _annotated(sentence):
        pair = int(laid.units[reads]), int(laid.units[read])
        if pair[0] != pair[1]:
            found.setdefault(role, set()).add(pair)
    made = {role: np.array(sorted(pairs), dtype=np.int64).T for role, pairs in found.items()}
    return {role: (pairs[0], pairs[1]) for role, pairs in made.items()}


def _annotated(sentence: Sentence) -> Iterator[tuple[str, int, int]]:
    """(role, word that reads, word that is read)."""
    words = sentence.words
    for at, word in enumerate(words):
        if word.head is not None and word.head >= 0:
            for name in _names(word.relation):
                yield f"{name}:to-head", at, word.head
                yield f"{name}:to-dependent", word.head, at
            yield from _core(word, at, words[word.head])
    tagged = [(at, word.upos) for at, word in enumerate(words) if word.upos]
    yield from ((f"pos:{tag}", reads, at) for at, tag in tagged for reads in range(len(words)) if reads != at)
    yield from (("pronoun-antecedent", pronoun, at) for pronoun, heads in sentence.antecedents for at in heads)


def _names(relation: str) -> Iterable[str]:
    """``nsubj:pass`` counts as ``nsubj`` too."""
    whole = relation.partition(":")[0]
    return [name for name in dict.fromkeys((whole, relation)) if name]


def _core(word: Word, at: int, head: Word) -> Iterator[tuple[str, int, int]]:
    names = CORE.get(word.relation.partition(":")[0])
    if names is not None and head.upos in VERBAL and word.head is not None:
        yield names[0], at, word.head
        yield names[1], word.head, at
