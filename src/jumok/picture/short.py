"""A picture as a short text, for ``print``: the same numbers as tables, of a long text some of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..explanation.explanation import default_token
from ..layer_numbers import layer_numbers
from ..measurement.comparison import Comparison
from ..trace import Reading, Trace, layers_of
from ..words import LANGS, number
from . import changes, plain
from .captions import say
from .kinds import home
from .streamed import summary

if TYPE_CHECKING:
    from .drawing import Picture

__all__ = ["HEAD_COLUMNS", "head_rows", "short"]

MOST_PRINTED = 5_000  # numbers
MOST_ROWS, MOST_COLUMNS = 16, 24  # of a table that is shortened
MOST_CHANGES = 12  # heads and tokens of a comparison that is shortened

HEAD_COLUMNS = (
    ("layer", "head", "entropy (nats)", "on the first token", "on the one before"),
    ("층", "헤드", "엔트로피 (nat)", "첫 토큰에", "바로 앞 토큰에"),
)
SHORTENED = ("… shortened; .markdown() has all.", "… 줄여서 보여 줍니다. 전체는 .markdown()에 있습니다.")


def short(picture: Picture) -> str:
    """What is drawn as Markdown: whole where it is small, else its largest part, which it says."""
    if isinstance(picture.thing, Comparison):
        return _comparison(picture.thing, picture.lang)
    if picture.kind in ("curves", "growth"):
        return picture.markdown()
    if picture.kind == "roles":
        return f"{home(picture.kind).to_markdown(picture.thing, picture.lang, whole=False)}{SHORTENED[LANGS.index(picture.lang)]}\n"
    drawn = picture.drawn()
    stages, queries, head = picture.tables()
    layers = layers_of(drawn)
    if plain.n_numbers(layers, stages, queries, head) <= MOST_PRINTED:
        return picture.markdown()
    if picture.kind == "heads":
        told = _heads(drawn, picture.lang)
    else:
        near = _near(layers[0]) if queries is None else queries
        told = plain.to_markdown(drawn, stages, near, picture.lang, head, most=(MOST_ROWS, MOST_COLUMNS))
    return f"{told}{SHORTENED[LANGS.index(picture.lang)]}\n"


def _comparison(comparison: Comparison, lang: str) -> str:
    if len(comparison.heads) + len(comparison.tokens) <= MOST_PRINTED // 50:
        return changes.to_markdown(comparison, lang)
    return f"{changes.to_markdown(comparison, lang, MOST_CHANGES)}{SHORTENED[LANGS.index(lang)]}\n"


def _near(trace: Trace) -> list[int]:
    """The tokens around the one to look at first: their rows take little, however long the text is."""
    first = max(0, min(default_token(trace) - MOST_ROWS // 2, trace.n_queries - MOST_ROWS))
    return list(range(first, min(first + MOST_ROWS, trace.n_queries)))


def head_rows(thing: Trace | Reading) -> list[list[str]]:
    """Every head: the mean entropy of its rows, and their weight on the first token and on the one before."""
    rows = []
    for at, layer in zip(layer_numbers(thing), layers_of(thing), strict=True):
        found = summary(layer.steps, 1)
        numbers = zip(found.entropy, found.first, found.previous, strict=True)
        rows += [[str(at), str(head), *(number(float(a)) for a in three)] for head, three in enumerate(numbers)]
    return rows


def _heads(thing: Trace | Reading, lang: str) -> str:
    columns = HEAD_COLUMNS[LANGS.index(lang)]
    lines = [columns, ["---:"] * len(columns), *head_rows(thing)]
    return "\n".join([*(f"| {' | '.join(cells)} |" for cells in lines), "", say("rounded", lang), ""])
