"""Verdicts over the bank, several at a time; the child of each is forked from a process that has its libraries loaded.

Starting Python and importing PyTorch takes most of a check's time, and is the same for all. So two pools stand ready,
one with PyTorch and one without (its size would not fit the limits of a NumPy check), and each verdict's child is a
fork of one of their processes instead of a new one. All else is the checker's own: folder, limits, user, cases, judge.
Where there is no fork, a new process is started as usual.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from jumok.errors import JumokError
from jumok.lessons.checker import process, runner
from jumok.lessons.checker.checking import check

from . import Entry


class Found(NamedTuple):
    """What the checker said: a status (or "refused", where it did not know how to call), ids, its text."""

    status: str
    mistakes: tuple[str, ...]
    text: str


class Checked:
    """The verdicts of entries, begun early and waited for late."""

    def __init__(self) -> None:
        self.pools: dict[tuple[str, bool], ProcessPoolExecutor] = {}
        self.futures: dict[tuple[Entry, bool], Future[Found]] = {}

    def begin(self, entry: Entry, anew: bool = False) -> Future[Found]:
        """Have an entry checked; ``anew``: by a process started anew, as a learner's is."""
        if (entry, anew) not in self.futures:
            pool = self._pool("torch" if entry.path.startswith("torch") else "numpy", anew)
            self.futures[entry, anew] = pool.submit(found, entry.where, entry.kind)
        return self.futures[entry, anew]

    def of(self, entry: Entry, anew: bool = False) -> Found:
        """What the checker says of an entry."""
        return self.begin(entry, anew).result()

    def _pool(self, library: str, anew: bool) -> ProcessPoolExecutor:
        key = ("any", True) if anew else (library, False)
        if key not in self.pools:
            ready = None if anew or not hasattr(os, "fork") else get_ready
            context = multiprocessing.get_context("spawn")
            n_workers = 1 if anew else min(os.cpu_count() or 1, 8)
            self.pools[key] = ProcessPoolExecutor(n_workers, context, ready, (library,) if ready else ())
        return self.pools[key]

    def close(self) -> None:
        """End the pools, and what has not begun."""
        for pool in self.pools.values():
            pool.shutdown(cancel_futures=True)


def found(where: str, kind: str | None) -> Found:
    """One verdict, in a process of a pool."""
    try:
        verdict = check(where, kind)
    except JumokError as error:
        return Found("refused", (), str(error))
    return Found(verdict.status, verdict.mistakes, verdict.text("en"))


def get_ready(library: str) -> None:
    """Load what every child needs, and fork children from here on."""
    if library == "torch":
        os.environ["OMP_NUM_THREADS"] = "1"  # a fork has no threads but its own
        importlib.import_module("torch.nn.functional")
    process.START.set(_forked)


def _forked(place: Path, limits: process.Limits, uid: int | None) -> process.Answers:
    """What a child gives that is a fork of this process; the bank neither prints without end nor sleeps."""
    pid = os.fork()
    if pid == 0:
        try:
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
            runner.main(str(place))
        finally:
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    return process.read(place, os.waitstatus_to_exitcode(status))
