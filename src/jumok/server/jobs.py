"""Jobs: what takes long, for whom, how far it is. Each is kept as JSON at every change of state, whole or not at all."""

from __future__ import annotations

import asyncio
import json
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..errors import OutputError, system_reason
from ..words import LANGS
from .events import Events
from .kept import is_kept, whole_page, write_json
from .lanes import Task
from .limits import JOB_S, SAVED_S

__all__ = ["ENDED", "STATES", "Job", "Store"]

STATES = ("queued", "running", "done", "failed", "stopped")
ENDED = ("done", "failed", "stopped")
FILE = "job.json"
DAMAGED = "damaged"  # the kind of a job of which nobody can say any more what it was


@dataclass(eq=False)
class Job:
    """One job.

    asked : as it was asked, checked;  starts : how often it was begun;  error : why it failed, in both languages
    task, events, progress : while it waits or runs, of this start of the server
    """

    id: str
    visitor: str
    kind: str
    asked: dict[str, Any]
    title: dict[str, str]
    created: str
    state: str = "queued"
    starts: int = 0
    error: dict[str, str] | None = None
    made: bool = False
    progress: dict[str, Any] | None = None
    task: Task | None = field(default=None, repr=False)
    events: Events | None = field(default=None, repr=False)
    writing: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    @classmethod
    def new(cls, visitor: str, kind: str, asked: dict[str, Any], title: dict[str, str]) -> Job:
        """A job that waits."""
        created = datetime.now(UTC).isoformat(timespec="milliseconds")
        return cls(secrets.token_hex(12), visitor, kind, asked, title, created)

    def plain(self) -> dict[str, Any]:
        """What is kept."""
        names = ("id", "kind", "asked", "title", "created", "state", "starts", "error", "made")
        return {"format": "jumok-job", "version": 1, **{name: getattr(self, name) for name in names}}

    def told(self, ahead: int | None = None) -> dict[str, Any]:
        """What its visitor sees. ahead : how many jobs come before it"""
        return {
            "id": self.id, "kind": self.kind, "title": self.title, "state": self.state, "ahead": ahead,
            "progress": self.progress, "error": self.error, "made": f"/jobs/{self.id}" if self.made else None,
            "created": self.created,
        }  # fmt: skip


class Store:
    """All jobs: those that are known, and their folders ``<work>/visitors/<visitor>/jobs/<id>``."""

    def __init__(self, work: Path) -> None:
        self.visitors = work / "visitors"
        self._jobs: dict[str, dict[str, Job]] = {}
        self._unkept: set[Job] = set()

    def folder(self, job: Job) -> Path:
        """Where a job keeps what it makes."""
        return self.visitors / job.visitor / "jobs" / job.id

    def of(self, visitor: str) -> list[Job]:
        """A visitor's jobs, the newest first."""
        return sorted(self._jobs.get(visitor, {}).values(), key=lambda job: (job.created, job.id), reverse=True)

    def find(self, visitor: str, id: str) -> Job | None:
        """A visitor's own job; nobody else's."""
        return self._jobs.get(visitor, {}).get(id)

    def all(self) -> Iterator[Job]:
        """Every job of every visitor."""
        for own in self._jobs.values():
            yield from own.values()

    async def add(self, job: Job) -> None:
        """Keep a new job. Errors: ``OutputError`` where it cannot be kept; then it is not there."""
        try:
            await asyncio.to_thread(self._write, job)
        except OutputError:
            await asyncio.to_thread(shutil.rmtree, self.folder(job), ignore_errors=True)
            raise
        self._jobs.setdefault(job.visitor, {})[job.id] = job

    async def keep(self, job: Job) -> None:
        """Keep a job's new state; where the disk is full, as soon as it is not (``keep_rest``)."""
        async with job.writing:
            if self.find(job.visitor, job.id) is not job:  # deleted meanwhile
                return
            try:
                await asyncio.to_thread(self._write, job)
                self._unkept.discard(job)
            except OutputError:
                self._unkept.add(job)

    async def keep_rest(self) -> None:
        """Try again what could not be kept."""
        for job in list(self._unkept):
            await self.keep(job)

    @property
    def n_unkept(self) -> int:
        """How many states are not on disk yet."""
        return len(self._unkept)

    def _write(self, job: Job) -> None:
        try:
            self.folder(job).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            en, ko = system_reason(error)
            raise OutputError(en=f"this cannot be kept: {en}.", ko=f"저장할 수 없습니다: {ko}.") from error
        write_json(self.folder(job) / FILE, job.plain())

    def went_on(self, job: Job) -> bool:
        """Whether something new was saved since the job was begun last."""
        folder = self.folder(job)
        try:
            begun = (folder / FILE).stat().st_mtime
            saved = [
                file.stat().st_mtime
                for file in (folder / "run.safetensors", *(folder / "run").rglob("*"))
                if file.is_file()
            ]
        except OSError:
            return False
        return max(saved, default=0.0) > begun + SAVED_S

    async def remove(self, job: Job) -> None:
        """Forget a job and take its folder away."""
        async with job.writing:
            own = self._jobs.get(job.visitor, {})
            own.pop(job.id, None)
            if not own:
                self._jobs.pop(job.visitor, None)
            self._unkept.discard(job)
            (self.folder(job) / FILE).unlink(missing_ok=True)  # first: without it nothing is read again
            await asyncio.to_thread(shutil.rmtree, self.folder(job), ignore_errors=True)

    def load(self) -> tuple[list[Job], list[Path]]:
        """What an earlier start left: jobs that had not ended, the oldest first; and the folders of those that cannot be read.

        These stay where they are, and are listed as failed, for the visitor whose folder they are in.
        """
        damaged = []
        for path in sorted(self.visitors.glob(f"*/jobs/*/{FILE}")):
            job = _read(path)
            if job is None:
                job = _damaged(path)
                damaged.append(path.parent)
            else:
                job.made = job.made or (job.state in ENDED and is_kept(path.parent))
            self._jobs.setdefault(job.visitor, {})[job.id] = job
        waiting = [job for job in self.all() if job.state not in ENDED]
        return sorted(waiting, key=lambda job: (job.created, job.id)), damaged


KINDS_OF = {"kind": str, "asked": dict, "title": dict, "created": str, "state": str, "starts": int, "made": bool}


def _read(path: Path) -> Job | None:
    """A job as it was kept; None for what is none, or of a later version."""
    plain = _plain(path)
    try:
        if plain["format"] != "jumok-job" or plain["version"] != 1:
            return None
        is_one = all(isinstance(plain[name], kind) for name, kind in KINDS_OF.items())
        if not is_one or plain["state"] not in STATES or plain["kind"] not in JOB_S or not _are_texts(plain["title"]):
            return None
        if plain["error"] is not None and not _are_texts(plain["error"]):
            return None
        given = {name: plain[name] for name in (*KINDS_OF, "error")}
        return Job(id=path.parent.name, visitor=path.parents[2].name, **given)
    except (KeyError, TypeError):
        return None


def _damaged(path: Path) -> Job:
    """What is left of a job whose file cannot be read: whose it is, and its page, where that is whole."""
    plain, page = _plain(path), whole_page(path.parent)
    said = plain if isinstance(plain, dict) else {}
    titles = (said.get("title"), None if page is None else page.get("title"))
    title = next(
        (dict(one) for one in titles if one is not None and _are_texts(one)),
        {"en": "a damaged job", "ko": "손상된 작업"},
    )
    created = said.get("created")
    if not isinstance(created, str):
        created = datetime.fromtimestamp(_changed(path), UTC).isoformat(timespec="milliseconds")
    job = Job(path.parent.name, path.parents[2].name, DAMAGED, {}, title, created, "failed")
    job.made, job.error = page is not None, _OF_DAMAGED[page is not None]
    return job


_OF_DAMAGED = {
    False: {
        "en": "What was saved of this job is damaged, or comes from a later version of jumok. Nothing was deleted: whoever runs "
        "the server finds its folder named in what jumok serve printed when it started. Or delete the job, and start it again.",
        "ko": "저장해 둔 이 작업의 파일이 손상되었거나 더 새로운 jumok에서 저장한 것입니다. 지운 것은 없습니다. 서버를 돌리는 사람은 "
        "jumok serve가 시작할 때 알린 폴더에서 찾을 수 있습니다. 아니면 작업을 지우고 다시 시작하십시오.",
    },
    True: {
        "en": "What was saved of this job is damaged, or comes from a later version of jumok. Its page is still whole.",
        "ko": "저장해 둔 이 작업의 파일이 손상되었거나 더 새로운 jumok에서 저장한 것입니다. 페이지는 온전합니다.",
    },
}  # is its page whole?


def _plain(path: Path) -> Any:
    """The JSON in a file; None where there is none."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def _are_texts(said: Any) -> bool:
    return isinstance(said, dict) and all(isinstance(said.get(lang), str) for lang in LANGS)


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
