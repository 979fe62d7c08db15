"""A training run on the terminal: its curves on a line each, one row before and after as bars, what emerged."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any

import numpy as np
from rich.cells import cell_len
from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from ..explanation.emerged import LAST, forms, outcome, place, row
from ..explanation.facts import names_of
from ..history import History
from ..tokens import token_name
from ..trace import Floats, Reading, Trace, layers_of
from ..words import LANGS, number, percent, shown
from .curves import TINY, WIDE
from .grids import Grid
from .terminal import Screen

__all__ = ["LearnBar", "arrows_said", "binned", "learned", "listed", "over_steps", "sparkline"]

LEVELS, PLAIN_LEVELS = "▁▂▃▄▅▆▇█", "0123456789"
MOST_KEYS = 8  # of a row shown as bars
POINTER = "◀"
BAR = 24  # cells of the longest bar
SPARK = 40  # cells of a curve

WORDS = {
    "loss": ("loss", "손실"),
    "log_loss": ("loss (log scale)", "손실 (로그)"),
    "accuracy": ("held-out accuracy", "뺀 것의 정확도"),
    "near": ("nearness", "가까움"),
    "reads": ("weight on the right token", "맞는 토큰의 가중치"),
    "steps": ("steps", "단계"),
    "before": ("step {n}", "{n}단계"),
    "rest": ("the other {n}", "나머지 {n}개"),
    "heads": ("Each head: what it reads, and what is left without it", "헤드마다: 읽는 것, 끊으면 남는 것"),
    "head": ("layer.head", "층.헤드"),
    "on_reads": ("weight on what the answer depends on", "답을 정하는 토큰의 가중치"),
    "without": ("accuracy without it", "끊었을 때 정확도"),
    "found": ("W_Q · W_Kᵀ, found", "W_Q · W_Kᵀ, 찾은 것"),
    "given": ("W_Q · W_Kᵀ, written by a person", "W_Q · W_Kᵀ, 사람이 쓴 것"),
    "answer": ("{mark} what the answer depends on", "{mark} 답을 정하는 토큰"),
    "name": ("task", "과제"),
    "about": ("what is to be learned", "무엇을 배우는가"),
    "own": ("a task of your own: lines of input<TAB>target", "직접 만든 과제: 입력<탭>답을 한 줄에 하나씩"),
    "example": ("an example file with wanted: rows", "wanted: 행이 있는 예제 파일"),
    "live": (
        "step {step:,} of {steps:,} · loss {loss} · held-out accuracy {accuracy}",
        "{steps:,}단계 가운데 {step:,} · 손실 {loss} · 뺀 것의 정확도 {accuracy}",
    ),
    "live_row": ("{token} → {row}", "{token} → {row}"),
    "live_place": (" (layer {layer}, head {head})", " ({layer}층 {head}번 헤드)"),
}  # fmt: skip


def _word(name: str, lang: str, /, **data: Any) -> str:
    return WORDS[name][LANGS.index(lang)].format(**data)


# curves on one line -------------------------------------------------------------------------------


def binned(curve: Floats, n: int) -> Floats:
    """(at most n,) the means of neighbouring steps; of steps that were not measured, those that were."""
    parts = np.array_split(np.asarray(curve, float), min(n, len(curve)))
    return np.array([float(np.mean(kept)) if len(kept := part[~np.isnan(part)]) else np.nan for part in parts])


def over_steps(history: History, curve: Floats, n: int) -> Floats:
    """(n,) a curve of snapshots, evenly over the steps: at each place the last snapshot not after it."""
    places = np.linspace(0, history.steps[-1], n).astype(int)
    return np.asarray(curve, float)[[history.snapshot(int(step)) for step in places]]


def sparkline(curve: Floats, low: float, high: float, levels: str = LEVELS) -> str:
    """A curve as a row of small bars; a blank where it was not measured.

    >>> import numpy as np
    >>> sparkline(np.array([0.0, 0.5, 1.0]), 0, 1)
    '▁▅█'
    """
    share = np.clip((np.asarray(curve, float) - low) / ((high - low) or 1), 0, 1)
    return "".join(" " if np.isnan(a) else levels[min(len(levels) - 1, int(a * len(levels)))] for a in share)


@dataclass(frozen=True)
class _Line:
    """A curve on one line: its name, its bars from ``low`` to ``high``, and what it was first and last."""

    name: str
    curve: Floats
    low: float
    high: float
    ends: tuple[str, str]


def _curves(screen: Screen, history: History, emerged: Mapping[str, Any] | None) -> None:
    """Loss, accuracy, and the weight of the head worth looking at on what the answer depends on."""
    levels = LEVELS if screen.unicode else PLAIN_LEVELS
    lines = list(_lines(history, emerged, max(8, min(SPARK, screen.console.width - 46)), screen.lang))
    width = max([0, *(cell_len(line.name) for line in lines)])
    for line in lines:
        bars = sparkline(line.curve, line.low, line.high, levels)
        first, last = line.ends
        screen.say(f"{_cells(line.name, width + 2)}{bars}  {first} → {last}", before="  ")
    if lines:
        end = f"{max(history.steps[-1], len(history.loss)):,}"
        steps = f"0{end.rjust(max(len(line.curve) for line in lines) - 1)}  {_word('steps', screen.lang)}"
        screen.say(" " * (width + 2) + steps, "dim", before="  ")


def _lines(history: History, emerged: Mapping[str, Any] | None, room: int, lang: str) -> Iterator[_Line]:
    if len(history.loss):
        means = np.maximum(binned(history.loss, room), TINY)
        is_wide = bool(means.max() > WIDE * means.min())
        curve = np.log(means) if is_wide else means
        ends = number(float(history.loss[0])), number(float(np.mean(history.loss[-LAST:])))
        low = float(curve.min()) if is_wide else 0.0
        yield _Line(_word("log_loss" if is_wide else "loss", lang), curve, low, float(curve.max()), ends)
    shares: list[tuple[str, Floats]] = []
    if not np.isnan(history.accuracy).all():
        shares.append(("near" if "wanted" in history.task else "accuracy", history.accuracy))
    if "answer" in history.roles:
        layer, head = place(history, emerged)
        shares.append(("reads", history.roles["answer"][:, layer, head]))
    for name, curve in shares if history.steps[-1] else ():
        known = curve[~np.isnan(curve)]
        ends = percent(float(known[0])), percent(float(known[-1]))
        yield _Line(_word(name, lang), over_steps(history, curve, room), 0.0, 1.0, ends)


# one row, before and after ------------------------------------------------------------------------


def _bars(screen: Screen, history: History, emerged: Mapping[str, Any] | None) -> None:
    """The probe's row at the first and the last snapshot, key by key."""
    told, (layer, head) = history.probes[0], place(history, emerged)
    first, last = row(history, layer, head, step=history.steps[0]), row(history, layer, head)
    kept = sorted({*np.argsort(-np.maximum(first, last), kind="stable")[:MOST_KEYS].tolist(), *told.reads})
    names = [screen.fits(shown(token_name(told.tokens, key))) for key in kept]
    cells = [(names[at], float(first[key]), float(last[key]), key in told.reads) for at, key in enumerate(kept)]
    if (left := len(first) - len(kept)) > 0:
        rest = np.setdiff1d(np.arange(len(first)), kept)
        cells.append((_word("rest", screen.lang, n=left), float(first[rest].sum()), float(last[rest].sum()), False))
    steps = [_word("before", screen.lang, n=f"{step:,}") for step in (history.steps[0], history.steps[-1])]
    width = min(20, max(cell_len(name) for name, *_ in cells), max(4, screen.console.width - 26))
    room = max(0, min(BAR, (screen.console.width - width - 24) // 2))  # beside names, percents and the pointer
    head_line = " " * (width + 2) + _cells(steps[0], room + 8) + steps[1]
    screen.console.print(Text("  " + screen.fits(head_line), style="dim"), soft_wrap=True)
    for name, before, after, is_read in cells:
        bars = _cells(_bar(screen, before, room), room + 8) + _bar(screen, after, room)
        mark = "  " + POINTER if is_read else ""
        line = f"  {_cells(name, width + 2)}{bars}{mark}".rstrip()
        screen.console.print(Text(screen.fits(line), style="bold" if is_read else ""), soft_wrap=True)
    if told.reads:
        screen.say(_word("answer", screen.lang, mark=POINTER), "dim", before="  ")


def _bar(screen: Screen, weight: float, room: int) -> str:
    block = "█" if screen.unicode else "#"
    return f"{percent(weight):>6} {block * round(weight * room)}"


def _cells(text: str, width: int) -> str:
    """A text in exactly so many cells of the terminal."""
    while cell_len(text) > width - 1:
        text = text[:-1]
    return text + " " * (width - cell_len(text))


# the end of a run ---------------------------------------------------------------------------------


def learned(
    screen: Screen, history: History, emerged: Mapping[str, Any] | None = None, given: Trace | None = None
) -> None:
    """What came of a run: curves, the row before and after, what emerged, and where a person wrote weights, both beside
    each other.

    emerged, given : as of ``explanation.emerged.outcome``
    """
    shows: dict[str, Callable[[], None]] = {
        "training": lambda: _curves(screen, history, emerged),
        "row": lambda: _bars(screen, history, emerged),
        "emerged": lambda: _heads(screen, emerged),
        "form": lambda: _forms(screen, history, given),
    }
    for section in outcome(history, emerged, screen.lang, given).sections():
        if section.name == "task":
            screen.say(section.title, "bold")
        else:
            screen.title(section.title)
        screen.entries(section.lines)
        if section.name in shows:
            screen.say()
            shows[section.name]()
    screen.say()
    screen.say(screen.word("rounded"), "dim")


def _heads(screen: Screen, emerged: Mapping[str, Any] | None) -> None:
    """Each head: its weight on what the answer depends on, and the accuracy without it."""
    assert emerged is not None
    reads, lang = emerged["reads"], screen.lang
    header = [_word("head", lang), *([] if reads is None else [_word("on_reads", lang)]), _word("without", lang)]
    rows = [
        [f"{layer}.{head}", *([] if reads is None else [percent(reads[layer][head])]), percent(left)]
        for layer, of in enumerate(emerged["without"])
        for head, left in enumerate(of)
    ]
    screen.say(_word("heads", lang), "bold")
    screen.listed(rows, header, "right")


def _forms(screen: Screen, history: History, given: Trace | None) -> None:
    assert given is not None
    found, written = forms(history, given)
    names: list[str | int] = [*(names_of(given, "x") or range(len(found)))]
    for name, form in (("found", found), ("given", written)):
        screen.say(_word(name, screen.lang), "bold")
        screen.grid(Grid("form", names, names, form))


def listed(screen: Screen, tasks: Sequence[tuple[str, Mapping[str, str]]]) -> None:
    """The tasks by name, each with what it is about, and how to make one of one's own."""
    rows = [[name, title[screen.lang]] for name, title in tasks]
    rows += [["my.tsv", _word("own", screen.lang)], ["my.yaml", _word("example", screen.lang)]]
    screen.listed(rows, [_word("name", screen.lang), _word("about", screen.lang)])


# while it runs ------------------------------------------------------------------------------------


def arrows_of(reading: Trace | Reading, query: int | None, n: int = 3) -> tuple[str, list[tuple[str, float]], int]:
    """Of the last layer's head with the strongest arrow from a token: the token, its strongest keys, and the head."""
    trace = layers_of(reading)[-1]
    at = trace.n_queries - 1 if query is None else query
    weights = trace.rows("weights", queries=[at])[:, 0]
    head = int(weights.max(axis=1).argmax())
    order = np.argsort(-weights[head], kind="stable")[:n]
    keys = [(token_name(trace.read_tokens, int(key)), float(weights[head, key])) for key in order]
    return token_name(trace.tokens, at), keys, head


class LearnBar:
    """How far a training is, on a terminal only, gone when it is done: loss, accuracy, seconds left, strongest arrows."""

    def __init__(self, file: IO[str], lang: str) -> None:
        self.lang = lang
        self.live: Live | None = None
        self.drawn_at = 0.0
        if file.isatty():
            console = Console(file=file, highlight=False, markup=False, emoji=False)
            columns = (BarColumn(16), TextColumn("{task.description}"), TimeRemainingColumn(compact=True))
            self.bar = Progress(*columns, console=console)
            self.task = self.bar.add_task("", total=None)
            self.live = Live(console=console, transient=True, refresh_per_second=8)

    def __enter__(self) -> LearnBar:
        if self.live is not None:
            self.live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.live is not None:
            self.live.stop()

    @property
    def is_due(self) -> bool:
        """True where something is shown and the last time is over a tenth of a second ago."""
        return self.live is not None and time.monotonic() - self.drawn_at > 0.1

    def show(self, step: int, steps: int, loss: float, accuracy: float, arrows: str = "") -> None:
        """What the training says after a step; ``arrows`` as ``arrows_said`` makes them."""
        assert self.live is not None
        self.drawn_at = time.monotonic()
        said = _word("live", self.lang, step=step, steps=steps, loss=number(loss), accuracy=percent(accuracy))
        self.bar.update(self.task, completed=step, total=steps, description=said)
        self.live.update(Group(self.bar, Text("  " + arrows, overflow="ellipsis", no_wrap=True)))


def arrows_said(reading: Trace | Reading, query: int | None, lang: str) -> str:
    """The strongest arrows as one line: it → cat 62.0%, mat 20.0% (layer 1, head 0)."""
    token, keys, head = arrows_of(reading, query)
    said = ", ".join(f"{shown(key)} {percent(weight)}" for key, weight in keys)
    layers = layers_of(reading)
    several = len(layers) > 1 or layers[-1].n_heads > 1
    where = _word("live_place", lang, layer=len(layers) - 1, head=head) if several else ""
    return _word("live_row", lang, token=shown(token), row=said) + where
