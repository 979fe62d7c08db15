"""The server's memory and hands: what it was started with, its lanes of workers, the jobs, the pages that are kept."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import secrets
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import JumokError, MissingExtra
from .asked import Offer
from .events import Events, written
from .jobs import ENDED, Job, Store
from .kept import document, is_kept, page_of, release
from .lanes import Lane, Task
from .limits import ANSWER_S, CHECK_S, JOB_S, JOBS, MEMORY_BYTES, SENTENCES, STREAMS, TRIES, WAITING
from .places import Places
from .refusal import Refusal, no_such, plain
from .shelf import Given, Shelf
from .visitors import refuse_full

__all__ = ["Service"]

LANE_OF = {"learn": "heavy", "cost": "heavy", "measure": "measure", "capture": "model"}
WARM = ("quick", "model")  # nobody waits for these to begin
KEEP_REST_S = 5.0
MOST_NAMED = 20  # damaged folders that are printed
PAGE_S = 300.0  # to make the page of a training that did not come to its end


@dataclass
class Service:
    """One server, from its start to its end. prepares : called with the name of a file whose page is made, which may take long"""

    given: Given
    prepares: Callable[[str], None] = lambda _name: None
    start_id: str = field(default_factory=lambda: secrets.token_hex(4))
    lanes: dict[str, Lane] = field(default_factory=dict)
    model: dict[str, Any] | None = None
    streams: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.store = Store(self.given.work)
        self.places = Places(self.given)
        self.shelf = Shelf(self.given, self.lanes, self.prepares)
        self._tasks: set[asyncio.Task[None]] = set()
        self._submitting = asyncio.Lock()

    @property
    def offer(self) -> Offer:
        """What visitors can ask for."""
        tasks = {one["name"]: one["title"] for one in self.shelf.catalogue["tasks"]}
        corpus = None if self.given.corpus is None else self.given.corpus.name
        model = None if self.model is None else str(self.model["name"])
        return Offer(model, corpus, self.given.allow_code, tasks)

    @property
    def missing(self) -> dict[str, MissingExtra]:
        """Kinds of jobs that this server cannot do before something is installed, each with what."""
        return {} if self.shelf.catalogue["tasks"] else {"learn": MissingExtra(extra="learn", package="torch")}

    # from start to end --------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin the workers, look at what was given, go on with what was left. Errors: ``Refusal`` for what cannot be used."""
        n = max(1, min(4, (os.cpu_count() or 2) // 2))
        names = {"quick": max(2, n), "heavy": n} | ({"code": n} if self.given.allow_code else {})
        names |= {"model": 1, "measure": 1} if self.given.model is not None else {}
        for name, how_many in names.items():
            told = {"memory_bytes": MEMORY_BYTES[name], "model": self.given.model}
            self.lanes[name] = Lane(name, how_many, told, warm=name in WARM)
        ready = await asyncio.gather(*(lane.start() for lane in self.lanes.values()), return_exceptions=True)
        for name, said in zip(self.lanes, ready, strict=True):
            if isinstance(said, BaseException):
                raise said
            self.model = dict(said) if name == "model" else self.model
        await self.shelf.fill()
        waiting, damaged = await asyncio.to_thread(self.store.load)
        if damaged:
            print(_unread(damaged, self.given.lang), file=sys.stderr)  # noqa: T201 (the server's own log)
        for job in waiting:
            job.starts = 0 if self.store.went_on(job) else job.starts
            await self._begin(job, is_new=False)
        self._keep_going(self._keep_rest())

    def hang_up(self) -> None:
        """End every stream of events."""
        for job in self.store.all():
            if job.events is not None:
                job.events.end()

    async def close(self) -> None:
        """End the workers; what runs goes on at the next start."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(lane.close() for lane in self.lanes.values()))

    def _keep_going(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _keep_rest(self) -> None:
        while True:
            await asyncio.sleep(KEEP_REST_S)
            await self.store.keep_rest()

    # documents ----------------------------------------------------------------------------------

    def document(self, visitor: str, id: str) -> Path:
        """The file of a document: of a page for everybody, or of the visitor's own. Errors: ``Refusal``."""
        found = re.fullmatch("([0-9a-f]{24})-([0-9]{1,3})", id)
        if found is None:
            raise no_such()
        job = self.store.find(visitor, found[1])
        folder = self.store.folder(job) if job is not None else self.shelf.folder / found[1]
        file = document(folder, int(found[2]))
        if not is_kept(folder) or not file.is_file():
            raise no_such()
        return file

    # questions ----------------------------------------------------------------------------------

    async def question(self, visitor: str, kind: str, asked: dict[str, Any]) -> Any:
        """The answer to a small question. Errors: ``Refusal``."""
        lane = {"design": "quick", "check": "code", "cut": "model"}[kind]
        if kind == "cut":
            job = self.store.find(visitor, asked.pop("document")[:24])
            if job is None or job.kind != "capture":
                raise no_such()
            asked["text"] = job.asked["text"]
        seconds = {"check": CHECK_S, "cut": JOB_S["capture"]}.get(kind, ANSWER_S)
        answer = await self.lanes[lane].ask(Task(visitor, kind, asked, seconds))
        if answer is None:
            raise no_such()
        return answer

    # jobs ---------------------------------------------------------------------------------------

    async def submit(self, visitor: str, kind: str, asked: dict[str, Any], title: dict[str, str]) -> Job:
        """Keep a job and let it wait.

        Errors: ``Refusal`` where there are too many, no room, or too few sentences to measure on; ``OutputError``.
        """
        if kind == "measure" and asked["text"] is not None:
            _refuse_few_sentences(asked["text"])
        async with self._submitting:  # else several at the same time would not see each other
            return await self._submitted(visitor, Job.new(visitor, kind, asked, title))

    async def _submitted(self, visitor: str, job: Job) -> Job:
        own = self.store.of(visitor)
        _refuse_more_jobs(own)
        free = shutil.disk_usage(self.given.work).free
        await asyncio.to_thread(refuse_full, self.given.work, visitor, free)
        await self.store.add(job)
        try:
            await self._begin(job)
        except Refusal:
            await self.store.remove(job)
            raise
        return job

    async def _begin(self, job: Job, is_new: bool = True) -> None:
        """Let a job wait for its worker, if it may still be begun. Errors: ``Refusal`` for a new one where too much waits."""
        lane = self.lanes.get(LANE_OF[job.kind])
        job.state, job.events = "queued", Events(self.start_id)
        if lane is None:
            await self._end(job, "failed", _gone_model())
        elif job.starts >= TRIES:
            self._keep_going(self._give_up(job))
        else:
            folder = str(self.store.folder(job))
            corpus = None if self.given.corpus is None else str(self.given.corpus)
            asked = {**job.asked, "folder": folder, "corpus": corpus, "model": self.given.model, "title": job.title}
            job.task = Task(job.visitor, job.kind, asked, JOB_S[job.kind])
            job.task.tell, job.task.begun = lambda told: self._told(job, told), lambda: self._begun(job)
            await lane.put(job.task, is_new)
            self._keep_going(self._carry(job))

    def _begun(self, job: Job) -> None:
        job.state, job.starts = "running", job.starts + 1
        self._say(job)
        self._keep_going(self.store.keep(job))
        for other in self.store.all():  # who waits behind it has one less ahead
            if other.state == "queued" and LANE_OF[other.kind] == LANE_OF[job.kind]:
                self._say(other)

    def _told(self, job: Job, told: Mapping[str, Any]) -> None:
        assert job.events is not None
        if "step" in told:
            job.events.add("step", told["step"])
        if "progress" in told:
            job.progress = told["progress"]
            self._say(job)

    async def _carry(self, job: Job) -> None:
        """Wait for what comes of it."""
        assert job.task is not None
        try:
            answer = await job.task.done
        except Refusal as error:
            await self._end(job, "failed", error, made=await self._saved_made(job))
        else:
            made = answer is not None or await self._saved_made(job)
            await self._end(job, "stopped" if job.task.is_stopped else "done", None, made=made)

    async def _give_up(self, job: Job) -> None:
        await self._end(job, "failed", _gave_up(), made=await self._saved_made(job))

    async def _saved_made(self, job: Job) -> bool:
        """Make the page of what a training saved, where it ended before its worker could: by an error, or after a restart."""
        folder = self.store.folder(job)
        if job.kind != "learn" or self.store.find(job.visitor, job.id) is None:
            return False
        if not is_kept(folder) and (folder / "run.safetensors").is_file():
            task = Task(job.visitor, "saved", {"folder": str(folder)}, PAGE_S)
            with contextlib.suppress(Refusal):
                await self.lanes["heavy"].put(task)
                await task.done
        return is_kept(folder)

    async def _end(self, job: Job, state: str, error: JumokError | None, made: bool = False) -> None:
        assert job.events is not None
        job.state, job.error, job.made = state, None if error is None else plain(error), made
        job.task, job.progress = None, None
        await asyncio.to_thread(release, self.store.folder(job))
        await self.store.keep(job)
        self._say(job)
        job.events.end()
        job.events = None

    def _say(self, job: Job) -> None:
        if job.events is not None:
            job.events.add("job", self.told(job))

    def told(self, job: Job) -> dict[str, Any]:
        """A job as its visitor sees it."""
        told = job.told(None if job.task is None else self.lanes[LANE_OF[job.kind]].ahead(job.task))
        return told if job.error is None else {**told, "error": self.places.plain(job.error)}

    def own(self, visitor: str, id: str) -> Job:
        """A visitor's own job. Errors: ``Refusal``, the same for a job of somebody else and for one that never was."""
        job = self.store.find(visitor, id)
        if job is None:
            raise no_such()
        return job

    async def stop(self, job: Job) -> None:
        """End a job; what was saved is kept."""
        if job.task is not None:
            self.lanes[LANE_OF[job.kind]].stop(job.task)

    async def remove(self, job: Job) -> None:
        """End a job and take away all that it made."""
        task = job.task
        await self.stop(job)
        if task is not None:
            with contextlib.suppress(Refusal):
                await task.done
        await self.store.remove(job)

    async def page_of_job(self, job: Job) -> dict[str, Any]:
        """What is to be seen of a job: its result, or how far it is."""
        if job.made:
            page = self.shelf.addressed(await asyncio.to_thread(page_of, self.store.folder(job)), job.id)
            if page.get("model", {}).get("cutter"):
                page["model"]["cutter"] = self.model is not None and job.kind == "capture"
            return page
        return {"view": "job", "title": job.title, "job": self.told(job)}

    # who looks on -------------------------------------------------------------------------------

    def refuse_more_streams(self, visitor: str) -> None:
        """Errors: ``Refusal`` where a visitor has too many streams open."""
        if self.streams.get(visitor, 0) >= STREAMS:
            raise Refusal(
                429,
                en=f"{STREAMS} pages of yours look on already. Close one.",
                ko=f"이미 페이지 {STREAMS}개가 지켜보고 있습니다. 하나를 닫으십시오.",
            )

    async def events_of(self, job: Job, visitor: str, last: str | None) -> AsyncIterator[bytes]:
        """What happens to a job from the event on that was seen last."""
        if job.events is None:  # it has ended
            yield written(f"{self.start_id}-end", "job", self.told(job))
            return
        self.streams[visitor] = self.streams.get(visitor, 0) + 1
        try:
            async for event in job.events.stream(last, lambda: self.told(job)):
                yield event
        finally:
            self.streams[visitor] -= 1
            if not self.streams[visitor]:
                del self.streams[visitor]


def _refuse_few_sentences(text: str) -> None:
    """A measuring of fewer says nothing of any head, and takes its time all the same."""
    n = sum(bool(line.strip()) for line in re.split(r"\r\n|\r|\n", text))
    if n < SENTENCES:
        raise Refusal(
            422,
            en=f"Measuring needs at least {SENTENCES} sentences, one a line; this text has {n}. With fewer, nothing can be said of a head.",
            ko=f"측정하려면 한 줄에 하나씩 문장이 {SENTENCES}개는 있어야 하는데 이 글에는 {n}개입니다. 그보다 적으면 헤드에 대해 아무것도 말할 수 "
            f"없습니다.",
        )


def _refuse_more_jobs(own: Sequence[Job]) -> None:
    if sum(job.state not in ENDED for job in own) >= WAITING:
        raise Refusal(
            429,
            en=f"You have {WAITING} jobs under way, which is as many as one visitor may have. Wait for one, or stop one.",
            ko=f"진행 중인 작업이 한 사람이 둘 수 있는 {WAITING}개에 이르렀습니다. 하나가 끝나기를 기다리거나 멈추십시오.",
        )
    if len(own) >= JOBS:
        raise Refusal(
            429,
            en=f"You have {JOBS} jobs, which is as many as are kept for one visitor. Delete one that has ended.",
            ko=f"작업이 한 사람 몫으로 보관하는 {JOBS}개에 이르렀습니다. 끝난 작업을 지우십시오.",
        )


def _unread(folders: Sequence[Path], lang: str) -> str:
    """Which saved jobs are damaged, for whoever runs the server."""
    some = "".join(f"\n  {folder}" for folder in folders[:MOST_NAMED])
    more = len(folders) - MOST_NAMED
    if lang == "ko":
        some += f"\n  … 외 {more}개" if more > 0 else ""
        return (
            f"jumok serve: 저장된 작업 {len(folders)}개의 job.json을 읽을 수 없습니다. 손상되었거나 더 새로운 jumok에서 저장한 것입니다. "
            f"아무것도 지우지 않았습니다:{some}"
        )
    some += f"\n  … and {more} more" if more > 0 else ""
    one = "this saved job" if len(folders) == 1 else f"these {len(folders)} saved jobs"
    return (
        f"jumok serve: the job.json of {one} cannot be read: it is damaged, or of a later version of jumok. "
        f"Nothing was deleted:{some}"
    )


def _gone_model() -> Refusal:
    return Refusal(
        422,
        en="This needs the model that the server was started with before. Start it again with --model.",
        ko="서버를 전에 시작할 때 쓴 모델이 필요합니다. --model로 다시 시작하십시오.",
    )


def _gave_up() -> Refusal:
    return Refusal(
        500,
        en=f"This was begun {TRIES} times, and each time the server or its worker ended under it. What was saved is kept.",
        ko=f"이 일을 {TRIES}번 시작했는데 그때마다 서버나 작업 프로세스가 끝나 버렸습니다. 저장한 것은 남아 있습니다.",
    )
