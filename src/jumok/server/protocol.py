"""HTTP with deadlines: a client that sends or reads too slowly, or has gone without a word, is let go.

uvicorn closes an idle connection between two requests, but waits without end for a header, a body, or somebody who reads.
"""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from .limits import BODY_S, CONNECTIONS, DISCARDED_BYTES, HEADER_S, WRITE_S
from .safety import HEADERS

import h11  # isort: skip (uvicorn's own)

__all__ = ["Deadlines"]

SAFE = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
UNREAD = {
    "en": "this is no HTTP request that can be read, or its head is too large.",
    "ko": "읽을 수 있는 HTTP 요청이 아니거나, 머리 부분이 너무 큽니다.",
}
LATE = {
    "en": "this request did not come to its end in time.",
    "ko": "요청이 제때 끝까지 오지 않았습니다.",
}


class Deadlines(H11Protocol):
    """uvicorn's protocol, with a clock for each thing that it waits for."""

    _clock: asyncio.TimerHandle | None = None
    _reader: asyncio.TimerHandle | None = None
    _waits_for: tuple[str, Any] | None = None
    _discarded = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for the first request."""
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS:
            transport.abort()
            return
        _notice_silence(transport.get_extra_info("socket"))
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        for clock in (self._clock, self._reader):
            if clock is not None:
                clock.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, and see what is waited for now."""
        if self._is_refused_body():
            self._discarded += len(data)
            if self._discarded > DISCARDED_BYTES:
                self.transport.abort()
                return
        super().data_received(data)
        self._watch()

    def _is_refused_body(self) -> bool:
        """Whether what comes belongs to a request that was answered before it was read."""
        return self.cycle is not None and self.cycle.response_complete and self.cycle.more_body

    def on_response_complete(self) -> None:
        """uvicorn waits for the next request; the rest of this one has its time."""
        super().on_response_complete()
        self._watch()

    def _watch(self) -> None:
        """Set the clock for what is waited for; it runs on while that stays the same."""
        waits = self._waiting()
        if waits == self._waits_for:
            return
        if self._clock is not None:
            self._clock.cancel()
        self._waits_for = waits
        seconds = {"header": HEADER_S, "body": BODY_S, "": 0.0}[waits[0]]
        self._clock = self.loop.call_later(seconds, self._too_late) if seconds else None

    def _waiting(self) -> tuple[str, Any]:
        if self.cycle is not None and self.cycle.more_body:
            return "body", self.cycle
        if self.cycle is None or self.cycle.response_complete:
            is_begun = self.cycle is None or bool(self.conn.trailing_data[0])
            return ("header" if is_begun else "", self.cycle)
        return "", self.cycle

    def _too_late(self) -> None:
        """Say so where nothing was said yet, and let go."""
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            self._refuse(408, b"Request Timeout", LATE)
        else:
            self.transport.abort()

    # somebody who does not read -------------------------------------------------------------------

    def pause_writing(self) -> None:
        """What was sent is not taken."""
        super().pause_writing()
        if self._reader is None:
            self._reader = self.loop.call_later(WRITE_S, self._is_gone)

    def resume_writing(self) -> None:
        """It was taken."""
        super().resume_writing()
        if self._reader is not None:
            self._reader.cancel()
            self._reader = None

    def _is_gone(self) -> None:
        if not self.transport.is_closing():
            self.transport.abort()

    # what is said without the application ---------------------------------------------------------

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 (as uvicorn calls it)
        """What cannot be read is refused as everything is: in JSON, in both languages."""
        self._refuse(400, b"Bad Request", UNREAD)

    def _refuse(self, status: int, reason: bytes, texts: dict[str, str]) -> None:
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        body = json.dumps({"error": texts}, ensure_ascii=False).encode()
        length = str(len(body)).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", length),
            (b"connection", b"close"),
            *SAFE,
        ]
        response = h11.Response(status_code=status, headers=headers, reason=reason)
        for event in (response, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True  # what the application says to the beginning of it comes too late
            self.cycle.message_event.set()
        self.transport.close()


def _notice_silence(sock: Any) -> None:
    """Let the system find out that the other side is gone, where it can."""
    if sock is None or sock.family not in (socket.AF_INET, socket.AF_INET6):
        return
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    seconds = {"TCP_KEEPIDLE": 20, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": int(WRITE_S * 1000)}
    for name, value in seconds.items():
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
