"""Progress bars for what may take long, on a terminal only, gone when it is done."""

from __future__ import annotations

import math
import time
from types import TracebackType
from typing import IO, Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from ..words import LANGS

__all__ = ["CostBar", "MeasureBar", "SearchBar", "Stage"]

PATIENCE_S = 0.4  # a shorter search needs no bar
GOAL = 1e-9  # nats: where a search ends

WORDS = {
    "reading": ("The model is loaded and reads the text …", "모델을 불러 글을 읽습니다…"),
    "comparing": (
        "The model reads the two texts, and edits that should not matter …",
        "모델이 두 글과, 달라질 것이 없게 바꾼 글을 읽습니다…",
    ),
    "cutting": ("The model reads it again without the strongest arrows …", "가장 강한 화살표를 끊고 다시 읽습니다…"),
    "drawing": ("It is drawn …", "그립니다…"),
    "variant": (
        "{variant}, n = {n:,} (Ctrl-C keeps what was measured)",
        "{variant}, n = {n:,} (Ctrl-C로 멈추면 잰 것은 남습니다)",
    ),
    "tokens": (
        "{some:,} of {n:,} tokens · {speed:,.0f} tokens/s · {left} left (Ctrl-C stops)",
        "토큰 {n:,}개 중 {some:,}개 · 초당 {speed:,.0f}개 · {left} 남음 (Ctrl-C로 멈춤)",
    ),
    "step": (
        "head {head} of {n} · step {step} · loss {loss:.3g} · gap ≤ {gap:.1e} nats",
        "헤드 {n}개 가운데 {head}번 · {step}단계 · 손실 {loss:.3g} · 최선과의 차이 ≤ {gap:.1e} nat",
    ),
}


class _Bar:
    """A bar with a line of words; nothing where the file is no terminal."""

    def __init__(self, file: IO[str], lang: str, total: int | None) -> None:
        self.lang = lang
        columns = (BarColumn(24), TextColumn("{task.description}"), TimeElapsedColumn())
        console = Console(file=file, highlight=False, markup=False, emoji=False)
        self.bar = Progress(*columns, console=console, transient=True) if file.isatty() else None
        self.task = None if self.bar is None else self.bar.add_task("", total=total)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()

    def moved(self, done: float, total: int | None, name: str, /, **data: Any) -> None:
        """So much of the whole is done (total None: nobody knows); what is being done, in the reader's language."""
        if self.bar is not None and self.task is not None:
            self.bar.start()
            said = WORDS[name][LANGS.index(self.lang)].format(**data)
            self.bar.update(self.task, completed=done, total=total, description=said)


class Stage(_Bar):
    """What is being done and for how long, where nothing tells how far it is."""

    def __init__(self, file: IO[str], lang: str, name: str) -> None:
        super().__init__(file, lang, None)
        self.moved(0, None, name)


class CostBar(_Bar):
    """How far the measuring of variants is, and what is measured now."""

    def __init__(self, file: IO[str], lang: str) -> None:
        super().__init__(file, lang, None)

    def show(self, done: int, total: int, variant: str, n: int) -> None:
        """What ``cost`` says before each measurement."""
        self.moved(done, total, "variant", variant=variant, n=n)


class MeasureBar(_Bar):
    """How much of a corpus is measured, how fast, and how long it still takes."""

    def __init__(self, file: IO[str], lang: str) -> None:
        super().__init__(file, lang, None)

    def show(self, done: int, n: int, speed: float, left_s: float) -> None:
        """What ``measure`` says after each shard."""
        self.moved(done, n, "tokens", some=done, n=n, speed=speed, left=_clock(left_s))


def _clock(seconds: float) -> str:
    """75 → 1:15, 3,700 → 1:01:40."""
    minutes, s = divmod(round(seconds), 60)
    hours, m = divmod(minutes, 60)
    return f"{hours}:{m:02d}:{s:02d}" if hours else f"{m}:{s:02d}"


class SearchBar(_Bar):
    """How far a search is: its heads, and how much of the way each has gone, in powers of ten of the gap."""

    def __init__(self, file: IO[str], lang: str, n_heads: int) -> None:
        super().__init__(file, lang, n_heads)
        self.n_heads = n_heads
        self.began, self.first_gap, self.head = time.monotonic(), math.inf, -1

    def show(self, head: int, step: int, loss: float, gap: float) -> None:
        """What the search says after each step."""
        if self.bar is None or time.monotonic() - self.began < PATIENCE_S:
            return
        if head != self.head:
            self.head, self.first_gap = head, gap
        done = head + self.share(gap)
        self.moved(done, self.n_heads, "step", head=head, n=self.n_heads, step=step, loss=loss, gap=gap)

    def share(self, gap: float) -> float:
        """How much of the way from the first gap to the goal is behind, 0 to 1."""
        if not 0 < gap < self.first_gap or self.first_gap <= GOAL:
            return 1.0 if gap <= GOAL else 0.0
        return min(1.0, math.log(self.first_gap / gap) / math.log(self.first_gap / GOAL))
