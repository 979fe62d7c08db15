#!/usr/bin/env python3
"""Run jumok from this checkout: ``python3 run.py attend student --lang ko``.

The first run makes a private virtual environment, ``.venv``, and installs jumok with its command line
there. Later runs only look whether anything it was made from has changed: pyproject.toml, this
Python, the place of this folder. All words about setting up go to stderr; stdout is jumok's alone.

``python3 run.py --with learn,models`` brings extras of pyproject.toml besides (PyTorch and so on), from then on.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 (so this file keeps to syntax that Python 3.6 can read)
    have = sys.version.split()[0]
    sys.exit(
        f"jumok needs Python 3.11 or newer; this is {have}. Install a newer one and name it: python3.13 {sys.argv[0]}\n"
        f"jumok에는 Python 3.11 이상이 필요한데, 지금은 {have}입니다. "
        f"새 Python을 설치하고 이름으로 실행하십시오: python3.13 {sys.argv[0]}"
    )

import contextlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent
EXTRAS = ("cli", "design", "picture", "serve")
WITH = "with.txt"  # in the environment's folder: extras that were asked for besides
MARKER = "made-by-jumok.txt"  # what an environment was made from, word for word; empty while it is being made
ASTRAY = ("PYTHONHOME", "PYTHONPATH", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER")  # where pip must not be led
NO_NETWORK = re.compile(
    r"NewConnectionError|NameResolutionError|getaddrinfo|name resolution|Name or service not known|Connection refused"
    r"|ConnectTimeout|ReadTimeout|ProxyError|Max retries|Network is unreachable|Could not fetch URL|from versions: none"
)


class Trouble(Exception):
    """What keeps an environment from being made, and what to try, in English and Korean."""

    def __init__(self, en: str, ko: str) -> None:
        super().__init__(en)
        self.en = en
        self.ko = ko


def main(arguments: Sequence[str]) -> int:
    """Run jumok with these arguments; its exit code."""
    try:
        more, arguments = _more(arguments)
    except Trouble as trouble:
        say(trouble.en, trouble.ko)
        return 2
    takes = ("some minutes", "몇 분") if more else ("about a minute", "1분쯤")
    try:
        python = environment(".venv", ",".join((*EXTRAS, *more)), takes=takes)
        if more:
            _write(ROOT / ".venv" / WITH, ",".join(more))
    except Trouble as trouble:
        say(trouble.en, trouble.ko)
        return 1
    os.environ.setdefault("JUMOK_CALLED", "python3 run.py")  # how to call it, for what it says to try next
    return become([str(python), "-P", "-m", "jumok", *arguments])


def _more(arguments: Sequence[str]) -> tuple[list[str], Sequence[str]]:
    """(extras besides the usual, of now and of before; the arguments without --with). Errors: ``Trouble``."""
    kept = [name for name in _read(ROOT / ".venv" / WITH).split(",") if name]
    asked = []
    if arguments and (arguments[0] == "--with" or arguments[0].startswith("--with=")):
        _, joined, value = arguments[0].partition("=")
        if not joined:
            value, arguments = "".join(arguments[1:2]), arguments[1:]
        arguments = arguments[1:]
        asked = [name.strip() for name in value.split(",")]
        known = sorted(_extras() - {"test"})
        if not set(asked) <= set(known):
            raise Trouble(
                f"--with expects some of {', '.join(known)}, separated by commas; got {value!r}.",
                f"--with에는 {', '.join(known)} 가운데 몇을 쉼표로 이어 쓰는데 {value!r}이(가) 왔습니다.",
            )
    return [name for name in dict.fromkeys((*kept, *asked)) if name not in EXTRAS], arguments


def _extras() -> set[str]:
    import tomllib

    return set(tomllib.loads(_read(ROOT / "pyproject.toml"))["project"]["optional-dependencies"])


def environment(folder_name: str, extra: str, constraints: str = "", takes: tuple[str, str] = ("", "")) -> Path:
    """The Python of a virtual environment in this checkout that holds jumok with an extra; made if need be."""
    folder = ROOT / folder_name
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    made_from = _made_from(extra, constraints)

    def ready() -> bool:
        return _read(folder / MARKER) == made_from and python.exists()

    if not ready():
        try:
            with _alone():
                if not ready():  # another run may have made it while this one waited
                    say(f"Setting up jumok in {folder} (once, {takes[0]}) …", f"처음 한 번 설치합니다 ({takes[1]}) …")
                    _make(folder, python, extra, constraints)
                    _write(folder / MARKER, made_from)
        except OSError as error:
            raise Trouble(
                f"Could not set up {folder}: {error}. Check free space and permissions, then run this again.",
                f"{folder}에 설치하지 못했습니다: {error}. 남은 공간과 권한을 확인하고 다시 실행하십시오.",
            ) from error
        except KeyboardInterrupt:
            raise Trouble(
                "Stopped. Run this again to start over.", "멈췄습니다. 다시 실행하면 처음부터 합니다."
            ) from None
    return python


def say(en: str, ko: str) -> None:
    """A message for the person at the keyboard, in both languages, on stderr."""
    print(en, ko, sep="\n", file=sys.stderr, flush=True)


def become(command: Sequence[str]) -> int:
    """Let a command take this process's place, with its terminal, pipes and exit code."""
    if os.name != "nt":
        os.execv(command[0], tuple(command))
    import subprocess  # Windows' exec returns to the shell too early

    with subprocess.Popen(command) as child:
        while True:
            with contextlib.suppress(KeyboardInterrupt):  # the child got it as well and decides
                return child.wait()


def _made_from(extra: str, constraints: str) -> str:
    real_python = str(Path(_base_python()).resolve())  # one Python has many names
    parts = [f"Python {sys.version}", real_python, str(ROOT), extra]
    parts += [_read(ROOT / name) for name in ("pyproject.toml", constraints) if name]
    return "\n".join(parts)


def _base_python() -> str:
    """The Python itself, also when this runs in somebody's virtual environment."""
    return str(getattr(sys, "_base_executable", None) or sys.executable)


def _make(folder: Path, python: Path, extra: str, constraints: str) -> None:
    try:
        import ensurepip  # noqa: F401 (Debian packs it apart from Python)
        import venv  # noqa: F401
    except ImportError as error:
        package = f"python3.{sys.version_info[1]}-venv"
        raise Trouble(
            f"This Python cannot make virtual environments ({error}). On Debian or Ubuntu: sudo apt install {package}",
            f"이 Python은 가상 환경을 만들 수 없습니다 ({error}). Debian·Ubuntu에서는: sudo apt install {package}",
        ) from error
    _empty(folder)
    _do([_base_python(), "-m", "venv", str(folder)])
    limits = ["--constraint", constraints] if constraints else []
    quiet = ["--quiet", "--no-input", "--disable-pip-version-check", "--no-warn-script-location"]
    _do([str(python), "-m", "pip", "install", *quiet, *limits, "--editable", f".[{extra}]"])
    _point_at_src(folder)


def _empty(folder: Path) -> None:
    """Nothing in the folder but an empty marker; whoever is interrupted from here on starts over."""
    marker = folder / MARKER
    if folder.exists() and any(folder.iterdir()) and not marker.exists():
        raise Trouble(
            f"{folder} is there already and is not jumok's. Move it away, then run this again.",
            f"{folder}이(가) 이미 있는데 jumok이 만든 것이 아닙니다. 다른 곳으로 옮기고 다시 실행하십시오.",
        )
    folder.mkdir(exist_ok=True)
    _write(marker, "")
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry != marker:
            entry.unlink()


def _point_at_src(folder: Path) -> None:
    """Name src by a relative path: Python before 3.13 reads .pth files in the locale's encoding, and
    on a Korean Windows an absolute path with Hangul in UTF-8 would keep Python from starting at all.
    """
    for path_file in folder.glob("**/site-packages/*jumok*.pth"):
        path_file.write_text(os.path.relpath(ROOT / "src", path_file.parent) + "\n", encoding="ascii")


def _do(command: Sequence[str]) -> None:
    """Run one step of the set-up; what it prints is shown only when it fails."""
    import subprocess

    done = subprocess.run(
        command,
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name not in ASTRAY} | {"PYTHONUTF8": "1"},
        check=False,
        close_fds=False,  # see _alone
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode == 0:
        return
    lines = done.stdout.splitlines()
    reasons = [line.strip() for line in lines if NO_NETWORK.search(line)]
    if reasons:
        print(reasons[-1], file=sys.stderr)
        raise Trouble(
            "The Python packages that jumok needs could not be fetched. Check the network (or pip's proxy and "
            "index settings), then run this again.",
            "jumok에 필요한 Python 패키지를 내려받지 못했습니다. 네트워크(또는 pip의 프록시·인덱스 설정)를 확인하고 "
            "다시 실행하십시오.",
        )
    print(*lines[-25:], sep="\n", file=sys.stderr)
    raise Trouble(
        f"Setting up failed at: {' '.join(command)}\nIts last words are above. Run this again to start over.",
        "설치가 위의 단계에서 실패했습니다. 위 출력을 확인하고 다시 실행하면 처음부터 설치합니다.",
    )


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """One set-up at a time: a lock on this file. The system takes it back from a killed process, but not
    before the step that it had begun has ended too: steps inherit the lock.
    """
    with open(__file__, "rb") as file:
        os.set_inheritable(file.fileno(), True)
        if not _locked(file, wait=False):
            say("Another run is setting up; waiting for it …", "다른 실행이 설치하고 있어 기다립니다 …")
            _locked(file, wait=True)
        yield


def _locked(file: IO[bytes], wait: bool) -> bool:
    """Whether the lock was had; a file system without locks counts as one."""
    if sys.platform == "win32":
        import msvcrt

        file.seek(1 << 30)  # a byte that is not there, so that nobody is kept from reading
        for _ in range(60 if wait else 1):
            with contextlib.suppress(OSError):
                msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)  # waits ten seconds
                return True
        return False
    else:  # noqa: RET505 (type checkers look at one system at a time)
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError as error:
            return not isinstance(error, BlockingIOError)
        return True


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return ""


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="surrogateescape")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
