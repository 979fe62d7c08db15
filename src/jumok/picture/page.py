"""The page: one HTML file with everything in it, which opens from disk and asks nothing of any network.

>>> import numpy as np
>>> from jumok.trace import Trace
>>> one = np.ones((1, 2, 1))
>>> text = "".join(html(Trace(tokens=["</script>", "b"], q=one, k=one, v=one)))
>>> "</script>b" in text, text.startswith("<!doctype html>")
(False, True)
"""

from __future__ import annotations

import base64
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, TextIO

from ..errors import TooLargeError
from ..files import write_whole
from ..trace import Reading, Trace
from ..words import LANGS, language, shown
from .packed import SIZE_LIMIT, SMALL_BYTES, Packed, Storage, Values, least_bytes, pack

__all__ = ["BUNDLE", "SIZE_LIMIT", "framed", "html", "json_script", "refuse_beyond", "write", "write_pieces"]

BUNDLE = Path(__file__).parent / "static" / "jumok.js"
NOTICES = Path(__file__).parent / "static" / "jumok.js.LICENSES.txt"  # they go wherever a copy of the program goes

# Scripts and styles that stand in the file (a blob is the program, unpacked), pictures made there, nothing from elsewhere.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; img-src data: blob:; "
    "worker-src blob:; base-uri 'none'; form-action 'none'"
)
NO_SCRIPT = {
    "en": "This page computes attention while you look, so it needs JavaScript. It asks nothing of any network.",
    "ko": "이 페이지는 어텐션을 보는 동안 계산하므로 JavaScript가 필요합니다. 네트워크에는 아무것도 요청하지 않습니다.",
}

Shown = Trace | Reading | Packed


def write(path: str | os.PathLike[str], documents: Shown | Sequence[Shown], **options: Any) -> Path:
    """Write the page whole or not at all; the options are those of ``html``.

    Errors: ``OutputError`` where the path cannot be written, and what ``html`` refuses.
    """
    return write_pieces(path, html(documents, **options))


def write_pieces(path: str | os.PathLike[str], pieces: Iterable[str]) -> Path:
    """Write a page from its pieces, whole or not at all.

    Errors: ``OutputError`` where the path cannot be written.
    """

    def written(name: str) -> None:
        file: TextIO
        with open(name, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(pieces)

    return write_whole(path, written)


def html(
    documents: Shown | Sequence[Shown],
    *,
    comparison: Mapping[str, Any] | None = None,
    cuts: Sequence[Mapping[str, Any]] = (),
    extra: Mapping[str, Any] | None = None,
    view: Mapping[str, Any] | None = None,
    lang: str = "en",
    title: str | Mapping[str, str] | None = None,
    values: Values = None,
    storage: Storage = None,
    size_limit: int | None = SIZE_LIMIT,
) -> Iterator[str]:
    """The page of one or two documents, in pieces.

    comparison : which token of the first stands for which of the second, {"pairs": [[0, 0], …]}
    cuts : what models do without some of their weights, as ``cuts.carried`` gives it
    extra : what the page's model holds besides, such as a second program: see ``learned.carried``
    view : what is chosen when it opens: {"layer": 3, "head": 8, "query": 5, …}
    title : one text, or one a language; None for the document's own
    values, storage : as in ``packed.pack``
    size_limit : bytes of the file, at most; None for any

    Errors: ``TooLargeError`` beyond the limit, ``UnknownName`` for another language, and what ``pack`` refuses.
    """
    language(lang)
    given = [documents] if isinstance(documents, Trace | Reading | Packed) else list(documents)
    bytes_least = sum(one.n_bytes if isinstance(one, Packed) else least_bytes(one, values, storage) for one in given)
    refuse_beyond(size_limit, bytes_least)
    made = [one if isinstance(one, Packed) else pack(one, values, storage) for one in given]
    refuse_beyond(size_limit, sum(one.n_bytes for one in made))
    named = dict.fromkeys(LANGS, title) if isinstance(title, str) else title and dict(title)
    model = {"comparison": comparison, "cuts": list(cuts), "view": {**(view or {}), "lang": lang}, "title": named}
    model |= {} if extra is None else dict(extra)
    return framed(_pieces(made, model), lang, _title(title, made, lang), BUNDLE)


def framed(
    body: Iterable[str], lang: str, title: str, program: Path, no_script: Mapping[str, str] = NO_SCRIPT
) -> Iterator[str]:
    """A whole page in pieces: ``body`` is what its program draws from.

    no_script : what is said where no program runs, in each language
    """
    yield f'<!doctype html>\n<html lang="{lang}">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f'<meta name="color-scheme" content="light dark">\n<title>{escape(title)}</title>\n</head>\n<body>\n'
    yield from (f'<noscript><p lang="{one}">{escape(no_script[one])}</p></noscript>\n' for one in no_script)
    yield from body
    notices = f"/*\n{NOTICES.read_text(encoding='utf-8')}*/\n"
    yield f'<script type="module">\n{notices}{_text_of(program)}</script>\n</body>\n</html>\n'


def _pieces(made: Sequence[Packed], model: Mapping[str, Any]) -> Iterator[str]:
    yield from (_early(at, document) for at, document in enumerate(made) if _by_layer(document))
    yield f'<div id="jumok-page"></div>\n{json_script("id", "jumok-model", json.dumps(model, allow_nan=False))}'
    for at, document in enumerate(made):
        header = _without_atlas(document.header) if _by_layer(document) else document.header
        yield json_script("data-jumok-header", "by-layer" if _by_layer(document) else "whole", header)
        yield from _blocks(at, document)


def _by_layer(document: Packed) -> bool:
    return bool(document.atlas) and document.n_bytes > SMALL_BYTES


def _blocks(at: int, document: Packed) -> Iterator[str]:
    """The bytes, in one element, or in one a layer where there are many: each is decoded when it is looked at."""
    blocks = {f'data-document="{at}" data-layer="{layer}"': data for layer, data in enumerate(document.layers)}
    if not _by_layer(document):
        blocks = {f'data-document="{at}"': b"".join(document.layers)}
    for attributes, data in blocks.items():
        yield f'<script type="text/plain" {attributes}>'
        yield base64.b64encode(data).decode("ascii")
        yield "</script>\n"


def _early(at: int, document: Packed) -> str:
    """The thumbnails, seen while the rest of a large file is still read; then the page draws its own from them."""
    style = "image-rendering:pixelated;max-width:100%"
    return f'<img data-jumok-atlas="{at}" alt="" style="{style}" src="{document.atlas["png"]}">\n'


def _without_atlas(header: str) -> str:
    """The header without its picture, which stands in the page already."""
    plain = json.loads(header)
    page = json.loads(plain["__metadata__"]["page"])
    page["atlas"]["png"] = None
    plain["__metadata__"]["page"] = json.dumps(page, ensure_ascii=False)
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def json_script(attribute: str, value: str, text: str) -> str:
    """JSON in a script element. Inside JSON "<" stands in strings only, so that an escape says the same."""
    escaped = text.replace("<", "\\u003c")
    return f'<script type="application/json" {attribute}="{value}">{escaped}</script>\n'


def _text_of(program: Path) -> str:
    """A program, as it may stand in a script element: what would end the element stands in its texts only."""
    return re.sub("<(?=/script|!--)", r"\\x3c", program.read_text(encoding="utf-8"), flags=re.IGNORECASE)


def _title(title: str | Mapping[str, str] | None, made: Sequence[Packed], lang: str) -> str:
    said = title or next((document.title for document in made if document.title), None) or "jumok 주목"
    return shown(said if isinstance(said, str) else str(said.get(lang) or next(iter(said.values()))))


def refuse_beyond(
    size_limit: int | None,
    n_bytes: int,
    instead: str = "Choose fewer layers (Reading(reading[:6])), v for fewer layers (values=[0]), a shorter text, or a higher size_limit=.",
    instead_ko: str = "층을 줄이거나(Reading(reading[:6])), 밸류를 담을 층을 줄이거나(values=[0]), 더 짧은 글을 쓰거나, size_limit=을 높이십시오.",
) -> None:
    """Refuse a page whose data, as text, would be beyond a limit. Errors: ``TooLargeError``."""
    size = math.ceil(n_bytes / 3) * 4
    if size_limit is None or size <= size_limit:
        return
    most = f"{size_limit / 1e6:,.1f} MB"
    raise TooLargeError(
        en=f"the page would take {size / 1e6:,.1f} MB, more than {most}. {instead}",
        ko=f"페이지의 크기가 {size / 1e6:,.1f} MB로 한도 {most}를 넘습니다. {instead_ko}",
        bytes_needed=size,
    )
