"""Pages as they are kept: a folder with ``page.json`` and the documents, ``0.safetensors`` and so on, that it shows.

``page.json`` is written last: where it is, all of it is. Workers write such folders, the server reads them.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..files import write_whole
from .refusal import Refusal

if TYPE_CHECKING:
    from ..picture.packed import Packed

__all__ = [
    "PAGE", "ROOM_BYTES", "document", "is_kept", "keep", "page_of", "release", "set_aside", "whole_page", "write_json",
]  # fmt: skip

PAGE = "page.json"
ROOM = "room"
ROOM_BYTES = 8 * 10**6  # the page of the longest training that a visitor may ask for takes half of it


def document(folder: Path, at: int) -> Path:
    """The file of one of a page's documents."""
    return folder / f"{at}.safetensors"


def is_kept(folder: Path) -> bool:
    """Whether there is a whole page."""
    return (folder / PAGE).is_file()


def keep(folder: Path, page: Mapping[str, Any], documents: Sequence[Packed] = ()) -> None:
    """Write a page and its documents, each whole or not at all.

    Errors: ``OutputError`` where the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for at, packed in enumerate(documents):
        write_whole(document(folder, at), lambda name, packed=packed: _write(name, packed))  # type: ignore[misc]
    title = next((one.title for one in documents if one.title), None)
    write_json(folder / PAGE, {"title": title, **page, "n_documents": len(documents)})


def _write(name: str, packed: Packed) -> None:
    with Path(name).open("wb") as file:
        file.writelines(packed.file())


def write_json(path: Path, plain: Mapping[str, Any]) -> None:
    """Plain JSON, whole or not at all. Errors: ``OutputError``."""
    data = json.dumps(plain, ensure_ascii=True, allow_nan=False).encode()
    write_whole(path, lambda name: Path(name).write_bytes(data))


def set_aside(folder: Path) -> None:
    """Take the room that a page will need, so that it can be written on a disk that is full by then (``release``).

    Errors: ``OutputError`` where there is none.
    """
    if not (folder / ROOM).is_file():
        write_whole(folder / ROOM, lambda name: Path(name).write_bytes(bytes(ROOM_BYTES)))


def release(folder: Path) -> None:
    """Give the room back, for the page."""
    with contextlib.suppress(OSError):
        (folder / ROOM).unlink()


def page_of(folder: Path) -> dict[str, Any]:
    """What ``keep`` wrote. Errors: ``OSError`` where nothing is kept, ``Refusal`` where it was damaged since."""
    page = _read(folder)
    if page is None:
        raise Refusal(
            500,
            en="What was kept of this page is damaged. Delete the job, and start it again.",
            ko="저장해 둔 이 페이지의 파일이 손상되었습니다. 작업을 지우고 다시 시작하십시오.",
        )
    return page


def whole_page(folder: Path) -> dict[str, Any] | None:
    """A page that is kept with all its documents; None where one of them is missing or damaged."""
    try:
        page = _read(folder)
        files = [] if page is None else [document(folder, at) for at in range(page["n_documents"])]
        return page if page is not None and "view" in page and all(map(_is_whole, files)) else None
    except OSError:
        return None


def _read(folder: Path) -> dict[str, Any] | None:
    """A page's JSON; None where it is none of a page. Errors: ``OSError`` where there is no file."""
    data = (folder / PAGE).read_bytes()
    try:
        page = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return page if isinstance(page, dict) and type(page.get("n_documents")) is int else None


def _is_whole(file: Path) -> bool:
    """Whether a document has the length that its head says."""
    with file.open("rb") as read:
        n_head = int.from_bytes(read.read(8), "little")
        size = os.fstat(read.fileno()).st_size
        if not 0 < n_head <= size - 8:
            return False
        try:
            head = json.loads(read.read(n_head))
            ends = [one["data_offsets"][1] for name, one in head.items() if name != "__metadata__"]
            return bool(8 + n_head + max(ends, default=0) == size)
        except (ValueError, RecursionError, AttributeError, KeyError, TypeError, IndexError):
            return False
