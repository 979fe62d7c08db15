"""A worker: a process that does one piece of work at a time. Lines of JSON come in and go out; nothing is unpickled.

In: ``{"number", "kind", "asked"}`` or ``{"stop": number}``. Out: ``{"ready": …}`` once, then for each piece of work any
``{"number", "told": …}`` and one ``{"number", "answer": …}`` or ``{"number", "error": {"en", "ko"}, "status"}``.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from ..errors import InputError, JumokError
from .limits import ANSWER_BYTES
from .refusal import plain, status_of, unkept

__all__ = ["Line", "main"]

NICE = {"heavy": 15, "measure": 15, "model": 5}  # what may take long leaves the processor to small work


class Line:
    """What comes from the server and goes to it."""

    def __init__(self, ins: BinaryIO, outs: BinaryIO) -> None:
        self._ins, self._outs = ins, outs
        self._work: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._stopped: set[int] = set()
        self.number = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        """Beside the work, so that a stop is heard; without a server there is nothing left to do."""
        for line in self._ins:
            told = json.loads(line)
            if "stop" in told:
                self._stopped.add(told["stop"])
            else:
                self._work.put(told)
        os._exit(0)

    def works(self) -> Iterator[dict[str, Any]]:
        """Each piece of work as it comes."""
        while True:
            work = self._work.get()
            self.number = work["number"]
            yield work
            self._stopped.discard(self.number)

    def say(self, **told: Any) -> None:
        """One line to the server."""
        data = json.dumps(told, ensure_ascii=True, allow_nan=False).encode() + b"\n"
        if len(data) > ANSWER_BYTES:
            raise _too_large(len(data))
        try:
            self._outs.write(data)
            self._outs.flush()
        except BrokenPipeError:  # the server was killed, and the other thread has not seen it yet
            os._exit(0)

    def tell(self, told: Mapping[str, Any]) -> None:
        """How far the work is. Errors: ``KeyboardInterrupt`` where somebody wants it to stop."""
        if self.number in self._stopped:
            raise KeyboardInterrupt
        if told:
            self.say(number=self.number, told=dict(told))


def main() -> None:
    """Begin: make ready what the lane needs, say so, then work until the server ends."""
    lane, given = sys.argv[1], json.loads(sys.argv[2])
    line = Line(*_own_streams())
    _modest(lane, int(given["memory_bytes"]))
    from . import work

    try:
        ready = work.READY[lane](given)
    except BaseException as error:  # said to who started the server; a worker that is not ready is of no use
        line.say(failed=_told(error))
        return
    line.say(ready=ready)
    for one in line.works():
        _done(line, one, work)


def _done(line: Line, one: Mapping[str, Any], work: Any) -> None:
    """One piece of work, and what came of it."""
    number = one["number"]
    try:
        line.say(number=number, answer=work.WORKS[one["kind"]](one["asked"], line.tell))
    except KeyboardInterrupt:
        line.say(number=number, answer=None)
    except Exception as error:
        line.say(number=number, **_told(error))


def _told(error: BaseException) -> dict[str, Any]:
    """What is said of an error; what nobody foresaw stands, with its place, in the server's own log only."""
    error = unkept(error) or error
    if isinstance(error, JumokError):
        return {"error": plain(error), "status": status_of(error)}
    if isinstance(error, MemoryError):
        return {"error": _MEMORY, "status": 507}
    traceback.print_exception(error)
    kind = type(error).__name__
    en = f"Something went wrong that jumok did not foresee ({kind}). The server's log has the details."
    return {
        "error": {
            "en": en,
            "ko": f"jumok이 예상하지 못한 문제가 생겼습니다({kind}). 자세한 내용은 서버 기록에 있습니다.",
        },
        "status": 500,
    }


_MEMORY = {
    "en": "This needs more memory than one piece of work may take here. Try something smaller.",
    "ko": "여기서 한 작업이 쓸 수 있는 메모리보다 많이 필요합니다. 더 작은 것으로 해 보십시오.",
}


def _too_large(n_bytes: int) -> InputError:
    return InputError(
        en=f"the answer has {n_bytes / 1e6:.0f} MB, more than a page takes. Try something smaller.",
        ko=f"답의 크기가 {n_bytes / 1e6:.0f} MB로 페이지가 받을 수 있는 것보다 큽니다. 더 작은 것으로 해 보십시오.",
    )


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """The two streams to the server, under other numbers: what a library prints goes to the log."""
    ins, outs = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(ins, "rb"), os.fdopen(outs, "wb")


def _modest(lane: str, memory_bytes: int) -> None:
    """Give way to others, and take no more memory than was granted, where the system can hold us to it."""
    if hasattr(os, "nice"):
        os.nice(NICE.get(lane, 0))
    try:
        import resource
    except ImportError:  # Windows
        return
    if memory_bytes:
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        bound = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))
