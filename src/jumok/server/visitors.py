"""Visitors: a random cookie each, and a folder that nobody can guess or name."""

from __future__ import annotations

import hashlib
import re
import secrets
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from .limits import DISK_BYTES, FOLDER_BYTES
from .refusal import Refusal

__all__ = ["COOKIE", "folder_of", "folder_size", "name_of", "refuse_full", "remember"]

COOKIE = "jumok_visitor"
YEAR_S = 365 * 86_400


def name_of(request: Request) -> str:
    """What a visitor's folder is called: a hash, so that who sees the folders cannot be that visitor.

    A visitor without a cookie, or with one that is none of ours, gets a new one with the answer (``remember``).
    """
    said = request.cookies.get(COOKIE, "")
    if not re.fullmatch("[0-9a-f]{32}", said):
        if not hasattr(request.state, "new_visitor"):
            request.state.new_visitor = secrets.token_hex(16)
        said = request.state.new_visitor
    return hashlib.sha256(f"jumok visitor {said}".encode()).hexdigest()[:32]


def remember(request: Request, response: Response) -> None:
    """Give a new visitor the cookie; no script can read it, and no other site sends it."""
    said = getattr(request.state, "new_visitor", None)
    if said is not None:
        response.set_cookie(COOKIE, said, max_age=YEAR_S, path="/", httponly=True, samesite="strict")


def folder_of(work: Path, visitor: str) -> Path:
    """Where what a visitor made is kept."""
    return work / "visitors" / visitor


def folder_size(folder: Path) -> int:
    """The bytes in a folder."""
    total = 0
    for file in folder.rglob("*"):
        try:
            total += 0 if file.is_symlink() else file.stat().st_size
        except OSError:  # it went away meanwhile
            continue
    return total


def refuse_full(work: Path, visitor: str, free_bytes: int) -> None:
    """Refuse to begin something new where there is no room for it. Errors: ``Refusal``."""
    if free_bytes < DISK_BYTES:
        raise Refusal(
            507,
            en="The disk of this server is almost full. What is there is kept; whoever runs the server has to make room.",
            ko="이 서버의 디스크가 거의 찼습니다. 저장된 것은 남아 있습니다. 서버를 돌리는 사람이 공간을 비워야 합니다.",
        )
    if folder_size(folder_of(work, visitor)) > FOLDER_BYTES:
        raise Refusal(
            507,
            en=f"What you made takes more than {FOLDER_BYTES / 1e9:.0f} GB. Delete some of it first.",
            ko=f"지금까지 만든 것이 {FOLDER_BYTES / 1e9:.0f} GB를 넘습니다. 먼저 몇 가지를 지우십시오.",
        )
