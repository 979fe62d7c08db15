"""A worker's process as the server sees it: begun, given work, heard, ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .limits import ANSWER_BYTES, ANSWER_S
from .refusal import Refusal, failed

__all__ = ["Died", "Process"]

ROOT = Path(__file__).parents[2]  # where jumok is
CODE = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from jumok.server.worker import main; main()"
START_S = {"model": 900.0}  # a large model from a slow disk
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


class Died(Exception):
    """The process ended in the middle of its work."""


class Process:
    """One worker process. ``ready`` is what it said when it began."""

    def __init__(self, process: asyncio.subprocess.Process, ready: dict[str, Any]) -> None:
        self._process, self.ready = process, ready
        self._number = 0

    @classmethod
    async def begun(cls, lane: str, given: Mapping[str, Any]) -> Process:
        """A new one, ready to work.

        Errors: ``Refusal`` where it cannot get ready; ``Died`` where it ended before it said why.
        """
        command = [sys.executable, "-P", "-X", "utf8", "-c", CODE, lane, json.dumps(given)]
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=ANSWER_BYTES,
            env={**os.environ, **dict.fromkeys(THREADS, "1")}, start_new_session=True,
        )  # fmt: skip
        begun = cls(process, {})
        try:
            async with asyncio.timeout(START_S.get(lane, 3 * ANSWER_S)):
                said = await begun._line()
        except BaseException:
            await begun.end()
            raise
        if "ready" not in said:
            await begun.end()
            raise failed(said["failed"]["error"], said["failed"]["status"])
        begun.ready = said["ready"]
        return begun

    @property
    def pid(self) -> int:
        """The number that the system knows it by."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """False where it has ended."""
        return self._process.returncode is None

    async def ended(self) -> None:
        """Wait until it has ended by itself."""
        await self._process.wait()

    async def work(self, kind: str, asked: Mapping[str, Any], tell: Callable[[dict[str, Any]], None]) -> Any:
        """What comes of one piece of work; None where it was stopped before there was anything.

        Errors: ``Refusal`` as the work says; ``Died``.
        """
        self._number += 1
        self._say({"number": self._number, "kind": kind, "asked": asked})
        while True:
            said = await self._line()
            if said.get("number") != self._number:
                continue
            if "told" in said:
                tell(said["told"])
            elif "error" in said:
                raise failed(said["error"], said["status"])
            else:
                return said["answer"]

    def stop(self) -> None:
        """Ask it to stop what it does."""
        self._say({"stop": self._number})

    def _say(self, told: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, RuntimeError):  # that it is gone is seen where it is heard
            self._process.stdin.write(json.dumps(told).encode() + b"\n")

    async def _line(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        try:
            line = await self._process.stdout.readline()
            said = json.loads(line)
        except (ValueError, OSError):
            said = None
        if not isinstance(said, dict):
            raise Died
        return said

    async def end(self) -> None:
        """End it at once, with all that it began."""
        if self.is_alive:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if hasattr(os, "killpg"):
                    os.killpg(self._process.pid, signal.SIGKILL)
                else:
                    self._process.kill()
        await self._process.wait()


def too_long(seconds: float) -> Refusal:
    """What is said of work that took more than its time."""
    return Refusal(
        504,
        en=f"This took longer than {seconds:,.0f} seconds, which is all that it may take here. Try something smaller.",
        ko=f"여기서 쓸 수 있는 시간 {seconds:,.0f}초를 넘겼습니다. 더 작은 것으로 해 보십시오.",
    )
