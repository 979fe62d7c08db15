"""A progress bar for a search that may take long, on a terminal only, gone when it is done."""

from __future__ import annotations

import math
import time
from types import TracebackType
from typing import IO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from ..words import LANGS

__all__ = ["SearchBar"]

PATIENCE_S = 0.4  # a shorter search needs no bar
GOAL = 1e-9  # nats: where a search ends

WORDS = {
    "step": (
        "head {head} of {n} · step {step} · loss {loss:.3g} · gap ≤ {gap:.1e} nats",
        "헤드 {n}개 가운데 {head}번 · {step}단계 · 손실 {loss:.3g} · 최선과의 차이 ≤ {gap:.1e} nat",
    ),
}


class SearchBar:
    """How far a search is: its heads, and how much of the way each has gone, in powers of ten of the gap."""

    def __init__(self, file: IO[str], lang: str, n_heads: int) -> None:
        self.n_heads, self.lang = n_heads, lang
        self.began, self.first_gap, self.head = time.monotonic(), math.inf, -1
        columns = (BarColumn(24), TextColumn("{task.description}"), TimeElapsedColumn())
        console = Console(file=file, highlight=False, markup=False, emoji=False)
        self.bar = Progress(*columns, console=console, transient=True) if file.isatty() else None
        self.task = None if self.bar is None else self.bar.add_task("", total=n_heads)

    def __enter__(self) -> SearchBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()

    def show(self, head: int, step: int, loss: float, gap: float) -> None:
        """What the search says after each step."""
        if self.bar is None or self.task is None or time.monotonic() - self.began < PATIENCE_S:
            return
        if head != self.head:
            self.head, self.first_gap = head, gap
        said = WORDS["step"][LANGS.index(self.lang)].format(head=head, n=self.n_heads, step=step, loss=loss, gap=gap)
        self.bar.start()
        self.bar.update(self.task, completed=head + self.share(gap), description=said)

    def share(self, gap: float) -> float:
        """How much of the way from the first gap to the goal is behind, 0 to 1."""
        if not 0 < gap < self.first_gap or self.first_gap <= GOAL:
            return 1.0 if gap <= GOAL else 0.0
        return min(1.0, math.log(self.first_gap / gap) / math.log(self.first_gap / GOAL))
