"""What changes without meaning anything: by rounding (the same q and k through float32 and through float64), and by edits
of a text that should not matter.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..door import tiles
from ..errors import OverflowRefused
from ..path import Steps
from ..trace import Trace
from .row_distances import row_distances, shared_out

if TYPE_CHECKING:
    from .comparison import Comparison

__all__ = ["HeadShift", "NeutralEdit", "NoiseFloor", "neutral_edits", "noise_floor", "shifts"]

N_ROWS = 64
MOST_ALIKE = 3  # words for others; each edit runs the model once


@dataclass(frozen=True)
class NoiseFloor:
    """How much rounding alone can change: the same q and k, through float32 and through float64.

    weight : the largest difference of one weight;  distance : the largest mean distance of one head
    n_rows : queries looked at in each text, spread over it

    It says what two runs of a program in float32 may differ by without meaning anything. It knows nothing of
    what q and k lost before they came into the record (a model in half precision, storage as whole numbers).
    """

    weight: float
    distance: float
    n_rows: int


def noise_floor(layers: Sequence[tuple[Trace, list[int]]], queries: list[int]) -> NoiseFloor | None:
    """The noise floor of a record, or None where its numbers do not fit float32.

    layers : each with the keys to look at;  queries : to choose some from
    """
    some = [queries[at] for at in np.unique(np.linspace(0, len(queries) - 1, min(len(queries), N_ROWS)).astype(int))]
    weight = far = 0.0
    for trace, keys in layers:
        found = [np.zeros((trace.n_heads, 0))]
        for rows in tiles(len(some), trace.n_heads * trace.n_keys * 8):
            narrow, wide = (_weights(trace, [some[at] for at in rows], kind) for kind in (np.float32, np.float64))
            if narrow is None or wide is None:
                return None
            weight = max(weight, float(np.abs(narrow - wide).max()))
            (p, p_mass, _), (q, q_mass, _) = shared_out(narrow, keys), shared_out(wide, keys)
            found.append(row_distances(p, p_mass, q, q_mass))
        far = max([far, *_means(np.concatenate(found, axis=1))])
    return NoiseFloor(weight, far, len(some))


def _means(distances: npt.NDArray[np.float64]) -> list[float]:
    """Of each head that has a row to compare."""
    told = [head[~np.isnan(head)] for head in distances]
    return [float(head.mean()) for head in told if head.size]


def _weights(trace: Trace, queries: list[int], kind: type[np.floating[Any]]) -> npt.NDArray[Any] | None:
    with np.errstate(over="ignore"):  # what becomes infinite is seen at once
        q, k, v = (array.astype(kind) for array in (trace.q, trace.k, trace.v))
    if not (np.isfinite(q).all() and np.isfinite(k).all()):
        return None
    try:
        weights: npt.NDArray[Any] = Steps(q, k, v, trace.rule).part(None, queries).weights
    except OverflowRefused:
        return None
    return weights


# edits that should not matter ---------------------------------------------------------------------


@dataclass(frozen=True)
class HeadShift:
    """How far one head moved between two texts, beside how far neutral edits of the first move it.

    distance : Jensen–Shannon, of one token's row or the mean over the rows;  floor : the largest of the neutral edits
    """

    layer: int
    head: int
    distance: float
    floor: float


def shifts(found: Comparison, neutral: Sequence[Comparison], token: int | None = None) -> tuple[HeadShift, ...]:
    """One ``HeadShift`` a head, those first that stand furthest above the floor.

    neutral : the first text beside edits of it that should not matter;  token : its position in the first text, or None
    for all rows that can be compared
    """
    floors = [_distances(one, token) for one in neutral]
    made = [
        HeadShift(layer, head, far, max([0.0, *(floor.get((layer, head), 0.0) for floor in floors)]))
        for (layer, head), far in _distances(found, token).items()
    ]
    return tuple(sorted(made, key=lambda one: one.floor - one.distance))


def _distances(found: Comparison, token: int | None) -> dict[tuple[int, int], float]:
    if token is None:
        return {(one.layer, one.head): one.distance for one in found.heads if one.distance is not None}
    row = next((at for at, (i, _) in enumerate(found.pairs) if i == token), None)
    if row is None:
        return {}
    made = {(one.layer, one.head): float(found.distances(one.layer, one.head)[row]) for one in found.heads}
    return {name: far for name, far in made.items() if not np.isnan(far)}


@dataclass(frozen=True)
class NeutralEdit:
    """A text, edited so that nothing should change by it.

    kind : "stop", "capital", "spaces", "comma", "opening", "polite", "alike", or "own" where a person gave it
    """

    kind: str
    text: str


def neutral_edits(text: str, keep: str = "") -> tuple[NeutralEdit, ...]:
    """Edits of a text that should not matter much, English or Korean; of each kind those that fit it.

    keep : a word that stays as it is

    The last full stop; the case of the first letter; two spaces for one; a comma before a conjunction; a word before all that
    says nothing; polite endings of Korean sentences; words for others of the same sense. What takes the place of the first
    token (quotation marks, an empty line) is no such edit: in many models it moves the attention sink, and every head with it.

    >>> [edit.text for edit in neutral_edits("It slept because it was big.", "it")][-2:]
    ['It slept since it was big.', 'It slept because it was large.']
    """
    alike = [_swapped(text, word, other) for word, other in _ALIKE if word != keep.lower()]
    made = [
        NeutralEdit("stop", text.rstrip(".") if text.endswith(".") else f"{text}."),
        NeutralEdit("capital", _recapitalised(text)),
        NeutralEdit("spaces", text.replace(" ", "  ", 1)),
        NeutralEdit("comma", re.sub(r"(?<=\w) (?=(because|since|but|so)\b)", ", ", text, count=1)),
        NeutralEdit("opening", f"음, {text}" if _HANGUL.search(text) else f"Well, {_lowered(text)}"),
        NeutralEdit("polite", _polite(text)),
        *(NeutralEdit("alike", one) for one in [one for one in dict.fromkeys(alike) if one != text][:MOST_ALIKE]),
    ]
    return tuple({edit.text: edit for edit in reversed(made) if edit.text != text}.values())[::-1]


_ALIKE = (
    ("because", "since"), ("did not", "didn't"), ("didn't", "did not"), ("was not", "wasn't"), ("wasn't", "was not"),
    ("is not", "isn't"), ("isn't", "is not"), ("does not", "doesn't"), ("doesn't", "does not"), ("big", "large"),
    ("large", "big"), ("small", "little"), ("very", "really"), ("the", "a"), ("a", "the"),
    ("왜냐하면", "그 까닭은"), ("매우", "아주"), ("아주", "매우"), ("그래서", "그러므로"), ("그러나", "하지만"), ("하지만", "그러나"),
)  # fmt: skip
_HANGUL = re.compile("[가-힣]")
_SMALL = ("the", "a", "an", "it", "he", "she", "we", "they", "you", "this", "that", "there", "my", "his", "her", "their", "our")  # fmt: skip


def _recapitalised(text: str) -> str:
    """With a capital at the beginning, or without it where that is no name."""
    return _lowered(text) if text[:1].isupper() else text[:1].upper() + text[1:]


def _lowered(text: str) -> str:
    first = text.split(" ", 1)[0]
    return text[:1].lower() + text[1:] if first.lower() in _SMALL else text


def _polite(text: str) -> str:
    """A Korean sentence in -다 as one in -습니다, or the other way where that is certain."""
    said = re.fullmatch(r"(.*[가-힣] )([가-힣]+)다(\.?)", text, re.DOTALL)
    if said is None:
        return text
    before, stem, stop = said.groups()
    if stem.endswith("니") and stem != "아니":  # only the past, -있- and -없-, whose stem is not in doubt
        plain = stem.removesuffix("습니")
        return f"{before}{plain}다{stop}" if plain != stem and _final(plain) in (_SS, _BS) else text
    if stem.endswith("는") and _final(stem[:-1]):
        return f"{before}{stem[:-1]}습니다{stop}"
    final = _final(stem)
    if final in (_N, _L) or stem[-1] in _OPEN_STEMS:
        return f"{before}{stem[:-1]}{chr(ord(stem[-1]) - final + _B)}니다{stop}"
    return f"{before}{stem}습니다{stop}" if final else text


def _final(word: str) -> int:
    """The number of the final consonant in the code of the last syllable; 0 for none."""
    return (ord(word[-1]) - ord("가")) % 28 if word else 0


_N, _L, _B, _BS, _SS = 4, 8, 17, 18, 20  # final consonants in a syllable's code
_OPEN_STEMS = "이하크쁘프니"  # of 이다, 하다, 크다, 예쁘다, 슬프다, 아니다; other open syllables may be nouns (바다)


def _swapped(text: str, word: str, other: str) -> str:
    """The text with the first such word as the other."""

    def put(found: re.Match[str]) -> str:
        return other.capitalize() if found[0][:1].isupper() else other

    return re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", put, text, count=1, flags=re.IGNORECASE)
