"""How roles are told apart on a map of heads: a colour for each family of roles, and a short mark, for colour is never alone.

>>> mark("previous"), mark("offset:+3"), mark("nsubj:to-head"), mark("compound:to-dependent"), mark("pos:NOUN")
('-1', '+3', '↑nsubj', '↓compo', 'NOUN')
>>> mark("broad"), mark("broad", "ko")
('broad', '고르게')
"""

from __future__ import annotations

from dataclasses import dataclass

from ..words import LANGS
from .colours import Rgb
from .theme import ink_on

__all__ = ["FAMILIES", "Family", "family_of", "mark"]

LONGEST = 5  # letters of a relation's name


@dataclass(frozen=True)
class Family:
    """Roles that are alike. titles : (en, ko);  colour : of its cells, the same on light and on dark paper"""

    name: str
    titles: tuple[str, str]
    colour: Rgb

    @property
    def ink(self) -> Rgb:
        """The colour of letters on it."""
        return ink_on(self.colour)


# Okabe and Ito 2008, "Color Universal Design": eight colours that every eye tells apart.
FAMILIES = (
    Family("place", ("a place", "자리"), (86, 180, 233)),
    Family("spread", ("near, or broad", "가까이, 또는 고르게"), (0, 158, 115)),
    Family("sink", ("the sink, and marks", "어텐션 싱크와 표시"), (230, 159, 0)),
    Family("token", ("the same token, induction", "같은 토큰, 귀납"), (213, 94, 0)),
    Family("core", ("subject, object, pronoun", "주어, 목적어, 대명사"), (0, 114, 178)),
    Family("relation", ("another relation", "그 밖의 관계"), (204, 121, 167)),
    Family("tag", ("a part of speech", "품사"), (240, 228, 66)),
)
# name → family, and the mark: one for both languages, or (en, ko)
_MARKS: dict[str, tuple[str, ...]] = {
    "previous": ("place", "-1"),
    "next": ("place", "+1"),
    "self": ("place", "0"),
    "positional": ("place", "±k"),
    "near": ("spread", "near", "가까이"),
    "broad": ("spread", "broad", "고르게"),
    "first": ("sink", "1st", "첫"),
    "separator": ("sink", "[S]"),
    "same-token": ("token", "same", "같은"),
    "induction": ("token", "ind", "귀납"),
    "subject-verb": ("core", "S→V", "주→동"),
    "verb-subject": ("core", "V→S", "동→주"),
    "object-verb": ("core", "O→V", "목→동"),
    "verb-object": ("core", "V→O", "동→목"),
    "pronoun-antecedent": ("core", "pro", "대명사"),
}
_ARROWS = {"to-head": "↑", "to-dependent": "↓"}


def mark(role: str, lang: str = "en") -> str:
    """The few letters that stand for a role in a cell. Names of relations and of parts of speech are those of the corpus."""
    _, *marks = _placed(role)
    return marks[LANGS.index(lang) % len(marks)]


def family_of(role: str) -> Family:
    """The family of a role."""
    name = _placed(role)[0]
    return next(one for one in FAMILIES if one.name == name)


def _placed(role: str) -> tuple[str, ...]:
    if role in _MARKS:
        return _MARKS[role]
    kind, _, rest = role.partition(":")
    if kind == "offset":
        return "place", rest
    if kind == "pos":
        return "tag", rest[: LONGEST + 1]
    relation, _, way = role.rpartition(":")
    return "relation", f"{_ARROWS[way]}{relation[:LONGEST]}"
