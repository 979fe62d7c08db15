"""A file of which a part may be asked for, as HTTP has it: a long reading opens at its header, then brings a layer at a time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from starlette.responses import Response, StreamingResponse

from .refusal import Refusal, answer

__all__ = ["part_of", "ranged"]

PIECE = 256 * 1024


def ranged(file: Path, tag: str, headers: Mapping[str, str]) -> Response:
    """The file, or the part that was asked for. tag : its ETag, with the quotes"""
    size = file.stat().st_size
    said = {"etag": tag, "accept-ranges": "bytes", "cache-control": "private, no-cache"}
    kind = "application/octet-stream"
    if tag in (one.strip() for one in headers.get("if-none-match", "").split(",")) and "range" not in headers:
        return Response(status_code=304, headers=said)
    part = part_of(headers.get("range", ""), size) if headers.get("if-range", tag) == tag else None
    if part is None:
        said["content-length"] = str(size)
        return StreamingResponse(_pieces(file, 0, size), 200, said, kind)
    start, end = part
    if start >= end:
        error = Refusal(
            416,
            en=f"this file has {size:,} bytes, and what was asked for lies behind its end.",
            ko=f"이 파일은 {size:,}바이트인데 그 뒤를 요청했습니다.",
        )
        return answer(error, {"content-range": f"bytes */{size}"})
    said |= {"content-range": f"bytes {start}-{end - 1}/{size}", "content-length": str(end - start)}
    return StreamingResponse(_pieces(file, start, end), 206, said, kind)


def part_of(said: str, size: int) -> tuple[int, int] | None:
    """Start and end of what a Range header asks for; None where all is to be sent: no range, several, or one that is none.

    >>> part_of("bytes=0-9", 100), part_of("bytes=90-", 100), part_of("bytes=-5", 100), part_of("bytes=1-2,5-6", 100)
    ((0, 10), (90, 100), (95, 100), None)
    """
    found = re.fullmatch(r"bytes=\s*([0-9]{0,18})-([0-9]{0,18})\s*", said, re.ASCII)
    if found is None or not (found[1] or found[2]):
        return None
    if not found[1]:
        return max(0, size - int(found[2])), size if int(found[2]) else 0
    start, end = int(found[1]), int(found[2]) + 1 if found[2] else size
    return None if end <= start and found[2] else (start, min(end, size))


async def _pieces(file: Path, start: int, end: int) -> AsyncIterator[bytes]:
    with await asyncio.to_thread(file.open, "rb") as opened:
        opened.seek(start)
        while start < end:
            piece = await asyncio.to_thread(opened.read, min(PIECE, end - start))
            if not piece:  # shorter than a moment ago: the reader sees that something is missing
                return
            start += len(piece)
            yield piece
