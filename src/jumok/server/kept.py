"""Pages as they are kept: a folder with ``page.json`` and the documents, ``0.safetensors`` and so on, that it shows.

``page.json`` is written last: where it is, all of it is. Workers write such folders, the server reads them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..files import write_whole
from .refusal import Refusal

if TYPE_CHECKING:
    from ..picture.packed import Packed

__all__ = ["PAGE", "document", "is_kept", "keep", "page_of", "write_json"]

PAGE = "page.json"


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


def page_of(folder: Path) -> dict[str, Any]:
    """What ``keep`` wrote. Errors: ``OSError`` where nothing is kept, ``Refusal`` where it was damaged since."""
    try:
        page: dict[str, Any] = json.loads((folder / PAGE).read_bytes())
    except (ValueError, RecursionError):
        raise Refusal(
            500,
            en="What was kept of this page is damaged. Delete the job, and start it again.",
            ko="저장해 둔 이 페이지의 파일이 손상되었습니다. 작업을 지우고 다시 시작하십시오.",
        ) from None
    return page
