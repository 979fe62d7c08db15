"""A process that measures shards: a job on standard input, then shard after shard; the sums on standard output."""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time

from .shard import Job, measured_part

__all__ = ["main"]

LOOK_S = 0.5


def main() -> None:
    """Until standard input ends, or the process whose number stands on the command line. An error is an answer like any other."""
    if sys.platform != "win32":  # where a launcher may stand between the two
        threading.Thread(target=_end_with, args=(int(sys.argv[1]),), daemon=True).start()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    asked = sys.stdin.buffer
    try:
        job: Job = pickle.load(asked)  # noqa: S301 (from the process that began this one)
        reads = job.opener()
        while True:
            part = pickle.load(asked)  # noqa: S301
            try:
                found: object = measured_part(reads, job, part)
            except Exception as error:
                found = error
            pickle.dump(found, answers)
            answers.flush()
    except (EOFError, BrokenPipeError):
        os._exit(0)  # nobody asks any more, or nobody listens


def _end_with(parent: int) -> None:
    """Not only when the next shard is due: of one who was killed nothing runs on, and nothing holds the model in memory."""
    while os.getppid() == parent:
        time.sleep(LOOK_S)
    os._exit(0)
