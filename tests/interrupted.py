"""A command at a terminal of 80 columns, interrupted once it shows how far it is."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def interrupted(when, *arguments):
    """Its exit code, and its screen. when : what is to be seen, as a pattern of bytes, before Ctrl-C is pressed"""
    leader, follower = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "PYTHONUTF8": "1", **ONE_THREAD}
    command = [sys.executable, "-m", "jumok", *arguments]
    with subprocess.Popen(
        command, stdin=follower, stdout=follower, stderr=follower, env=env, close_fds=True
    ) as process:
        os.close(follower)
        screen, is_stopped, began = b"", False, time.monotonic()
        while time.monotonic() - began < 120:
            if select.select([leader], [], [], 0.2)[0]:
                try:
                    screen += os.read(leader, 65536)
                except OSError:  # the other end is closed
                    break
            if not is_stopped and re.search(when, screen):
                process.send_signal(signal.SIGINT)
                is_stopped = True
        code = process.wait(60)
    os.close(leader)
    return code, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.decode("utf-8", "replace")).replace("\r", "")
