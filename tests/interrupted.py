"""A command at a terminal, interrupted at one place of its work, however fast the machine is."""

import os
import pty
import re
import select
import subprocess
import sys
import time

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
PRESSED = """
import importlib, os, signal, sys
from jumok.picture import progress

progress.PATIENCE_S = 0.0  # a fast machine would show no bar
place, call = sys.argv[1], int(sys.argv[2])
module, names = place.split(":")
*owners, name = names.split(".")
owner = importlib.import_module(module)
for one in owners:
    owner = getattr(owner, one)
real, calls = getattr(owner, name), 0


def pressed(*arguments, **options):
    global calls
    calls += 1
    if calls == call:
        os.kill(os.getpid(), signal.SIGINT)
    return real(*arguments, **options)


setattr(owner, name, pressed)
del sys.argv[1:3]
from jumok.__main__ import main

main()
"""


def interrupted(place, call, *arguments, columns=80):
    """Its exit code, and its screen. Ctrl-C is pressed when ``place``, module:name, is called for the ``call``-th time."""
    leader, follower = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns), "PYTHONUTF8": "1", **ONE_THREAD}
    command = [sys.executable, "-c", PRESSED, place, str(call), *arguments]
    with subprocess.Popen(
        command, stdin=follower, stdout=follower, stderr=follower, env=env, close_fds=True
    ) as process:
        os.close(follower)
        screen, began = b"", time.monotonic()
        while time.monotonic() - began < 120:
            if select.select([leader], [], [], 0.2)[0]:
                try:
                    screen += os.read(leader, 65536)
                except OSError:  # the other end is closed
                    break
        try:
            code = process.wait(60)
        finally:
            process.kill()
    os.close(leader)
    return code, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.decode("utf-8", "replace")).replace("\r", "")
