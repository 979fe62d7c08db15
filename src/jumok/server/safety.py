"""Who may ask: the name that was asked for, where a request comes from, the token, how large it is. Before any route.

A page elsewhere can send requests here, and a name that its owner points at this machine can be asked for (DNS rebinding);
neither may read or change anything.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import JumokError
from .limits import BODY_BYTES, HEADER_BYTES
from .pages import POLICY, lang_of, refused
from .refusal import Refusal, answer, status_of

__all__ = ["Access", "Safety", "is_loopback", "said"]

TOKEN_COOKIE = "jumok_token"  # noqa: S105 (a name)
LANG_COOKIE = "jumok_lang"
READS = ("GET", "HEAD")
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


@dataclass(frozen=True)
class Access:
    """How the server may be reached.

    host : the address that it is bound to;  token : that who asks must know, None on loopback
    lang : of the pages of those who say none;  is_lang_asked : True where whoever started the server asked for it: then what a
        browser prefers does not count, and neither does what was chosen while another one counted
    """

    host: str
    token: str | None
    lang: str
    is_lang_asked: bool = False

    @property
    def lang_cookie(self) -> str:
        """Where a browser keeps the language that its reader chose."""
        return f"{LANG_COOKIE}_{self.lang}" if self.is_lang_asked else LANG_COOKIE

    def lang_of(self, request: Request) -> str:
        """The language in which a request is answered."""
        accepted = "" if self.is_lang_asked else request.headers.get("accept-language", "")
        return lang_of(request.query_params.get("lang"), request.cookies.get(self.lang_cookie), accepted, self.lang)

    def serves(self, name: str) -> bool:
        """Whether a request may call this server so. A number cannot be pointed elsewhere by a stranger's name server."""
        if name == "localhost" or is_loopback(name):
            return True
        if self.token is None:
            return False
        own = {self.host.lower(), socket.gethostname().lower(), f"{socket.gethostname().lower()}.local"}
        return name in own or _is_number(name)

    def knows(self, said: str) -> bool:
        """Whether this is the token, as somebody may type it: in capitals, without hyphens, with spaces.

        A token has small letters only, and its hyphens stand in fixed places, so that it is no easier to guess. It takes as
        long whatever is said.
        """
        return self.token is None or hmac.compare_digest(_hash(_typed(said)), _hash(_typed(self.token)))


def _typed(said: str) -> str:
    return re.sub(r"[\s\u2010-\u2015_-]+", "", said).lower()


def _hash(said: str) -> bytes:
    return hashlib.sha256(said.encode("utf-8", "replace")).digest()


def is_loopback(name: str) -> bool:
    """Whether only this machine reaches the address."""
    return name == "localhost" or (_is_number(name) and ipaddress.ip_address(name).is_loopback)


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Safety:
    """The first thing that sees a request, and the last that sees its answer."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        if scope["type"] != "http":  # there is nothing else here
            return
        started = False

        async def sent(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = [*message.get("headers", ()), *_headers(message)]
            await send(message)

        request = Request(scope)
        body = _Body(receive)
        try:
            entered = self._entered(request)
            await (self.app if entered is None else entered)(scope, body, sent)
        except JumokError as error:
            if started:
                raise
            await said(request, error, self.access)(scope, receive, sent)

    def _entered(self, request: Request) -> Response | None:
        """None where the request may go on; else what is answered. Errors: ``Refusal``."""
        _refuse_large(request)
        _refuse_other_host(request, self.access)
        _refuse_elsewhere(request)
        if self.access.token is not None and not self.access.knows(request.cookies.get(TOKEN_COOKIE, "")):
            return self._let_in(request)
        if request.method not in READS:
            _refuse_unmeant(request)
        return None

    def _let_in(self, request: Request) -> Response:
        """A link with the token: from now on the cookie opens, and the address shows no token."""
        query = parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
        token = next((value for name, value in query if name == "token"), None)
        if token is None or request.method not in READS or not self.access.knows(token):
            raise Refusal(
                403,
                en="This server is for people who have its link. Open the whole link that it printed when it was started, with "
                "?token= at its end, or ask whoever started it.",
                ko="이 서버는 링크를 받은 사람만 쓸 수 있습니다. 서버를 시작할 때 나온 링크를 끝의 ?token=까지 모두 열거나, 서버를 시작한 "
                "사람에게 물어보십시오.",
            )
        rest = urlencode([pair for pair in query if pair[0] != "token"])
        path = "/" + quote(request.scope["path"].lstrip("/\\"))  # two slashes would be another host
        response = RedirectResponse(path + (f"?{rest}" if rest else ""), 303)
        assert self.access.token is not None
        response.set_cookie(TOKEN_COOKIE, self.access.token, path="/", httponly=True, samesite="strict")
        return response


def said(request: Request, error: JumokError, access: Access) -> Response:
    """A refusal as who asked can read it: a browser that goes to a page gets a page, everybody else JSON."""
    is_page = not request.scope["path"].startswith(("/api", "/data", "/static"))
    if not is_page or "text/html" not in request.headers.get("accept", ""):
        return answer(error)
    return HTMLResponse(refused(error.en, error.ko, access.lang_of(request)), status_of(error))


def _headers(message: Message) -> list[tuple[bytes, bytes]]:
    there = {name.lower() for name, _ in message.get("headers", ())}
    own = HEADERS if b"cache-control" in there else {**HEADERS, "cache-control": "no-store"}
    return [(name.encode(), value.encode()) for name, value in own.items() if name.encode() not in there]


class _Body:
    """What comes in, counted: more than is allowed is not read to its end."""

    def __init__(self, receive: Receive) -> None:
        self._receive, self._n = receive, 0

    async def __call__(self) -> Message:
        message = await self._receive()
        self._n += len(message.get("body", b""))
        if self._n > BODY_BYTES:
            raise _too_large()
        return message


def _refuse_large(request: Request) -> None:
    size = len(request.scope.get("raw_path", b"")) + len(request.scope["query_string"])
    size += sum(len(name) + len(value) for name, value in request.scope["headers"])
    if size > HEADER_BYTES:
        raise Refusal(
            431,
            en=f"the head of this request has {size:,} bytes; {HEADER_BYTES:,} are read. Clear the cookies of this site.",
            ko=f"요청의 머리 부분이 {size:,}바이트인데 {HEADER_BYTES:,}바이트까지 읽습니다. 이 사이트의 쿠키를 지우십시오.",
        )
    length = request.headers.get("content-length", "0")
    if not re.fullmatch("[0-9]{1,15}", length) or int(length) > BODY_BYTES:
        raise _too_large()


def _too_large() -> Refusal:
    return Refusal(
        413,
        en=f"this is too large: a request may have {BODY_BYTES // 2**20} MiB. Shorten what you send.",
        ko=f"너무 큽니다. 요청 하나는 {BODY_BYTES // 2**20} MiB까지 보낼 수 있습니다. 보내는 것을 줄이십시오.",
    )


def _refuse_other_host(request: Request, access: Access) -> None:
    hosts = request.headers.getlist("host")
    found = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?", hosts[0]) if len(hosts) == 1 else None
    if found is None or not access.serves(found[1].strip("[]").lower().removesuffix(".")):
        raise Refusal(
            421,
            en="this server does not go by the name that was asked for. Open it by the link that it printed when it was started.",
            ko="요청한 이름은 이 서버의 이름이 아닙니다. 서버를 시작할 때 나온 링크로 여십시오.",
        )


def _refuse_elsewhere(request: Request) -> None:
    """Refuse what a page elsewhere sends; that somebody follows a link from there is no harm."""
    site, mode = request.headers.get("sec-fetch-site", "none"), request.headers.get("sec-fetch-mode", "")
    is_visit = mode == "navigate" and request.method in READS and request.headers.get("sec-fetch-dest") == "document"
    origin = request.headers.get("origin")
    own = [f"{scheme}://{request.headers['host']}".lower() for scheme in ("http", "https")]
    if (site not in ("same-origin", "none") and not is_visit) or (origin is not None and origin.lower() not in own):
        raise Refusal(
            403,
            en="this request comes from another site, so it is not answered.",
            ko="다른 사이트에서 온 요청이라 답하지 않습니다.",
        )


def _refuse_unmeant(request: Request) -> None:
    """What changes something says so in a way that no form and no link can."""
    headers: Mapping[str, str] = request.headers
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if headers.get("x-jumok") != "1" or kind != "application/json":
        raise Refusal(
            403 if headers.get("x-jumok") != "1" else 415,
            en="a request that changes something needs the headers X-Jumok: 1 and Content-Type: application/json.",
            ko="무언가를 바꾸는 요청에는 X-Jumok: 1과 Content-Type: application/json 헤더가 필요합니다.",
        )
