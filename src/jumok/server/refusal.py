"""What the server refuses, with the status of HTTP that says so; and how it is sent, in both languages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from ..errors import InputError, JumokError, MissingExtra, OutputError

__all__ = ["Refusal", "answer", "failed", "no_such", "plain", "status_of"]


class Refusal(JumokError):
    """A request that is not answered; ``status`` is HTTP's."""

    def __init__(self, status: int, *, en: str, ko: str) -> None:
        super().__init__(en=en, ko=ko)
        self.status = status


def status_of(error: JumokError) -> int:
    """Whose fault it is, as HTTP has it."""
    if isinstance(error, Refusal):
        return error.status
    if isinstance(error, InputError):
        return 422
    return 501 if isinstance(error, MissingExtra) else 507 if isinstance(error, OutputError) else 500


def plain(error: JumokError) -> dict[str, str]:
    """The message in both languages."""
    return {"en": error.en, "ko": error.ko}


def failed(told: Any, status: int = 500) -> Refusal:
    """A refusal that came from another process, as plain JSON."""
    texts = told if isinstance(told, Mapping) else {}
    en, ko = texts.get("en") or "Something went wrong on the server.", texts.get("ko") or "서버에서 문제가 생겼습니다."
    return Refusal(status, en=str(en), ko=str(ko))


def no_such() -> Refusal:
    """What is said of anything that is not there, or is not for this visitor."""
    return Refusal(404, en="there is nothing here by that name.", ko="그런 이름의 것이 여기에 없습니다.")


def answer(error: JumokError, headers: Mapping[str, str] | None = None) -> Response:
    """The refusal as JSON."""
    body = json.dumps({"error": plain(error)}, ensure_ascii=False).encode("utf-8", "backslashreplace")
    return Response(body, status_of(error), dict(headers or {}), "application/json")
