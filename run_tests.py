#!/usr/bin/env python3
"""Everything that jumok must pass, in one command: ``python3 run_tests.py``.

The first run makes a virtual environment of its own, ``.venv-test``, with what the tests need in the
versions of constraints.txt, and brings the front end's packages (npm) and, on a Debian machine of our own, a
browser and fonts. With arguments, pytest alone runs and gets them: ``python3 run_tests.py -k softmax``.
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

FRONTEND = ROOT / "frontend"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OLDEST_NODE = 20
HANGING = "faulthandler_timeout=300"  # seconds of one test, after which it tells where it is; drills run by hand may take longer
WORKERS = max(2, os.cpu_count() or 2)  # a file of tests to each at a time; two even on one core: some tests mostly wait


def main(arguments: Sequence[str]) -> int:
    """Run every check, or pytest alone with these arguments; 0 when all pass."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # each of a thousand processes would compile jumok anew
    try:
        install_missing_venv()
        python = environment(".venv-test", "test", "constraints.txt", takes=("a few minutes", "몇 분"))
        npm = front_end_packages()
        install_missing_browser()
    except Trouble as trouble:
        say(trouble.en, trouble.ko)
        return 1
    chosen = {"tests": [str(python), "-m", "pytest", *arguments]} if arguments else checks(python, npm)
    results = {name: passes(name, command) for name, command in chosen.items()}
    failed = [name for name, good in results.items() if not good]
    print("\nrun_tests:", f"FAILED: {', '.join(failed)}" if failed else f"all good: {', '.join(results)}", flush=True)
    return 1 if failed else 0


def checks(python: Path, npm: str) -> dict[str, list[str]]:
    """Each check's name and command, in the order in which they run."""
    tool = [str(python), "-m"]
    front = [npm, "--prefix", str(FRONTEND), "run", "--silent"]
    return {
        "lint": [*tool, "ruff", "check", "."],
        "format": [*tool, "ruff", "format", "--check", "."],
        "types": [*tool, "mypy"],
        "the front end's types": [*front, "check"],
        "the committed bundle is what its sources make": [*front, "same"],
        "the README's first command": [sys.executable, str(ROOT / "run.py"), "attend", "student"],
        "starting costs little": [str(python), "benchmarks/start_up.py", "--check"],  # while nothing else runs
        # last: its end is the end of all
        "tests": [*tool, "pytest", f"--numprocesses={WORKERS}", "--dist=loadfile", "-o", HANGING],
    }


def passes(name: str, command: Sequence[str]) -> bool:
    """Whether a command succeeds; what it prints goes where ours goes."""
    print(f"\n--- {name}", flush=True)
    start = time.monotonic()
    good = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, check=False).returncode == 0
    print(f"--- {name}: {'good' if good else 'FAILED'} ({time.monotonic() - start:.0f} s)", flush=True)
    return good


def front_end_packages() -> str:
    """Bring what the front end is built and tested with, as its lock file says, unless it is there; npm's path."""
    node, npm = shutil.which("node"), shutil.which("npm")
    found = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout if node else "none"
    major = found.strip().removeprefix("v").partition(".")[0]
    if npm is None or not major.isdigit() or int(major) < OLDEST_NODE:
        raise Trouble(
            f"The tests need Node {OLDEST_NODE} or newer with npm; found: {found.strip()}. Install it, then run this again.",
            f"테스트에는 Node {OLDEST_NODE} 이상과 npm이 필요합니다(찾은 것: {found.strip()}). 설치하고 다시 실행하십시오.",
        )
    made_from = (FRONTEND / "package-lock.json").read_bytes() + found.encode()
    marker = FRONTEND / "node_modules" / ".made-from"
    if not marker.exists() or marker.read_bytes() != made_from:
        say("Bringing the front end's packages (npm ci) …", "프런트엔드 패키지를 설치합니다 (npm ci) …")
        if subprocess.run([npm, "ci", "--silent"], cwd=FRONTEND, stdin=subprocess.DEVNULL, check=False).returncode:
            raise Trouble(
                "npm ci failed in frontend/; its words are above. Check the network, then run this again.",
                "frontend/에서 npm ci가 실패했습니다. 위의 출력과 네트워크를 확인하고 다시 실행하십시오.",
            )
        marker.write_bytes(made_from)
    return npm


def install_missing_browser() -> None:
    """On a Debian machine of our own: a browser for the page's tests, and fonts with Hangul for what they look at."""
    if not any(map(shutil.which, BROWSERS)):
        system_packages("chromium", "fonts-noto-cjk", "fonts-nanum")
    if not any(map(shutil.which, BROWSERS)):
        raise Trouble(
            f"The page's tests need a browser: one of {', '.join(BROWSERS)}. Install it, then run this again.",
            f"페이지 테스트에는 브라우저({', '.join(BROWSERS)} 중 하나)가 필요합니다. 설치하고 다시 실행하십시오.",
        )


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
