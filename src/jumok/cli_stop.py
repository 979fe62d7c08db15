"""Ctrl-C while something long runs: the first ends it after the step that it is at, a second one the program."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

from . import cli

__all__ = ["CtrlC"]


class CtrlC:
    """Where the first Ctrl-C is noted, for what runs to stop by itself; a second one is as everywhere."""

    def __init__(self, lang: str) -> None:
        self.lang, self.asked = lang, False
        self._before: Any = None

    def __enter__(self) -> CtrlC:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 (as signal.signal calls it)
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        cli._tell(cli._("stopping", self.lang))
