"""Lanes: for each sort of work its own workers and its own fair queue, so that small work never waits for heavy work."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from .fair import Fair
from .limits import ASKS, GRACE_S, LEAST_GRACE_S, QUEUED
from .process import Died, Process, too_long
from .refusal import Refusal

__all__ = ["Lane", "Task"]

BACK_OFF_S = (0.0, 0.5, 2.0, 10.0)  # before a worker is begun again that never got ready


def _nothing(*_told: Any) -> None:
    return


@dataclass(eq=False)
class Task:
    """One piece of work.

    seconds : that it may take, waiting not counted;  tries : how often it may begin, where workers die
    tell : called with what it tells on its way;  begun : called when a worker takes it
    """

    visitor: str
    kind: str
    asked: Mapping[str, Any]
    seconds: float
    tries: int = 2
    tell: Callable[[dict[str, Any]], None] = _nothing
    begun: Callable[[], None] = _nothing
    is_stopped: bool = False
    done: asyncio.Future[Any] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Lane:
    """Workers of one sort.

    name : which sort;  n : how many;  given : what a worker is told when it begins
    warm : True where one is begun before there is work for it, also after another has ended
    """

    def __init__(self, name: str, n: int, given: Mapping[str, Any], warm: bool) -> None:
        self.name, self.n, self.given, self.warm = name, n, given, warm
        self.is_well = True
        self.waiting: Fair[Task] = Fair()
        self.running: dict[Task, Process] = {}
        self.processes: set[Process] = set()
        self.restarts = 0
        self._came = asyncio.Condition()
        self._loops: list[asyncio.Task[None]] = []

    async def start(self) -> Mapping[str, Any]:
        """Begin; what the first worker said, where one is begun at once. Errors: ``Refusal`` where it cannot get ready."""
        first = await Process.begun(self.name, self.given) if self.warm else None
        self.processes |= {first} if first is not None else set()
        self._loops = [asyncio.create_task(self._serve(first if at == 0 else None)) for at in range(self.n)]
        return {} if first is None else first.ready

    async def close(self) -> None:
        """End all workers."""
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        await asyncio.gather(*(process.end() for process in list(self.processes)))

    # work ---------------------------------------------------------------------------------------

    async def ask(self, task: Task) -> Any:
        """What comes of a small question. Errors: ``Refusal``, also where the visitor already has too many under way."""
        if sum(one.visitor == task.visitor for one in self.running) + self.waiting.of(task.visitor) >= ASKS:
            raise Refusal(
                429,
                en=f"{ASKS} of your questions are being answered already. Wait for one of them.",
                ko=f"이미 질문 {ASKS}개에 답하고 있습니다. 그 가운데 하나가 끝나기를 기다리십시오.",
            )
        await self.put(task)
        return await task.done

    async def put(self, task: Task, is_new: bool = True) -> None:
        """Let it wait for a worker. Errors: ``Refusal`` for what is new, where too much waits."""
        if is_new and len(self.waiting) >= QUEUED:
            raise Refusal(
                503,
                en="Too many people are waiting for this server. Try again in a minute.",
                ko="이 서버를 기다리는 사람이 너무 많습니다. 1분쯤 뒤에 다시 해 보십시오.",
            )
        async with self._came:
            self.waiting.put(task.visitor, task)
            self._came.notify_all()

    def ahead(self, task: Task) -> int | None:
        """How many pieces of work come before it; None where it does not wait."""
        return self.waiting.ahead(task)

    def stop(self, task: Task) -> None:
        """End it: at once where it waits; else the worker is asked to, and ended where it does not obey."""
        task.is_stopped = True
        if self.waiting.remove(task):
            _settle(task, None)
        elif task in self.running:
            self.running[task].stop()

    # workers ------------------------------------------------------------------------------------

    async def _serve(self, process: Process | None) -> None:
        """One worker's life: begun when there is work, and again whenever it has ended."""
        while True:
            if process is None or not process.is_alive:
                process = await self._begun(process)
            task = await self._next(process)
            if task is not None:
                await self._carry(process, task)

    async def _begun(self, before: Process | None) -> Process:
        """A new worker, as soon as one gets ready."""
        if before is not None:
            self.processes.discard(before)
            self.restarts += 1
        if not self.warm:
            async with self._came:
                await self._came.wait_for(lambda: len(self.waiting) > 0)
        for pause in itertools.chain(BACK_OFF_S, itertools.repeat(BACK_OFF_S[-1])):
            await asyncio.sleep(pause)
            with contextlib.suppress(Died, Refusal, TimeoutError, OSError):
                process = await Process.begun(self.name, self.given)
                self.processes.add(process)
                self.is_well = True
                return process
            self.is_well = False
        raise AssertionError  # the pauses have no end

    async def _next(self, process: Process) -> Task | None:
        """The next piece of work; None where the worker ended while it waited for one."""
        end = asyncio.create_task(process.ended())
        come = asyncio.create_task(self._come())
        try:
            await asyncio.wait((end, come), return_when=asyncio.FIRST_COMPLETED)
            return come.result() if come.done() else None
        finally:
            for one in (end, come):
                one.cancel()

    async def _come(self) -> Task:
        async with self._came:
            await self._came.wait_for(lambda: self.waiting.can_take(self._busy()))
            return self.waiting.take(self._busy())

    def _busy(self) -> Collection[str]:
        """Visitors who may not have one more worker at once: where there are several, nobody has all of them."""
        if self.n == 1:
            return ()
        had = Counter(one.visitor for one in self.running)
        return [visitor for visitor, n in had.items() if visitor and n >= self.n - 1]

    async def _carry(self, process: Process, task: Task) -> None:
        """One piece of work by one worker; what came of it, or why nothing did, is in ``task.done``."""
        self.running[task] = process
        task.tries -= 1
        task.begun()
        try:
            _settle(task, await self._worked(process, task))
        except Refusal as error:
            _settle(task, error)
        except Died:
            await process.end()
            if task.is_stopped:
                _settle(task, None)
            elif task.tries > 0:
                await self._again(task)
            else:
                _settle(task, _died_twice())
        finally:
            del self.running[task]
            async with self._came:  # who was busy is not any more
                self._came.notify_all()

    async def _worked(self, process: Process, task: Task) -> Any:
        work = asyncio.create_task(process.work(task.kind, task.asked, task.tell))
        try:
            until = asyncio.get_running_loop().time() + task.seconds
            while not work.done():
                now = asyncio.get_running_loop().time()
                if now >= until:
                    await process.end()
                    raise Died if task.is_stopped else too_long(task.seconds)
                if task.is_stopped:
                    until = min(until, now + GRACE_S.get(task.kind, GRACE_S.get(self.name, LEAST_GRACE_S)))
                await asyncio.wait((work,), timeout=min(0.25, until - now))
            return work.result()
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    async def _again(self, task: Task) -> None:
        async with self._came:
            self.waiting.put(task.visitor, task)
            self._came.notify_all()


def _settle(task: Task, came: Any) -> None:
    if task.done.done():  # who asked has gone
        return
    if isinstance(came, Refusal):
        task.done.set_exception(came)
    else:
        task.done.set_result(came)


def _died_twice() -> Refusal:
    return Refusal(
        500,
        en="The process that did this ended twice, most often for want of memory. What was saved is kept. Try something smaller.",
        ko="이 일을 하던 프로세스가 두 번 끝나 버렸습니다. 대개 메모리가 모자란 탓입니다. 저장한 것은 남아 있습니다. 더 작은 것으로 해 보십시오.",
    )
