"""Where things lie on the server's machine, which no visitor is told: of a path in an error's text its last name is left."""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from .shelf import Given

__all__ = ["Places"]


class Places:
    """The files and folders that this server reads and writes.

    >>> given = Given({"run": Path("/srv/my runs/run.safetensors")}, {}, None, None, Path("/srv/work"), False, "en")
    >>> Places(given).hidden("cannot read /srv/my runs/run.safetensors, nor '/srv/work/visitors/a/job.json'.")
    "cannot read run.safetensors, nor 'job.json'."
    """

    def __init__(self, given: Given) -> None:
        own = [*given.files.values(), *given.examples.values(), given.corpus, Path(given.model or "")]
        files = [path for path in own if path is not None and path != Path(path.name)]
        around = [given.work, *(path.parent for path in files), *_of_machine()]
        names = {spelled for path in (*files, *around) for spelled in _spelled(path)}
        known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        self._known = re.compile(rf"(?:{known})(?![\w-])(?:[/\\]+[^\s'\"`,;:()<>]*)?")

    def hidden(self, text: str) -> str:
        """A text without what leads to its files."""
        return self._known.sub(lambda found: _last(found[0]), text)

    def plain(self, texts: Mapping[str, str]) -> dict[str, str]:
        """As ``hidden``, in every language."""
        return {lang: self.hidden(text) for lang, text in texts.items()}


def _of_machine() -> Iterator[Path]:
    """Where programs and people keep things."""
    yield from (Path(tempfile.gettempdir()), Path(sys.prefix), Path(__file__).parents[2])
    with contextlib.suppress(RuntimeError):  # a user without a home
        yield Path.home()


def _spelled(path: Path) -> set[str]:
    """A path as it was given, and without links; as ``repr`` doubles what Windows puts between names. None of a root."""
    names = {str(one) for one in (path, path.absolute(), path.resolve()) if len(one.parts) > 1}
    return names | {repr(name)[1:-1] for name in names}


def _last(path: str) -> str:
    """The last name in a path; a full stop at its end is the sentence's."""
    name = path.rstrip("/\\.")
    return re.split(r"[/\\]+", name)[-1] + path[len(path.rstrip(".")) :]
