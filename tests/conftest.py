"""What every test can use: no looking away, the array libraries, and the same draws on every CI run."""

from __future__ import annotations

import os
import signal

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # a shell's background job and its children: Ctrl-C would be pressed in vain
    signal.signal(signal.SIGINT, signal.default_int_handler)

if "PYTEST_XDIST_WORKER" in os.environ:  # a worker has a core: threads of two workers would wait for each other
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

from hypothesis import settings

import axes_check
from libraries import library as library

pytest_plugins = ["skip_policy"]

axes_check.switch_on()

settings.register_profile("here", deadline=None)  # a busy machine is not a mistake
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")
