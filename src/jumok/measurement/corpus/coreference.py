"""Who a pronoun stands for, as CorefUD writes it: brackets around mentions, ``Entity=(e1-person-1`` … ``e1)``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .sentence import Word

__all__ = ["Mentions"]

_MARK = re.compile(r"\(([^()]*)\)|\(([^()]*)|([^()]+)\)")
Mention = tuple[str, int, int]  # entity, first word, last word


class Mentions:
    """Reads brackets sentence by sentence; how they are written is said once, at the head of a file."""

    def __init__(self) -> None:
        self._place: int | None = None  # of the entity's name among a bracket's parts

    def told(self, comments: Mapping[str, str]) -> None:
        """Take note of ``# global.Entity = eid-etype-head-other``."""
        if "global.Entity" in comments:
            parts = comments["global.Entity"].split("-")
            self._place = next((at for at, part in enumerate(parts) if part in ("eid", "GRP")), None)

    def antecedents(self, words: Sequence[Word], marks: Sequence[str]) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """(pronoun, heads of earlier mentions of the same entity in this sentence), where there are some."""
        if self._place is None or not any(marks):
            return ()
        mentions = self._mentions(marks)
        found: dict[int, tuple[int, ...]] = {}
        for entity, first, last in mentions:
            if first == last and words[first].upos == "PRON":
                earlier = [(a, b) for name, a, b in mentions if name == entity and b < first]
                found[first] = tuple(sorted({head_of(words, a, b) for a, b in earlier}))
        return tuple((at, heads) for at, heads in sorted(found.items()) if heads)

    def _mentions(self, marks: Sequence[str]) -> list[Mention]:
        """Whole mentions; a bracket that has no partner here, or is one part of several (``e1[1/2]``), is left out."""
        opened: dict[str, list[int]] = {}
        made: list[Mention] = []
        for at, mark in enumerate(marks):
            for whole, begins, ends in _MARK.findall(mark):
                if whole:
                    made.append((self._entity(whole), at, at))
                elif begins:
                    opened.setdefault(self._entity(begins), []).append(at)
                elif opened.get(ends):
                    made.append((ends, opened[ends].pop(), at))
        return made

    def _entity(self, bracket: str) -> str:
        parts = bracket.split("-")
        return parts[min(self._place or 0, len(parts) - 1)]


def head_of(words: Sequence[Word], first: int, last: int) -> int:
    """The word of a span that depends on one outside it; the last one where none does.

    >>> cat = [Word("the", head=1), Word("cat", head=2), Word("sat", head=-1)]
    >>> head_of(cat, 0, 1)
    1
    """
    heads = {at: words[at].head for at in range(first, last + 1)}
    outside = [at for at, head in heads.items() if head is not None and not first <= head <= last]
    return outside[0] if outside else last
