"""What happens to a job, as it happens: kept for who comes later, sent to who looks on (Server-Sent Events)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .limits import EVENTS, HEARTBEAT_S, KEPT_EVENTS

__all__ = ["Events", "written"]


@dataclass(frozen=True)
class _Event:
    """One event. step : how many steps came before it; 0 for what is no step"""

    number: int
    kind: str
    data: Mapping[str, Any]
    step: int


class Events:
    """The events of one job, numbered from 1; of many steps every second one is let go, evenly from first to last.

    A number is written as ``START-NUMBER``, where START is this start of the server: after another start all is told again.
    """

    def __init__(self, start: str) -> None:
        self.start = start
        self._all: list[_Event] = []
        self._number = self._n_steps = 0
        self._stride = 1
        self._came = asyncio.Event()
        self.has_ended = False

    def add(self, kind: str, data: Mapping[str, Any]) -> None:
        """Something happened. Of states only the last is kept."""
        self._number += 1
        table = next((one for one in reversed(self._all) if "weights" in one.data), None)
        self._all = [one for one in self._all if one is table or self._stays(one, kind)]
        self._all.append(_Event(self._number, kind, data, self._n_steps if kind == "step" else 0))
        self._n_steps += kind == "step"
        if len(self._all) > EVENTS:
            self._stride *= 2
        self._wake()

    def _stays(self, one: _Event, kind: str) -> bool:
        """Whether an event is kept when another of this kind comes; the last table is in any case, until there is another."""
        if "job" in (one.kind, kind):
            return one.kind != kind
        return one.step % self._stride == 0

    def end(self) -> None:
        """Nothing more will happen."""
        self.has_ended = True
        self._all = self._all[-KEPT_EVENTS:]
        self._wake()

    def _wake(self) -> None:
        came, self._came = self._came, asyncio.Event()
        came.set()

    async def stream(self, last: str | None, now: Callable[[], Mapping[str, Any]]) -> AsyncIterator[bytes]:
        """Events after the one that was seen last, then each as it comes, and a sign of life in between.

        last : what the reader says it saw last, or None;  now : the job as it stands
        """
        at = self._after(last)
        if at == 0:
            yield written(f"{self.start}-0", "job", now())
        while True:
            came = self._came
            for one in [one for one in self._all if one.number > at]:
                at = one.number
                yield written(f"{self.start}-{at}", one.kind, one.data)
            if self.has_ended:
                return
            try:
                await asyncio.wait_for(came.wait(), HEARTBEAT_S)
            except TimeoutError:
                yield b": still here\n\n"

    def _after(self, last: str | None) -> int:
        start, _, number = (last or "").partition("-")
        is_ours = start == self.start and number.isascii() and number.isdigit() and len(number) < 10
        return min(int(number), self._number) if is_ours else 0


def written(number: str, kind: str, data: Mapping[str, Any]) -> bytes:
    """One event, as it is sent."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    return f"id: {number}\nevent: {kind}\ndata: {text}\n\n".encode("utf-8", "backslashreplace")
