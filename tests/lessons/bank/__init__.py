"""A bank of attention as learners write it, each with what is wrong in it; written without sight of the checker.

A half is a folder of learners' files, ``numpy_code/`` or ``torch_code/``, and beside it the table of what they are:
``numpy_entries.py`` or ``torch_entries.py`` with ``ENTRIES``, a tuple of ``Entry``. The folders are neither linted nor
formatted nor collected: learners write as they like.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Entry:
    """One implementation: ``function`` (or class) in the file ``path`` below this folder, and what is wrong in it."""

    path: str  # "numpy_code/heads_loop.py": says nothing of the mistake, for the checker reads it too
    function: str
    mistakes: tuple[str, ...] = ()  # ids of docs/check.md: none, one or two
    kind: str | None = None  # only where the form cannot be told without it
    status: str | None = None  # of a right one: "right" or "right-differently" where only one is fair, else either
    note: str = ""  # how it is written, or why it is what it is declared to be

    @property
    def name(self) -> str:
        """A short name for the test and the lists: numpy_code/heads_loop:attention."""
        return f"{self.path.removesuffix('.py')}:{self.function}"

    @property
    def where(self) -> str:
        """What ``jumok.check`` takes: the file's full path and the function."""
        return f"{HERE / self.path}:{self.function}"

    @property
    def right(self) -> bool:
        """Whether nothing is wrong in it."""
        return not self.mistakes


def entries() -> tuple[Entry, ...]:
    """Every entry of both halves."""
    tables = sorted(file.stem for file in HERE.glob("*_entries.py"))
    return tuple(entry for table in tables for entry in import_module(f"{__name__}.{table}").ENTRIES)
