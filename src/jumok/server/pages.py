"""Pages: HTML that carries, as JSON, what ``served.js`` draws from. No script stands in it; texts are escaped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from ..picture.page import json_script
from ..words import LANGS, shown

__all__ = ["POLICY", "STATIC", "Program", "html", "lang_of", "programs", "refused", "title_in"]

STATIC = Path(__file__).parents[1] / "picture" / "static"

# Programs from here (and from a blob: a second program that travels as text), pictures made in the page, nothing from elsewhere.
POLICY = (
    "default-src 'none'; script-src 'self' blob:; style-src 'unsafe-inline'; img-src 'self' data: blob:; worker-src blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
NO_SCRIPT = {
    "en": "This page computes attention while you look, so it needs JavaScript.",
    "ko": "이 페이지는 어텐션을 보는 동안 계산하므로 JavaScript가 필요합니다.",
}
PLAIN = (
    "body { font: 16px/1.6 system-ui, 'Apple SD Gothic Neo', 'Malgun Gothic', 'Noto Sans KR', sans-serif; "
    "max-width: 40rem; margin: 4rem auto; padding: 0 1rem; word-break: keep-all; } h1 { font-size: 1.2rem; }"
)
TITLES = {
    "start": ("jumok 주목", "주목 jumok"),
    "lessons": ("lessons", "레슨"),
    "text": ("a text for the model", "모델에게 읽힐 글"),
}


class Program:
    """A program of the page, and the tag by which a browser asks whether it has changed."""

    def __init__(self, path: Path) -> None:
        self.data = path.read_bytes()
        self.tag = f'"{hashlib.sha256(self.data).hexdigest()[:32]}"'


def programs() -> dict[str, Program]:
    """All programs, by name."""
    return {path.name: Program(path) for path in sorted(STATIC.glob("*.js"))}


def lang_of(asked: str | None, kept: str | None, accepted: str, otherwise: str) -> str:
    """The language of a page: asked for, chosen before, or what the browser prefers.

    >>> lang_of(None, None, "fr, ko-KR;q=0.8, en;q=0.5", "en"), lang_of("en", "ko", "ko", "ko")
    ('ko', 'en')
    """
    for said in (asked, kept):
        if said in LANGS:
            return said
    prefers = [(_weight(part), part.split("-")[0].split(";")[0].strip().lower()) for part in accepted.split(",")[:20]]
    known = [(weight, name) for weight, name in prefers if name in LANGS and weight > 0]
    return max(known, key=lambda one: one[0])[1] if known else otherwise


def _weight(part: str) -> float:
    _, _, said = part.partition("q=")
    try:
        return float(said) if said else 1.0
    except ValueError:
        return 0.0


def title_in(title: Any, lang: str) -> str:
    """A title in a language; "" where there is none."""
    said = title.get(lang) if isinstance(title, Mapping) else title
    return shown(said) if isinstance(said, str) and said else ""


def html(page: Mapping[str, Any], lang: str) -> Iterator[str]:
    """A page in pieces. page : ``view``, ``title`` and what the view is drawn from; see ``served.js``."""
    titles = TITLES.get(page["view"])
    title = title_in(page.get("title"), lang) or (titles[LANGS.index(lang)] if titles else "jumok 주목")
    yield from _head(title, lang)
    plain = {name: value for name, value in page.items() if name not in ("body", "measured")}
    yield '<div id="served" data-session="/api/session"></div>\n'
    yield json_script("id", "jumok-served", json.dumps({**plain, "lang": lang}, allow_nan=False))
    yield from _own(page, lang)
    yield '<script type="module" src="/static/served.js"></script>\n</body>\n</html>\n'


def _head(title: str, lang: str) -> Iterator[str]:
    yield f'<!doctype html>\n<html lang="{lang}">\n<head>\n<meta charset="utf-8">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'  # else a browser asks for one
    yield f"<title>{escape(title)}</title>\n</head>\n<body>\n"
    yield from (f'<noscript><p lang="{one}">{escape(NO_SCRIPT[one])}</p></noscript>\n' for one in LANGS)


def _own(page: Mapping[str, Any], lang: str) -> Iterator[str]:
    """What a page without a record shows: costs as they are, measured heads by their own program."""
    if "body" in page:
        yield page["body"][lang]
    if "measured" in page:
        opening = {"view": {"lang": lang}, "title": None}
        yield f'<div id="jumok-page"></div>\n{json_script("id", "jumok-model", json.dumps(opening))}'
        yield f'<script type="text/plain" id="jumok-measured">{page["measured"]}</script>\n'
        yield '<script type="module" src="/static/measured.js"></script>\n'


REFUSED_STYLE = (
    "body { font: 16px/1.55 system-ui, -apple-system, 'Apple SD Gothic Neo', 'Malgun Gothic', 'Noto Sans KR', sans-serif; "
    "max-width: 42rem; margin: 3rem auto; padding: 0 1rem; background: Canvas; color: CanvasText; word-break: keep-all; }"
)
HOME = {"en": "To the start page", "ko": "시작 페이지로"}


def refused(en: str, ko: str, lang: str) -> str:
    """The page of a request that is not answered, in both languages, the reader's first."""
    texts = {"en": en[:1].upper() + en[1:], "ko": ko}
    said = "".join(f'<p lang="{one}">{escape(texts[one])}</p>\n' for one in sorted(LANGS, key=lambda one: one != lang))
    home = f'<p><a href="/">{HOME[lang]}</a></p>\n'
    head = "".join(_head("jumok 주목", lang)).replace("</head>", f"<style>{REFUSED_STYLE}</style>\n</head>")
    return f"{head}<main>\n{said}{home}</main>\n</body>\n</html>\n"
