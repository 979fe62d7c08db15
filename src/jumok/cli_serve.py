"""``jumok serve``: the page with a live Python behind it, until Ctrl-C."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import cli
from .errors import InputError

if TYPE_CHECKING:
    from .server.serving import Started

__all__ = ["run_server"]

LAST_PORT = 65_535


def run_server(lang: str, files: Sequence[str], asked: Mapping[str, Any]) -> None:
    """Serve, and say where.

    lang : of what is printed; pages begin in it only where somebody asked for it by --lang;  asked : the other options, as texts
    """
    from .server.serving import PORT, serve

    def opened(started: Started) -> None:
        cli._say(cli._("serve_at", lang, url=started.url))
        sys.stdout.flush()
        if asked["port"] is None and f":{PORT}/" not in started.url:
            cli._tell(cli._("serve_other", lang, port=PORT))
        cli._tell(cli._("serve_kept", lang, work=started.work))
        if asked["open"]:
            import webbrowser

            webbrowser.open(started.url)

    def prepares(name: str) -> None:
        cli._tell(cli._("serve_prepares", lang, name=name))

    options = {name: asked[name] for name in ("model", "corpus", "host", "work", "allow_code")}
    pages = lang if cli._is_lang_asked() else None
    serve(files, port=_port(asked["port"]), lang=pages, opened=opened, prepares=prepares, **options)


def _port(text: str | None) -> int | None:
    if text is None:
        return None
    port = cli._whole("--port", text)
    if port > LAST_PORT:
        raise InputError(
            en=f"--port expects 0 (a free one) to {LAST_PORT}, got {port}.",
            ko=f"--port에는 0(비어 있는 것)부터 {LAST_PORT}까지 쓸 수 있는데 {port}이(가) 왔습니다.",
        )
    return port
