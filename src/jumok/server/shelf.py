"""The shelf: pages that everybody sees, of examples, files and lessons, made once and kept; and the documents of all pages."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .. import __version__
from ..sources.example import names as packaged_examples
from .kept import is_kept, page_of
from .lanes import Lane, Task
from .limits import ANSWER_S
from .pages import programs
from .refusal import no_such

__all__ = ["Given", "Shelf"]

FILE_S = 3600.0  # a large reading is packed once, when the server starts


@dataclass(frozen=True)
class Given:
    """What the server is started with.

    files : name → path of what it shows besides what is packaged;  examples : those of them that are example files
    work : the folder in which everything is kept
    """

    files: Mapping[str, Path]
    examples: Mapping[str, Path]
    model: str | None
    corpus: Path | None
    work: Path
    allow_code: bool
    lang: str


class Shelf:
    """What can be looked at without having made it.

    lanes : who makes the pages;  prepares : called with the name of a file whose page is made, which may take long
    catalogue : what there is to choose from: examples, files, lessons, tasks
    """

    def __init__(self, given: Given, lanes: Mapping[str, Lane], prepares: Callable[[str], None]) -> None:
        self.given, self.lanes, self.prepares = given, lanes, prepares
        self.folder = given.work / "shared"
        self.programs = programs()
        self.edition = f"{__version__} {_newest(Path(__file__).parents[1])}"
        self.catalogue: dict[str, Any] = {}
        self._making: dict[str, asyncio.Future[Any]] = {}

    async def fill(self) -> None:
        """Look at what was given, then list all there is. Errors: ``Refusal`` for a file that cannot be shown."""
        examples, files = await self._look_at_given()
        self.catalogue = {**await self._catalogued(), "files": files}
        self.catalogue["examples"] = examples + self.catalogue["examples"]  # one's own first
        await asyncio.to_thread(self._tidy)

    async def _catalogued(self) -> dict[str, Any]:
        """What there is to choose from; it takes seconds to make, and is kept."""
        folder = self.folder / self._key("catalogue", "")
        if not is_kept(folder):
            await self._asked("quick", "catalogue", {"into": str(folder)}, FILE_S)
        found = await asyncio.to_thread(page_of, folder)
        return found if find_spec("torch") else {**found, "tasks": []}

    async def _look_at_given(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Examples and files as they are listed; their pages are made, so that what is wrong is said before anybody comes."""
        examples = [(name, await self.page("example", name)) for name in self.given.examples]
        files = [(name, await self.page("file", name)) for name in self.given.files]
        return (
            [{"name": name, "title": page["title"] or name} for name, page in examples],
            [{"name": name, "title": page["title"] or name, "kind": page["kind"]} for name, page in files],
        )

    def _tidy(self) -> None:
        """Take away shared pages of other files, or of an earlier version."""
        keys = {self._key("catalogue", "")} | {self._key("file", name) for name in self.given.files}
        keys |= {self._key("example", name) for name in self._examples()}
        keys |= {self._key("lesson", name) for name in self._lessons()}
        for old in self.folder.iterdir():
            if old.name not in keys:
                shutil.rmtree(old, ignore_errors=True)

    def _examples(self) -> list[str]:
        return [*packaged_examples(), *self.given.examples]

    def _key(self, kind: str, name: str) -> str:
        """What a shared page's folder is called: another one, where jumok or the file is another."""
        path = {**self.given.examples, **self.given.files}.get(name) if kind in ("example", "file") else None
        changed = ""
        with contextlib.suppress(OSError):
            found = path.stat() if path is not None else None
            changed = "" if found is None else f"{path} {found.st_mtime_ns} {found.st_size}"
        told = f"jumok page {self.edition} {kind} {name} {changed} {self.given.allow_code}"
        return hashlib.sha256(told.encode("utf-8", "backslashreplace")).hexdigest()[:24]

    async def page(self, kind: str, name: str) -> dict[str, Any]:
        """The page of an example, a file or a lesson; made when it is first wanted.

        Errors: ``Refusal`` where there is none of that name, or it cannot be shown.
        """
        known = {"example": self._examples, "file": lambda: list(self.given.files), "lesson": self._lessons}[kind]()
        if name not in known:
            raise no_such()
        key = self._key(kind, name)
        if not is_kept(self.folder / key):
            await self._made(kind, name, key)
        return self.addressed(await asyncio.to_thread(page_of, self.folder / key), key)

    def _lessons(self) -> list[str]:
        return [str(one["number"]) for one in self.catalogue["lessons"]]

    async def _made(self, kind: str, name: str, key: str) -> None:
        """Make a shared page, once for all who want it at the same time."""
        if key in self._making:
            await asyncio.shield(self._making[key])
            return
        if kind == "file":
            self.prepares(name)
        path = {**self.given.examples, **self.given.files}.get(name, name)
        asked = {"into": str(self.folder / key), "name": str(path), "called": name, "checker": self.given.allow_code}
        asked |= {"number": int(name)} if kind == "lesson" else {}
        lane, seconds = ("heavy", FILE_S) if kind == "file" else ("quick", ANSWER_S)
        self._making[key] = asyncio.ensure_future(self._asked(lane, kind, asked, seconds))
        try:
            await asyncio.shield(self._making[key])
        finally:
            self._making.pop(key, None)

    async def _asked(self, lane: str, kind: str, asked: Mapping[str, Any], seconds: float) -> Any:
        """Work that is for everybody: it waits as a visitor of its own."""
        task = Task("", kind, asked, seconds)
        await self.lanes[lane].put(task)
        return await task.done

    def addressed(self, page: dict[str, Any], key: str) -> dict[str, Any]:
        """A page as it was kept in the folder ``key``, with the addresses of its documents, and the programs of now."""
        n = page.pop("n_documents")
        if "model" in page:
            page["model"] |= {"comparison": None, "cuts": []}
        if "extension" in page.get("model", ()):  # as it is now, which fits the first program
            page["model"]["extension"] = self.programs[page["model"]["extension"]].data.decode()
        return {**page, "documents": [f"/data/{key}-{at}" for at in range(n)]}


def _newest(package: Path) -> int:
    """When the newest file of jumok itself was written: pages that older ones made are made anew."""
    kinds = (".py", ".yaml", ".md", ".safetensors")
    return max(file.stat().st_mtime_ns for file in package.rglob("*") if file.suffix in kinds)
