"""The routes: each reads what is asked, lets the service do it, and writes what came of it."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Match, Route
from starlette.types import ASGIApp

from .. import __version__
from ..errors import JumokError
from . import asked, pages
from .limits import BODY_BYTES, DISK_BYTES, STEPS
from .metrics import Metrics
from .ranges import ranged
from .refusal import Refusal, no_such, plain, status_of, unkept
from .safety import Access, Safety, said
from .service import Service
from .visitors import name_of, remember

__all__ = ["app_of"]

Handler = Callable[[Request], Awaitable[Response]]
YEAR_S = 365 * 86_400


def app_of(service: Service, access: Access) -> ASGIApp:
    """The application of a service that has started."""
    routes = Routes(service, access)
    app = Starlette(
        routes=[
            Route("/", routes.page(lambda _: {"view": "start"})),
            Route("/text", routes.page(routes.text)),
            Route("/lessons", routes.page(routes.lessons)),
            Route("/lessons/{name}", routes.page(partial(routes.shared, "lesson"))),
            Route("/examples/{name}", routes.page(partial(routes.shared, "example"))),
            Route("/files/{name}", routes.page(partial(routes.shared, "file"))),
            Route("/jobs/{id}", routes.page(routes.job_page)),
            Route("/static/{name}", routes.static),
            Route("/data/{id}", routes.data),
            Route("/api/session", routes.session),
            Route("/api/ask", routes.ask, methods=["POST"]),
            Route("/api/jobs", routes.submit, methods=["POST"]),
            Route("/api/jobs", routes.jobs),
            Route("/api/jobs/{id}", routes.job),
            Route("/api/jobs/{id}", routes.delete, methods=["DELETE"]),
            Route("/api/jobs/{id}/stop", routes.stop, methods=["POST"]),
            Route("/api/jobs/{id}/events", routes.events),
            Route("/health", routes.health),
            Route("/metrics", routes.metrics_text),
        ],
        exception_handlers={JumokError: routes.refuse, HTTPException: routes.refuse, ClientDisconnect: routes.refuse, Exception: routes.refuse},
    )  # fmt: skip
    app.router.redirect_slashes = False
    return Safety(app, access)


class Routes:
    """What each address does."""

    def __init__(self, service: Service, access: Access) -> None:
        self.service, self.access = service, access
        self.metrics = Metrics()

    # answers ------------------------------------------------------------------------------------

    def _sent(self, request: Request, response: Response) -> Response:
        """Count an answer, and give a new visitor the cookie."""
        remember(request, response)
        route = next((one.path for one in request.app.routes if one.matches(request.scope)[0] is Match.FULL), "other")
        self.metrics.requests.labels(route, str(response.status_code)).inc()
        return response

    def _json(self, request: Request, plain: Any, status: int = 200) -> Response:
        data = json.dumps(plain, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace")
        return self._sent(request, Response(data, status, media_type="application/json"))

    async def refuse(self, request: Request, error: Exception) -> Response:
        """Whatever is wrong, in both languages; where this server keeps its files is nobody's business."""
        refusal = _refusal(error)
        refusal = Refusal(status_of(refusal), **self.service.places.plain(plain(refusal)))
        return self._sent(request, said(request, refusal, self.access))

    def page(self, made: Callable[[Request], Any]) -> Handler:
        """The handler of a page. made : what it shows, from the request; at once or later"""

        async def handler(request: Request) -> Response:
            found = made(request)
            page = found if isinstance(found, Mapping) else await found
            lang = self.access.lang_of(request)
            name_of(request)  # a new visitor has the cookie before the page asks several things at once
            response = StreamingResponse(_encoded(pages.html(page, lang)), media_type="text/html; charset=utf-8")
            if request.query_params.get("lang") == lang:
                response.set_cookie(self.access.lang_cookie, lang, max_age=YEAR_S, path="/", samesite="strict")
            return self._sent(request, response)

        return handler

    # pages --------------------------------------------------------------------------------------

    def text(self, _request: Request) -> dict[str, Any]:
        """Where a text for the model is typed."""
        if self.service.model is None:
            raise no_such()
        return {"view": "text"}

    def lessons(self, _request: Request) -> dict[str, Any]:
        """The course."""
        listed = [{**one, "href": f"/lessons/{one['number']}"} for one in self.service.shelf.catalogue["lessons"]]
        return {"view": "lessons", "lessons": listed}

    async def shared(self, kind: str, request: Request) -> dict[str, Any]:
        """An example, a file or a lesson."""
        return await self.service.shelf.page(kind, request.path_params["name"])

    async def job_page(self, request: Request) -> dict[str, Any]:
        """How far a job is, or what came of it."""
        return await self.service.page_of_job(self.service.own(name_of(request), request.path_params["id"]))

    # files --------------------------------------------------------------------------------------

    async def static(self, request: Request) -> Response:
        """A program of the page."""
        program = self.service.shelf.programs.get(request.path_params["name"])
        if program is None:
            raise no_such()
        headers = {"etag": program.tag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == program.tag:
            return self._sent(request, Response(status_code=304, headers=headers))
        return self._sent(request, Response(program.data, 200, headers, "text/javascript; charset=utf-8"))

    async def data(self, request: Request) -> Response:
        """A document, or a part of it."""
        id = request.path_params["id"]
        file = self.service.document(name_of(request), id)
        return self._sent(request, ranged(file, _tag(id, file), request.headers))

    # what the page asks -------------------------------------------------------------------------

    async def session(self, request: Request) -> Response:
        """What this server can do."""
        service = self.service
        told = {
            "version": __version__,
            "started": service.start_id,
            "model": service.model,
            "corpus": service.given.corpus is not None,
            "allow_code": service.given.allow_code,
            "tasks": service.shelf.catalogue["tasks"],
            "missing": {kind: plain(error) for kind, error in service.missing.items()},
            "steps": {"default": None, "most": STEPS},
            "examples": _linked("/examples", service.shelf.catalogue["examples"]),
            "files": _linked("/files", service.shelf.catalogue["files"]),
        }
        return self._json(request, told)

    async def ask(self, request: Request) -> Response:
        """A small question, answered at once."""
        kind, question = asked.question_of(await _object(request), self.service.offer)
        with self.metrics.timed(kind):
            answer = await self.service.question(name_of(request), kind, question)
        return self._json(request, answer)

    async def submit(self, request: Request) -> Response:
        """A new job."""
        given, missing = await _object(request), self.service.missing
        if isinstance(given.get("kind"), str) and given["kind"] in missing:
            raise missing[given["kind"]]
        kind, wanted, title = asked.job_of(given, self.service.offer)
        job = await self.service.submit(name_of(request), kind, wanted, title)
        return self._json(request, {"id": job.id}, 202)

    async def jobs(self, request: Request) -> Response:
        """A visitor's own jobs."""
        return self._json(request, [self.service.told(job) for job in self.service.store.of(name_of(request))])

    async def job(self, request: Request) -> Response:
        """One of them."""
        return self._json(request, self.service.told(self._own(request)))

    async def stop(self, request: Request) -> Response:
        """End it."""
        await _object(request)
        job = self._own(request)
        await self.service.stop(job)
        return self._json(request, self.service.told(job))

    async def delete(self, request: Request) -> Response:
        """End it and take it away."""
        job = self._own(request)
        await self.service.remove(job)
        return self._json(request, {})

    def _own(self, request: Request) -> Any:
        return self.service.own(name_of(request), request.path_params["id"])

    async def events(self, request: Request) -> Response:
        """What happens to a job, as it happens."""
        job, visitor = self._own(request), name_of(request)
        self.service.refuse_more_streams(visitor)
        stream = self.service.events_of(job, visitor, request.headers.get("last-event-id"))
        return self._sent(request, StreamingResponse(stream, media_type="text/event-stream"))

    # for who runs the server --------------------------------------------------------------------

    async def health(self, request: Request) -> Response:
        """Whether it can work."""
        lanes = {
            name: {
                "workers": sum(process.is_alive for process in lane.processes),
                "waiting": len(lane.waiting),
                "running": len(lane.running),
                "restarts": lane.restarts,
            }
            for name, lane in self.service.lanes.items()
        }
        free = shutil.disk_usage(self.service.given.work).free
        is_well = all(lane.is_well for lane in self.service.lanes.values()) and free >= DISK_BYTES
        told = {"ok": is_well, "lanes": lanes, "free_bytes": free, "unkept": self.service.store.n_unkept}
        return self._json(request, told, 200 if is_well else 503)

    async def metrics_text(self, request: Request) -> Response:
        """Numbers for Prometheus."""
        kind = "text/plain; version=0.0.4; charset=utf-8"
        return self._sent(request, Response(self.metrics.text(self.service), media_type=kind))


async def _object(request: Request) -> dict[str, Any]:
    return asked.object_of(await request.body() or b"{}")


def _linked(path: str, named: list[dict[str, Any]]) -> list[dict[str, Any]]:
    from urllib.parse import quote

    return [{**one, "href": f"{path}/{quote(one['name'], safe='')}"} for one in named]


async def _encoded(pieces: Any) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece.encode("utf-8", "backslashreplace")


def _tag(id: str, file: Path) -> str:
    found = file.stat()
    told = f"{id} {found.st_size} {found.st_mtime_ns}"
    return f'"{hashlib.sha256(told.encode()).hexdigest()[:32]}"'


def _refusal(error: Exception) -> JumokError:
    error = unkept(error) or error
    if isinstance(error, JumokError):
        return error
    if isinstance(error, HTTPException):
        return _http(error.status_code)
    return Refusal(
        500,
        en="Something went wrong on the server that jumok did not foresee. Its log has the details.",
        ko="서버에서 jumok이 예상하지 못한 문제가 생겼습니다. 자세한 내용은 서버 기록에 있습니다.",
    )


def _http(status: int) -> Refusal:
    if status == 405:
        return Refusal(405, en="this address does not take such a request.", ko="이 주소는 이런 요청을 받지 않습니다.")
    if status == 413:
        most = BODY_BYTES // 2**20
        return Refusal(413, en=f"a request may have {most} MiB.", ko=f"요청 하나는 {most} MiB까지 보낼 수 있습니다.")
    return no_such()
