"""A learner's code in a process of its own: limits of time, memory, output, files and processes; a throw-away folder.

It keeps accidents away (an endless loop, a huge array, a deleted file). It is **no sandbox against malice**: the code
can read what the user can read.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from .reach import Reached

__all__ = ["START", "Answers", "Limits", "answers", "is_of_the_code", "read"]

ROOT = Path(__file__).parents[3]  # where jumok is, for the child, which looks nowhere else
FIRST_UID = 1_500_000_000  # of users that nobody has


@dataclass(frozen=True)
class Limits:
    """Bounds on the learner's code.

    seconds : of computing, once its libraries are loaded;  wall_seconds : by the clock, all in all
    """

    seconds: float = 2.0
    wall_seconds: float = 30.0
    memory_bytes: int = 2 * 2**30
    file_bytes: int = 8 * 2**20
    output_bytes: int = 2**20
    processes: int = 32

    @classmethod
    def of(cls, library: str) -> Limits:
        """The usual ones; PyTorch needs more room."""
        return cls() if library == "numpy" else cls(seconds=4.0, wall_seconds=60.0, memory_bytes=8 * 2**30)


@dataclass(frozen=True)
class Answers:
    """What the child wrote down.

    ended : "done", "time" (of computing), "wall" (by the clock), "output", "crash", "killed" (by a signal that no crash
        sends), "exit" or "refused" (the child itself could not begin)
    stopped_at : (function, line) of the learner's code where it was, the innermost first
    """

    ended: str
    told: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, Any] = field(default_factory=dict)
    output: str = ""
    stage: str = ""
    stopped_at: tuple[tuple[str, int], ...] = ()
    signal: str = ""


# From a folder, limits and a user to what the child wrote down: how a child is begun where not as usual, such as by a
# fork of a process that has its libraries loaded already.
START: ContextVar[Callable[[Path, Limits, int | None], Answers]] = ContextVar("start")


OF_THE_CODE = {"SystemExit", "NameError", "ModuleNotFoundError", "NotImplementedError", "RecursionError", "OSError"}


def is_of_the_code(error: dict[str, Any]) -> bool:
    """Whether an error would come however the code is called: with other arguments, with another library's arrays."""
    kinds = set(error["kinds"])
    if "AttributeError" in kinds:
        return "module '" in error["text"]  # np.softmax; what an array has hangs on its library
    return bool(kinds & OF_THE_CODE) and "UnboundLocalError" not in kinds  # which hangs on the branch that was taken


def answers(reached: Reached, request: dict[str, Any], limits: Limits) -> Answers:
    """Run the child and read what it has to say."""
    uid = _user()
    with _folder() as place:
        reached.put(place)
        plain = {
            **request, **reached.request(), "seconds": limits.seconds, "wall_seconds": limits.wall_seconds, "uid": uid,
            "memory_bytes": limits.memory_bytes, "file_bytes": limits.file_bytes, "processes": _processes(limits, uid),
        }  # fmt: skip
        (place / "request.json").write_text(json.dumps(plain), encoding="utf-8")
        if uid is not None:
            for one in (place, *place.iterdir()):
                os.chown(one, uid, uid)
        return START.get(_run)(place, limits, uid)


def _user() -> int | None:
    """Whom the code runs as where this is root: a user whom nobody else is, so that what it starts can be counted."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return None
    return FIRST_UID + (os.getpid() * 64 + next(_COUNTER)) % 100_000_000


_COUNTER = itertools.count()


def _processes(limits: Limits, uid: int | None) -> int:
    """The bound on processes: it counts all of a user's, so those that are there are added. 0 where they cannot be counted."""
    if uid is not None:
        return limits.processes
    running = 0
    for one in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if one.stat().st_uid == os.getuid():
                running += len(list((one / "task").iterdir()))
    return running + limits.processes if running else 0


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(prefix="jumok-check-"))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


# the child --------------------------------------------------------------------------------------


def _run(place: Path, limits: Limits, uid: int | None) -> Answers:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from jumok.lessons.checker.runner import main; main(sys.argv[1])"
    command = [sys.executable, "-I", "-B", "-X", "utf8", "-c", code, str(place)]
    try:
        child = subprocess.Popen(
            command, cwd=place, env=_environment(place), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    except (OSError, ValueError, subprocess.SubprocessError):
        return Answers("refused")
    heard = _Heard(child.stdout, limits.output_bytes)
    try:
        ended = _waited(child, heard, limits.wall_seconds)
    finally:
        _end(child, uid)
    heard.close()
    return read(place, child.returncode, ended, heard.text)


def _environment(place: Path) -> dict[str, str]:
    """What the child may know of the surroundings: where programs and libraries are, and nothing else."""
    kept = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "LANG", "LC_ALL")
    made = {name: os.environ[name] for name in kept if name in os.environ}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**made, **threads, "HOME": str(place), "TMPDIR": str(place)}


class _Heard:
    """What the child prints: kept up to a bound, read to its end."""

    KEPT = 4000

    def __init__(self, stream: IO[bytes] | None, bound: int) -> None:
        assert stream is not None
        self.stream, self.bound = stream, bound
        self.kept, self.n_bytes = b"", 0
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while piece := os.read(self.stream.fileno(), 65536):
                self.kept = (self.kept + piece)[: self.KEPT]
                self.n_bytes += len(piece)

    @property
    def is_too_much(self) -> bool:
        return self.n_bytes > self.bound

    @property
    def text(self) -> str:
        return self.kept.decode("utf-8", "replace")

    def close(self) -> None:
        self.thread.join(1)
        if not self.thread.is_alive():
            self.stream.close()


def _waited(child: subprocess.Popen[bytes], heard: _Heard, wall_seconds: float) -> str:
    """How it ended: by itself, by the clock, or by printing without end."""
    until = time.monotonic() + wall_seconds
    while child.poll() is None:
        if heard.is_too_much:
            return "output"
        if time.monotonic() > until:
            return "wall"
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(0.02)
    return "output" if heard.is_too_much else "done"


def _end(child: subprocess.Popen[bytes], uid: int | None) -> None:
    """End the child with all that it began: its group, and, where it ran as a user of its own, whatever that user runs."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    else:
        child.kill()
    child.wait()
    while uid is not None and _ended_of(uid):
        time.sleep(0.01)


def _ended_of(uid: int) -> int:
    """How many processes of a user were still there, and were ended."""
    n = 0
    for one in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if one.stat().st_uid == uid and (one / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                os.kill(int(one.name), signal.SIGKILL)
                n += 1
    return n


# what it wrote ----------------------------------------------------------------------------------


def read(place: Path, code: int, ended: str = "done", output: str = "") -> Answers:
    """What a child left in its folder; code : its exit code;  ended : as in ``Answers``, "done" where it ended by itself."""
    stage = _json(place / "progress.json").get("stage", "")
    told = _json(place / "answers.json")
    arrays = _arrays(place / "answers.npz") if told else {}
    told = told if arrays is not None else {}
    if ended == "done" and not told:
        if not stage:
            return Answers("refused", output=output)
        ended = "exit" if code >= 0 else "crash" if _signal(code) in CRASHES else "killed"
        if _signal(code) == "SIGXCPU" or (_signal(code) == "SIGKILL" and _stopped(place)):
            ended = "time"  # a handler wrote where it was, and the code went on
    name = _signal(code) if ended in ("crash", "killed") else ""
    return Answers(ended, told, arrays or {}, output, stage, _stopped_at(place), name)


CRASHES = ("SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT", "SIGTRAP", "SIGSYS")


def _signal(code: int) -> str:
    """The name of the signal that ended a process; "" where none did."""
    if code >= 0:
        return ""
    return signal.Signals(-code).name if -code in {*signal.Signals} else f"SIG{-code}"


def _json(path: Path) -> dict[str, Any]:
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return plain if isinstance(plain, dict) else {}


def _arrays(path: Path) -> dict[str, Any] | None:
    try:
        with np.load(path, allow_pickle=False) as kept:
            return {name: kept[name] for name in kept.files}
    except (OSError, ValueError, KeyError):
        return None


def _stopped(place: Path) -> str:
    """What faulthandler wrote, "" where it was not called."""
    try:
        return (place / "stopped_at.txt").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _stopped_at(place: Path) -> tuple[tuple[str, int], ...]:
    """The learner's lines in what faulthandler wrote."""
    found = re.findall(r'File "([^"]*)", line (\d+) in (\S+)', _stopped(place))
    own = [(name, int(line)) for file, line, name in found if file.startswith((str(place), "<ipython", "<stdin"))]
    return tuple(own[:6])
