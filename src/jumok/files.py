"""Files: those that travel in the package, and writing one whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from .errors import JumokError, OutputError, system_reason

__all__ = ["is_file", "packaged_readings", "refuse_nameless", "refuse_unwritable", "write_whole"]

STALE_S = 86_400  # a file that is not yet whole after a day was left behind

_NO_FOLDER = (
    ("there is no such folder. Make it first, or try another path", "그런 폴더가 없습니다. 폴더를 먼저 만들거나 다른 경로를 쓰십시오"),
    ("a part of the path is a file, not a folder. Try another path", "경로의 일부가 폴더가 아니라 파일입니다. 다른 경로를 쓰십시오"),
)  # fmt: skip
_NOT_ALLOWED = (
    "permission denied. Try a folder of your own, or have its permissions changed",
    "쓰기 권한이 없습니다. 쓸 수 있는 폴더를 고르거나 권한을 바꾸십시오",
)
_FULL = (
    "there is no space left. Make room, or try another disk",
    "남은 공간이 없습니다. 공간을 비우거나 다른 디스크에 쓰십시오",
)
_REASONS = {  # what went wrong, and what to do about it
    errno.EISDIR: (
        "it is a folder. Give the name of a file, such as one in that folder",
        "폴더입니다. 파일 이름을 쓰십시오. 그 폴더 안의 파일도 됩니다",
    ),
    errno.ENOENT: _NO_FOLDER[0],
    errno.ENOTDIR: _NO_FOLDER[1],
    errno.EACCES: _NOT_ALLOWED,
    errno.EPERM: _NOT_ALLOWED,
    errno.EROFS: (
        "this disk can only be read. Try a path on another one",
        "읽기 전용 디스크입니다. 다른 디스크에 쓰십시오",
    ),
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: ("the file grows larger than is allowed here. Try another disk", "파일이 이곳의 한도보다 커집니다. 다른 디스크에 쓰십시오"),
    errno.ENAMETOOLONG: ("the name is too long. Try a shorter one", "이름이 너무 깁니다. 더 짧은 이름을 쓰십시오"),
}  # fmt: skip


def is_file(path: str | os.PathLike[str]) -> bool:
    """Whether a file of that name is there; a name that no file can have is none."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def packaged_readings() -> dict[str, Path]:
    """Readings of a real model, and steps of a training, that travel in the package: name → file.

    >>> sorted(packaged_readings())
    ['learned-0', 'learned-1200', 'learned-20', 'learned-5', 'minilm-soft', 'minilm-tired']
    """
    return {path.stem: path for path in sorted(Path(__file__).with_name("readings").glob("*.safetensors"))}


def write_whole(path: str | os.PathLike[str], write: Callable[[str], object]) -> Path:
    """Let ``write`` fill a new file beside ``path``, then put it in the place of the old one at once.

    An interruption at any moment leaves the old file as it was. A link keeps pointing where it did; a device
    such as ``/dev/stdout`` is written directly. What counts is the folder's permission: a read-only file in a
    folder that can be written to is replaced, and the new one is read-only again.

    Errors: ``OutputError`` where the path cannot be written.
    """
    refuse_nameless(path)
    try:
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if target.exists() and not target.is_file():
            write(str(target))
        else:
            _replace(target, write)
    except JumokError:
        raise
    except (OSError, ValueError) as error:
        en, ko = _reason(error)
        raise OutputError(en=f"cannot write {path}: {en}.", ko=f"{path}에 쓸 수 없습니다: {ko}.") from error
    return Path(path)


class _Enough(Exception):
    """A place can be written to."""


def refuse_unwritable(path: str | os.PathLike[str]) -> None:
    """Refuse, before work that may be long, what could not be written at its end. Nothing is changed.

    Errors: ``OutputError`` where the path cannot be written.
    """

    def enough(_name: str) -> None:
        raise _Enough

    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file() and not target.is_dir():
        return  # a device or a pipe
    try:
        write_whole(path, enough)
    except _Enough:
        return


def refuse_nameless(path: str | os.PathLike[str]) -> None:
    """Refuse what names no file: a text without letters, or with one that no name can have."""
    name = os.fspath(path)
    if not name or "\0" in name:
        raise OutputError(
            en=f"a file's name is needed, got {name!r}. Try one such as 'student.html'.",
            ko=f"파일 이름이 필요한데 {name!r}이(가) 왔습니다. 예: 'student.html'.",
        )


def _reason(error: OSError | ValueError) -> tuple[str, str]:
    """Why it cannot be written and what to try, in English and Korean."""
    if isinstance(error, OSError) and error.errno in _REASONS:
        return _REASONS[error.errno]
    en, ko = system_reason(error)
    return f"{en}. Try another path", f"{ko}. 다른 경로를 쓰십시오"


def _replace(target: Path, write: Callable[[str], object]) -> None:
    _sweep(target.parent)
    handle, name = tempfile.mkstemp(prefix=".jumok-", suffix=".part", dir=target.parent)
    os.close(handle)
    try:
        write(name)
        _sync(name)
        os.chmod(name, _mode(target))
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _sweep(folder: Path) -> None:
    """Take away what writing left behind that was killed: no file is written for a day."""
    for left in folder.glob(".jumok-*.part"):
        try:
            if time.time() - left.stat().st_mtime > STALE_S:
                left.unlink()
        except OSError:  # another process was faster, or it is not ours to take away
            continue


def _sync(name: str) -> None:
    with open(name, "rb+") as file:
        os.fsync(file.fileno())


def _mode(target: Path) -> int:
    """The old file's permissions; for a new file, what the user's umask gives."""
    if target.exists():
        return target.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
