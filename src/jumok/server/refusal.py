"""What the server refuses, with the status of HTTP that says so; and how it is sent, in both languages."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from starlette.responses import Response

from ..errors import InputError, JumokError, MissingExtra, OutputError, system_reason

__all__ = ["Refusal", "answer", "failed", "no_such", "plain", "status_of", "unkept"]


NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
SAID_NO_ROOM = re.compile(r"no space left|os error 28\b|disk quota exceeded", re.IGNORECASE)  # without a number


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


def unkept(error: BaseException) -> Refusal | None:
    """What a visitor is told of a disk that took nothing more, without a word of where; None for any other error.

    The error itself, with its path, is printed for whoever runs the server.
    """
    numbers = [number for one in _under(error) if (number := getattr(one, "errno", None)) is not None]
    is_full = not {*NO_ROOM}.isdisjoint(numbers) or any(SAID_NO_ROOM.search(str(one)) for one in _under(error))
    if not is_full and not isinstance(error, OutputError):
        return None
    print(f"jumok serve: {error}", file=sys.stderr)  # noqa: T201 (the server's own log)
    if is_full:
        return Refusal(
            507,
            en="The disk of this server is full, so this could not be kept. What was kept before is still there. Whoever runs "
            "the server has to make room.",
            ko="이 서버의 디스크가 가득 차서 저장하지 못했습니다. 전에 저장한 것은 남아 있습니다. 서버를 돌리는 사람이 공간을 비워야 합니다.",
        )
    en, ko = system_reason(OSError(numbers[0], os.strerror(numbers[0]))) if numbers else ("", "")
    return Refusal(
        507,
        en=f"This server could not write what was made{f' ({en})' if en else ''}. Whoever runs it can see the reason in its log.",
        ko=f"이 서버가 결과를 쓸 수 없습니다{f'({ko})' if ko else ''}. 서버를 돌리는 사람이 서버 기록에서 까닭을 볼 수 있습니다.",
    )


def _under(error: BaseException | None) -> Iterator[BaseException]:
    """An error, what it came from, and so on."""
    while error is not None:
        yield error
        error = error.__cause__


def no_such() -> Refusal:
    """What is said of anything that is not there, or is not for this visitor."""
    return Refusal(404, en="there is nothing here by that name.", ko="그런 이름의 것이 여기에 없습니다.")


def answer(error: JumokError, headers: Mapping[str, str] | None = None) -> Response:
    """The refusal as JSON."""
    body = json.dumps({"error": plain(error)}, ensure_ascii=False).encode("utf-8", "backslashreplace")
    return Response(body, status_of(error), dict(headers or {}), "application/json")
