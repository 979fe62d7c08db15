#!/usr/bin/env python3
"""Everything that jumok must pass, in one command: ``python3 run_tests.py``.

The first run makes a virtual environment of its own, ``.venv-test``, with what the tests need in the
versions of constraints.txt. With arguments, pytest alone runs and gets them: ``python3 run_tests.py -k softmax``.
"""

import importlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from run import ROOT, Trouble, environment, say  # refuses a Python that is too old


def main(arguments: Sequence[str]) -> int:
    """Run every check, or pytest alone with these arguments; 0 when all pass."""
    try:
        install_missing_venv()
        python = environment(".venv-test", "test", "constraints.txt", takes=("a few minutes", "몇 분"))
    except Trouble as trouble:
        say(trouble.en, trouble.ko)
        return 1
    chosen = {"tests": [str(python), "-m", "pytest", *arguments]} if arguments else checks(python)
    results = {name: passes(name, command) for name, command in chosen.items()}
    failed = [name for name, good in results.items() if not good]
    print("\nrun_tests:", f"FAILED: {', '.join(failed)}" if failed else f"all good: {', '.join(results)}", flush=True)
    return 1 if failed else 0


def checks(python: Path) -> dict[str, list[str]]:
    """Each check's name and command, in the order in which they run."""
    tool = [str(python), "-m"]
    return {
        "lint": [*tool, "ruff", "check", "."],
        "format": [*tool, "ruff", "format", "--check", "."],
        "types": [*tool, "mypy"],
        "the README's first command": [sys.executable, str(ROOT / "run.py"), "attend", "student"],
        # the page's own tests (its build, then a browser) will stand here
        "tests": [*tool, "pytest"],  # last, so that its closing line is near the end
    }


def passes(name: str, command: Sequence[str]) -> bool:
    """Whether a command succeeds; what it prints goes where ours goes."""
    print(f"\n--- {name}", flush=True)
    start = time.monotonic()
    good = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, check=False).returncode == 0
    print(f"--- {name}: {'good' if good else 'FAILED'} ({time.monotonic() - start:.0f} s)", flush=True)
    return good


def install_missing_venv() -> None:
    """On a Debian machine of our own (a fresh container, CI): Python's venv, which Debian packs apart."""
    try:
        import ensurepip  # noqa: F401
    except ImportError:
        system_packages(f"python3.{sys.version_info[1]}-venv")
        importlib.invalidate_caches()


def system_packages(*names: str) -> None:
    """Install Debian packages where that is possible without asking anybody; elsewhere do nothing."""
    if shutil.which("apt-get") and getattr(os, "geteuid", lambda: 1)() == 0:
        unasked = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (["update"], ["install", "--yes", *names]):
            subprocess.run(["apt-get", "-qq", *command], stdout=sys.stderr, env=unasked, check=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
