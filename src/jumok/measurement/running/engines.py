"""Who measures the shards: this process, several processes of this machine, or a Ray cluster. All give the same."""

from __future__ import annotations

import contextlib
import itertools
import os
import pickle
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from ...errors import InputError, JumokError, MissingExtra
from ...memory import n_processors
from ...tokens import unknown_name
from ...variants.fast_numpy import one_thread_a_product
from ...words import with_particle
from .reads import Reads
from .shard import Arrays, Job, Part, measured_part

__all__ = ["ENGINES", "RayWorker", "died", "engine_of", "refuse_engine"]

Found = tuple[int, Arrays]  # a shard's number, and what was measured
ENGINES = ("local", "ray")
MOST_SAID = 200  # letters of a worker's last words
MOST_DEATHS = 3  # of workers at one shard, before it is given up
WORKER = "from jumok.measurement.running.worker import main; main()"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def refuse_engine(name: str, workers: int | None) -> None:
    """Refuse, before anything is done, an engine that is not there.

    Errors: ``UnknownName``; ``InputError`` for a number of workers below 1; ``MissingExtra`` without Ray.
    """
    if name not in ENGINES:
        raise unknown_name("engine", "엔진", name, ENGINES)
    if workers is not None and (type(workers) is not int or workers < 1):
        raise InputError(
            en=f"workers expects a number of processes, 1 or more, got {workers!r}.",
            ko=f"workers에는 1 이상의 프로세스 수가 필요한데 {with_particle(repr(workers), '이/가')} 왔습니다.",
        )
    if name == "ray":
        _ray()


def engine_of(
    name: str, workers: int | None, can_travel: bool, n_parts: int
) -> Callable[[Reads, Job, Iterable[Part]], Iterator[Found]]:
    """The way that parts are measured.

    can_travel : False for a model that another process could not open
    """
    if name == "ray":
        n = min(workers or 10**6, n_parts)
        return lambda _reads, job, parts: _on_ray(job, parts, n)
    if not can_travel and (workers or 1) > 1:
        raise InputError(
            en="a model that is in memory is measured in this process. Save it, and give the folder, for several workers.",
            ko="메모리에 있는 모델은 이 프로세스에서만 측정합니다. 프로세스를 여럿 쓰려면 저장한 뒤 폴더를 주십시오.",
        )
    n = min(n_processors() if workers is None else workers, n_parts)
    if n <= 1 or not can_travel:
        return _here
    return lambda _reads, job, parts: _in_processes(job, parts, n)


def _here(reads: Reads, job: Job, parts: Iterable[Part]) -> Iterator[Found]:
    for part in parts:
        with one_thread_a_product():
            arrays = measured_part(reads, job, part)
        yield part.number, arrays


# processes of this machine ------------------------------------------------------------------------


def _in_processes(job: Job, parts: Iterable[Part], n: int) -> Iterator[Found]:
    """Each worker takes the next shard when it is done with one; a worker that dies is replaced, its shard begun anew."""
    todo: queue.Queue[Part | None] = queue.Queue(maxsize=n)
    done: queue.Queue[Found | BaseException | None] = queue.Queue()
    stop = threading.Event()
    workers = [_Worker(job) for _ in range(n)]
    threads = [threading.Thread(target=_served, args=(worker, todo, done, stop), daemon=True) for worker in workers]
    threads.append(threading.Thread(target=_fed, args=(parts, todo, done, n, stop), daemon=True))
    try:
        for thread in threads:
            thread.start()
        left = n
        while left:
            found = done.get()
            if isinstance(found, BaseException):
                raise found
            if found is None:
                left -= 1
            else:
                yield found
    finally:
        stop.set()
        for worker in workers:
            worker.end()


def _fed(
    parts: Iterable[Part], todo: queue.Queue[Part | None], done: queue.Queue[Any], n: int, stop: threading.Event
) -> None:
    """Read the corpus a little ahead of the workers."""
    try:
        for part in parts:
            if not _put(todo, part, stop):
                return
        for _ in range(n):
            _put(todo, None, stop)
    except BaseException as error:
        done.put(error)


def _put(todo: queue.Queue[Part | None], part: Part | None, stop: threading.Event) -> bool:
    while not stop.is_set():
        with contextlib.suppress(queue.Full):
            todo.put(part, timeout=0.2)
            return True
    return False


def _next(todo: queue.Queue[Part | None], stop: threading.Event) -> Part | None:
    while not stop.is_set():
        with contextlib.suppress(queue.Empty):
            return todo.get(timeout=0.2)
    return None


def _served(worker: _Worker, todo: queue.Queue[Part | None], done: queue.Queue[Any], stop: threading.Event) -> None:
    try:
        while (part := _next(todo, stop)) is not None:
            done.put((part.number, worker.measured(part)))
        done.put(None)
    except BaseException as error:
        done.put(error)


class _Worker:
    """A process of its own, spoken to through its standard streams: nobody's main program is run again by it."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.process: subprocess.Popen[bytes] | None = None
        self.said = tempfile.TemporaryFile()  # noqa: SIM115 (closed at the end; a process's last words are in it)
        self.lock, self.is_ended = threading.Lock(), False

    def measured(self, part: Part) -> Arrays:
        """The sums of a shard.

        Errors: what the worker met; ``InputError`` where it died several times.
        """
        for _ in range(MOST_DEATHS):
            try:
                answer = self._asked(part)
            except (EOFError, OSError, pickle.UnpicklingError):
                self._lost()
                continue
            if isinstance(answer, BaseException):
                raise answer
            return dict(answer)
        raise died(part.number, self._last_words())

    def _asked(self, part: Part) -> Any:
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        pickle.dump(part, process.stdin)
        process.stdin.flush()
        return pickle.load(process.stdout)  # noqa: S301 (from our own process)

    def _running(self) -> subprocess.Popen[bytes]:
        with self.lock:
            if self.is_ended:
                raise _Stopped
            if self.process is None:
                self.process = _started(self.job, self.said)
            return self.process

    def _lost(self) -> None:
        """The process ended by itself."""
        with self.lock:
            if self.process is not None:
                _killed(self.process)
                self.process = None

    def end(self) -> None:
        """Take the process away for good; it holds nothing that is not here."""
        with self.lock:
            self.is_ended = True
            if self.process is not None:
                _killed(self.process)
            self.said.close()

    def _last_words(self) -> str:
        self.said.seek(0)
        lines = self.said.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1].rpartition("\r")[2][:MOST_SAID] if lines else ""


class _Stopped(Exception):
    """Nobody waits for results any more."""


def _started(job: Job, said: IO[bytes]) -> subprocess.Popen[bytes]:
    path = os.pathsep.join(place or str(Path.cwd()) for place in sys.path)
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(os.getpid())], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said,
        env={**os.environ, **ONE_THREAD, "PYTHONPATH": path},
        start_new_session=True,  # Ctrl-C is for the one who was asked
    )  # fmt: skip
    assert process.stdin is not None
    pickle.dump(job, process.stdin)
    process.stdin.flush()
    return process


def _killed(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def died(number: int, said: str = "") -> InputError:
    """What is said of a shard at which workers end.

    said : their last words
    """
    return InputError(
        en=f"the process that measured shard {number} ended {MOST_DEATHS} times before it was done{f' ({said})' if said else ''}. "
        f"Most often memory ran out: try --workers 1.",
        ko=f"{number}번 조각(shard)을 측정하던 프로세스가 {MOST_DEATHS}번 도중에 끝났습니다{f'({said})' if said else ''}. 메모리가 모자랄 때가 "
        f"많습니다. --workers 1로 해 보십시오.",
    )


# Ray ----------------------------------------------------------------------------------------------


RAY_OF_OUR_OWN = {  # a cluster that is started here reports to nobody, and is given time on a busy machine
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_agent_register_timeout_ms": "100000",
}


def _ray() -> Any:
    for name, value in RAY_OF_OUR_OWN.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise MissingExtra(extra="ray", package="ray") from error
    return ray


def _on_ray(job: Job, parts: Iterable[Part], n: int) -> Iterator[Found]:
    """Actors, one a processor of the cluster, each with the model open; one that dies is begun anew by Ray, its shard too.

    A cluster that this program is connected to, or that RAY_ADDRESS names, is used; else one is started here.
    """
    ray = _ray()
    is_ours = not ray.is_initialized()
    if is_ours:
        _joined(ray)
    try:
        n = min(n, max(1, int(ray.cluster_resources().get("CPU", 1))))
        kind = ray.remote(num_cpus=1, max_restarts=MOST_DEATHS, max_task_retries=MOST_DEATHS)(RayWorker)
        given = ray.put(job)
        idle = [kind.remote(given) for _ in range(n)]
        yield from _answers(ray, idle, iter(parts))
    finally:
        if is_ours:
            ray.shutdown()


def _joined(ray: Any, n_cpus: int | None = None) -> None:
    is_elsewhere = "RAY_ADDRESS" in os.environ
    options: dict[str, Any] = {} if is_elsewhere else {"include_dashboard": False, "num_cpus": n_cpus}
    try:
        ray.init(log_to_driver=False, configure_logging=True, logging_level="ERROR", **options)
    except Exception as error:  # Ray raises it bare where a part of it does not start in time
        raise InputError(
            en=f"no Ray cluster can be reached or started: {str(error).strip().splitlines()[0]}",
            ko=f"Ray 클러스터에 연결하거나 시작할 수 없습니다: {str(error).strip().splitlines()[0]}",
        ) from error


def _answers(ray: Any, idle: list[Any], parts: Iterator[Part]) -> Iterator[Found]:
    """Each actor has one shard at a time, so that no more of the corpus is held than there are actors."""
    asked: dict[Any, tuple[Any, int]] = {}
    while True:
        for part in itertools.islice(parts, len(idle)):
            actor = idle.pop()
            asked[actor.measured.remote(part)] = actor, part.number
        if not asked:
            return
        ready, _ = ray.wait(list(asked), num_returns=1)
        actor, number = asked.pop(ready[0])
        yield number, _answer(ray, ready[0], number)
        idle.append(actor)


def _answer(ray: Any, reference: Any, number: int) -> Arrays:
    try:
        return dict(ray.get(reference))
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, JumokError):
            raise error.cause from None
        raise
    except ray.exceptions.RayActorError as error:
        raise died(number) from error


class RayWorker:
    """What an actor does."""

    def __init__(self, job: Job) -> None:
        self.job = job

    @cached_property
    def reads(self) -> Reads:
        """The model, opened when the first shard comes: what is wrong with it is an answer, not the end of the actor."""
        return self.job.opener()

    def measured(self, part: Part) -> Arrays:
        """The sums of a shard."""
        with one_thread_a_product():
            return measured_part(self.reads, self.job, part)
