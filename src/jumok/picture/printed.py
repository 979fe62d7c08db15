"""A picture as a terminal shows it: the same numbers as tables."""

from __future__ import annotations

from collections.abc import Sequence

from ..measurement.comparison import Comparison
from ..trace import Reading, Trace, layers_of
from ..words import LANGS
from .captions import say
from .changes import HEAD_COLUMNS, TOKEN_COLUMNS, head_rows, token_rows
from .drawing import Picture
from .grids import grids_of, pared
from .kinds import HOMES, home
from .learned import Run
from .learning import learned
from .plain import heading
from .short import HEAD_COLUMNS as COLUMNS_OF_HEADS
from .short import head_rows as rows_of_heads
from .terminal import WHOLE_COLUMNS, WHOLE_ROWS, Screen

__all__ = ["compared", "printed"]

MOST_ROWS = 12
TITLES = {
    "heads": ("Every head: mean entropy and weights of its rows", "헤드마다 행의 평균 엔트로피와 가중치"),
    "changed_heads": ("Heads, the most changed first", "많이 달라진 헤드부터"),
    "changed_tokens": ("Tokens, the most changed first", "많이 달라진 토큰부터"),
    "more": ("… {n} more; -o FILE.md has all", "… {n}개 더 있음. 모두 보려면 -o FILE.md"),
}


def printed(screen: Screen, picture: Picture) -> None:
    """What is drawn, on a screen."""
    if isinstance(picture.thing, Comparison):
        compared(screen, picture.thing)
        return
    if isinstance(picture.thing, Run):
        learned(screen, picture.thing.history, picture.thing.emerged, picture.thing.given)
        return
    if picture.kind in HOMES:
        home(picture.kind).printed(screen, picture.thing)
        return
    screen.say(picture.title, "bold")
    if picture.kind == "heads":
        _heads(screen, picture.thing)
        return
    layers = layers_of(picture.thing)
    trace, choice = layers[picture.choice.layer], picture.choice
    if picture.kind == "strip":
        screen.attended(trace, choice.query)
        return
    for grid in grids_of(trace, choice.stage, None if choice.query is None else [choice.query]):
        if grid.head in (None, choice.head):
            screen.title(heading(trace, grid, screen.lang))
            screen.grid(pared(grid, WHOLE_ROWS, WHOLE_COLUMNS), choice.query)
    screen.say()
    screen.say(say("rounded", screen.lang), "dim")


def _heads(screen: Screen, thing: Trace | Reading) -> None:
    at = LANGS.index(screen.lang)
    screen.title(TITLES["heads"][at])
    screen.listed(rows_of_heads(thing), COLUMNS_OF_HEADS[at], "right")
    screen.say()
    screen.say(say("rounded", screen.lang), "dim")


def compared(screen: Screen, comparison: Comparison) -> None:
    """What changed, in sentences, and the heads and tokens that changed most."""
    at = LANGS.index(screen.lang)
    screen.say(comparison.text(screen.lang))
    _table(screen, "changed_heads", HEAD_COLUMNS[at], head_rows(comparison, MOST_ROWS), len(comparison.heads))
    _table(screen, "changed_tokens", TOKEN_COLUMNS[at], token_rows(comparison, MOST_ROWS), len(comparison.tokens))
    screen.say()
    screen.say(screen.word("rounded"), "dim")


def _table(screen: Screen, name: str, columns: Sequence[str], rows: Sequence[Sequence[str]], n: int) -> None:
    if not rows:
        return
    at = LANGS.index(screen.lang)
    screen.title(TITLES[name][at])
    screen.listed(rows, columns)
    if n > len(rows):
        screen.say(TITLES["more"][at].format(n=n - len(rows)), "dim")
