"""What a learner has done: a line of JSON for each thing, added at once and never rewritten.

Two programs can add at the same time, and one that is killed while it writes loses at most its own last line.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..errors import InputError, OutputError, system_reason
from ..files import write_whole

__all__ = ["Done", "Progress", "data_folder"]

FORMAT = "jumok-progress"
HOWS = ("read", "right", "guessed", "seen")
MOST_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True)
class Done:
    """One thing that was done.

    lesson : its name;  id : of the block, or the number of the element that was read, as "@12"
    how : "right"; "guessed" (a prediction that was not right); "seen" (the answer was shown); "read"
    when : in UTC
    """

    lesson: str
    id: str
    how: str
    when: str


def data_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Where jumok keeps what belongs to a person: ``JUMOK_HOME``, else the system's place for it."""
    environ = os.environ if environ is None else environ
    if environ.get("JUMOK_HOME"):
        return Path(environ["JUMOK_HOME"])
    if sys.platform == "win32" and environ.get("LOCALAPPDATA"):
        return Path(environ["LOCALAPPDATA"]) / "jumok"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "jumok"
    return Path(environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "jumok"


class Progress:
    """The file in which it stands, ``progress.jsonl`` in a folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self.path = (data_folder() if folder is None else folder) / "progress.jsonl"

    def add(self, lesson: str, id: str, how: str) -> None:
        """Add one thing. Errors: ``OutputError`` where the file cannot be written."""
        self._append([Done(lesson, id, how, datetime.now(UTC).isoformat(timespec="seconds"))])

    def done(self, lesson: str | None = None) -> list[Done]:
        """Everything that was done, in order, of one lesson or of all; a line that is not whole is left out."""
        try:
            with open(self.path, "rb") as file:
                data = file.read(MOST_BYTES)
        except OSError:
            return []
        found = (_done(line) for line in data.split(b"\n"))
        return [one for one in found if one is not None and lesson in (None, one.lesson)]

    def right(self) -> set[tuple[str, str]]:
        """(lesson, block) of everything that was done right."""
        return {(one.lesson, one.id) for one in self.done() if one.how == "right"}

    def finished(self) -> set[tuple[str, str]]:
        """(lesson, block) of everything that is done: what was right, and every guess, for that is done once it is made."""
        return {(one.lesson, one.id) for one in self.done() if one.how in ("right", "guessed")}

    def at(self, lesson: str) -> int:
        """How many elements of a lesson are behind its reader."""
        places = [int(one.id[1:]) for one in self.done(lesson) if one.how == "read" and one.id[1:].isdigit()]
        return places[-1] if places else 0

    def export(self, path: str | os.PathLike[str]) -> Path:
        """Write everything as one JSON file, whole or not at all."""
        plain = {"format": FORMAT, "version": 1, "done": [asdict(one) for one in self.done()]}
        data = (json.dumps(plain, ensure_ascii=False, indent=1) + "\n").encode("utf-8")
        return write_whole(path, lambda name: Path(name).write_bytes(data))

    def bring(self, path: str | os.PathLike[str]) -> int:
        """Add what an exported file holds and is not here yet; how much that was. The page exports the same form.

        Errors: ``InputError`` for another file.
        """
        new = [one for one in _exported(path) if one not in set(self.done())]
        self._append(new)
        return len(new)

    def reset(self) -> Path | None:
        """Forget everything; where it can be brought back from, or None where there was nothing."""
        if not self.path.exists():
            return None
        kept = self.export(self.path.with_name("forgotten.json"))
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise _unwritable(self.path, error) from error
        return kept

    def _append(self, many: Iterable[Done]) -> None:
        text = "".join(json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in many)
        if not text:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
            try:
                data = (_missing_end(handle) + text).encode("utf-8")
                if os.write(handle, data) < len(data):  # one write: lines do not mix
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise _unwritable(self.path, error) from error


def _missing_end(handle: int) -> str:
    """A line's end, where a program was killed before it wrote one."""
    if os.lseek(handle, 0, os.SEEK_END) == 0:
        return ""
    os.lseek(handle, -1, os.SEEK_END)
    return "" if os.read(handle, 1) == b"\n" else "\n"


def _done(line: bytes) -> Done | None:
    try:
        return _from_json(json.loads(line))
    except (ValueError, RecursionError):
        return None


def _from_json(plain: Any) -> Done | None:
    names = ("lesson", "id", "how", "when")
    fits = isinstance(plain, dict) and all(isinstance(plain.get(name), str) for name in names)
    return Done(*(plain[name] for name in names)) if fits and plain["how"] in HOWS else None


def _exported(path: str | os.PathLike[str]) -> Iterator[Done]:
    try:
        with open(path, encoding="utf-8") as file:
            plain = json.loads(file.read(MOST_BYTES))
    except FileNotFoundError:
        raise InputError(en=f"there is no file {path}.", ko=f"{path} 파일이 없습니다.") from None
    except (OSError, ValueError, RecursionError):
        plain = None
    if not isinstance(plain, dict) or plain.get("format") != FORMAT or not isinstance(plain.get("done"), list):
        raise InputError(
            en=f"{path} holds no exported progress; jumok lesson --progress -o my.json writes one.",
            ko=f"{path}은(는) 내보낸 진도 파일이 아닙니다. jumok lesson --progress -o my.json으로 만듭니다.",
        )
    yield from (one for one in map(_from_json, plain["done"]) if one is not None)


def _unwritable(path: Path, error: OSError) -> OutputError:
    en, ko = system_reason(error)
    return OutputError(
        en=f"cannot keep what you did in {path}: {en}. Try another folder: JUMOK_HOME=…",
        ko=f"{path}에 진도를 남길 수 없습니다: {ko}. 다른 폴더를 쓰십시오: JUMOK_HOME=…",
    )
