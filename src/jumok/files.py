"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from .errors import OutputError

__all__ = ["write_whole"]


def write_whole(path: str | os.PathLike[str], write: Callable[[str], object]) -> Path:
    """Let ``write`` fill a new file beside ``path``, then put it in the place of the old one at once.

    An interruption at any moment leaves the old file as it was. A link keeps pointing where it did;
    a device such as ``/dev/stdout`` is written directly.

    Errors: ``OutputError`` where the path cannot be written.
    """
    try:
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise IsADirectoryError("it is a folder")
        if target.exists() and not target.is_file():
            write(str(target))
        else:
            _replace(target, write)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise OutputError(
            en=f"cannot write {path}: {reason}. Try another path, or make the folder first.",
            ko=f"{path}에 쓸 수 없습니다: {reason}. 다른 경로를 쓰거나 폴더를 먼저 만드십시오.",
        ) from error
    return Path(path)


def _replace(target: Path, write: Callable[[str], object]) -> None:
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
