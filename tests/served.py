"""A real ``jumok serve`` in a process of its own, and visitors who talk to it over sockets of their own."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

READY_S = 180  # a busy machine starts slowly
ENDED = ("done", "failed", "stopped")
SAFE = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
PROGRAM = "import sys\nfrom jumok.__main__ import main\nsys.argv[0] = 'jumok'\nif __name__ == '__main__':\n    main()\n"


@dataclass(frozen=True)
class Answer:
    """One answer; header names are in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()

    def refused(self, *statuses: int) -> tuple[str, str]:
        """What it says in English and in Korean, where it is a refusal that a person can read."""
        assert self.status in (statuses or range(400, 500)), (self.status, self.body[:300])
        error = self.json()["error"]
        assert set(error) == {"en", "ko"}, error
        assert len(error["en"]) > 10, error
        assert re.search("[가-힣]", error["ko"]), error
        assert "Traceback" not in error["en"] + error["ko"], error
        return error["en"], error["ko"]


def assert_safe(answer: Answer) -> Answer:
    """What every answer says to the browser, whatever was asked."""
    for name, value in SAFE.items():
        assert answer.headers.get(name) == value, (name, answer)
    policy = dict(part.strip().partition(" ")[::2] for part in answer.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'", policy
    assert policy["frame-ancestors"] == "'none'", policy
    assert policy.get("connect-src", "'self'") == "'self'", policy
    assert not {"'unsafe-inline'", "'unsafe-eval'", "*", "data:", "http:", "https:"} & set(policy["script-src"].split())
    return answer


class Server:
    """``jumok serve`` on a loopback port; what it prints is kept, and it can be killed and started again."""

    def __init__(self, work: Path, *arguments: str, before: str = "") -> None:
        self.work = work
        self.arguments = arguments
        self.program = f"{before}\n{PROGRAM}" if before else None
        self.port = free_port()
        self.printed: list[str] = []
        self.host = "127.0.0.1"
        self.start()

    def start(self) -> None:
        """Start it, and wait until it says where it is."""
        given = ["serve", *self.arguments, "--work", str(self.work), "--port", str(self.port)]
        how = ["-c", self.program] if self.program else ["-m", "jumok"]
        self.process = subprocess.Popen(
            [sys.executable, *how, *given], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.url = ""
        found = threading.Event()
        self._reader = threading.Thread(target=self._read, args=(self.process.stdout, found), daemon=True)
        self._reader.start()
        if not found.wait(READY_S) or not self.url:
            self.kill()
            raise AssertionError("".join(self.printed) or "it printed nothing")
        until(self._takes_connections)

    def _read(self, lines: Any, found: threading.Event) -> None:
        with lines:
            for line in lines:
                self.printed.append(line)
                if not self.url and (shown := re.search(r"http://\S+", line)):
                    self.url = shown[0]
                    found.set()
        found.set()

    def _takes_connections(self) -> bool:
        try:
            socket.create_connection((self.host, self.port), 5).close()
        except ConnectionRefusedError:
            assert self.process.poll() is None, "".join(self.printed)
            return False
        return True

    def workers(self) -> list[psutil.Process]:
        """The processes that work for it."""
        try:
            return psutil.Process(self.process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def memory(self) -> int:
        """Bytes that it and its workers hold."""
        total = 0
        for one in [psutil.Process(self.process.pid), *self.workers()]:
            with contextlib.suppress(psutil.NoSuchProcess):
                total += one.memory_info().rss
        return total

    def kill(self) -> None:
        """``kill -9``; the workers have to see for themselves that nobody waits for them."""
        self.process.kill()
        self.process.wait()
        self._reader.join(READY_S)

    def stop(self) -> None:
        """End it as Ctrl-C does. Errors: where it does not end, or an exception was printed meanwhile."""
        workers = self.workers()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"it does not end: {''.join(self.printed[-30:])}") from None
        finally:
            _, alive = psutil.wait_procs(workers, 10)
            for one in alive:
                one.kill()
        self._reader.join(READY_S)
        assert not alive, f"left behind: {alive}"
        assert not any("Traceback" in line for line in self.printed), "".join(self.printed[-60:])


@contextlib.contextmanager
def serving(work: Path, *arguments: str, before: str = "") -> Iterator[Server]:
    """A server for the length of a block.

    before : lines of Python that it runs first, such as a shorter deadline
    """
    server = Server(work, *arguments, before=before)
    try:
        yield server
    except BaseException:
        server.kill()
        raise
    server.stop()


@dataclass
class Visitor:
    """A person with a browser: keeps cookies, and sends what a page would send."""

    server: Server
    cookies: dict[str, str] = field(default_factory=dict)

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str | None] | None = None
    ) -> Answer:
        """One question and its answer, on a connection of its own. A header of None is left out."""
        given = {"Host": f"{self.server.host}:{self.server.port}", **self._cookie(), **(headers or {})}
        connection = http.client.HTTPConnection(self.server.host, self.server.port, timeout=120)
        try:
            connection.request(method, path, body, {name: value for name, value in given.items() if value is not None})
            came = connection.getresponse()
            answer = Answer(came.status, {name.lower(): value for name, value in came.getheaders()}, came.read())
        finally:
            connection.close()
        for line in came.msg.get_all("set-cookie", []):
            name, _, rest = line.partition("=")
            self.cookies[name] = rest.partition(";")[0]
        return assert_safe(answer)

    def _cookie(self) -> dict[str, str]:
        return {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())} if self.cookies else {}

    def get(self, path: str, **headers: str | None) -> Answer:
        return self.ask("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})

    def post(self, path: str, content: Any, headers: Mapping[str, str | None] | None = None) -> Answer:
        """A question as the page asks it: JSON (or bytes as they are), with the mark of a page of ours."""
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        return self.ask("POST", path, body, {"Content-Type": "application/json", "X-Jumok": "1", **(headers or {})})

    def delete(self, path: str) -> Answer:
        return self.ask("DELETE", path, b"", {"Content-Type": "application/json", "X-Jumok": "1"})

    def page(self, path: str = "/") -> str:
        """A page of HTML that is there."""
        answer = self.get(path)
        assert answer.status == 200, (path, answer.status, answer.body[:300])
        assert answer.headers["content-type"].startswith("text/html"), answer.headers
        return answer.text

    def submit(self, kind: str, **asked: Any) -> str:
        """The name of a new job."""
        answer = self.post("/api/jobs", {"kind": kind, **asked})
        assert answer.status == 202, (answer.status, answer.body[:300])
        return str(answer.json()["id"])

    def job(self, name: str) -> dict[str, Any]:
        answer = self.get(f"/api/jobs/{name}")
        assert answer.status == 200, (answer.status, answer.body[:300])
        return dict(answer.json())

    def wait(self, name: str, *states: str, limit_s: float = 180) -> dict[str, Any]:
        """The job, once it is in one of these states (once it has ended, where none is named)."""
        seen: list[dict[str, Any]] = []

        def there() -> bool:
            seen[:] = [self.job(name)]
            assert seen[0]["state"] in (*states, *ENDED, "queued", "running"), seen[0]
            return seen[0]["state"] in (states or ENDED)

        until(there, limit_s, lambda: seen)
        return seen[0]


def data_of(visitor: Visitor, page: str) -> list[str]:
    """Where the numbers of a page lie."""
    carried = visitor.page(page).partition('id="jumok-served">')[2].partition("</script>")[0]
    return list(json.loads(carried)["documents"])


def until(happened: Any, limit_s: float = READY_S, told: Any = None) -> None:
    """Wait until something has happened."""
    end = time.monotonic() + limit_s
    while not happened():
        assert time.monotonic() < end, f"not within {limit_s} s: {told() if told else happened}"
        time.sleep(0.1)


def free_port() -> int:
    """A port that nobody uses at this moment."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def connected(server: Server, timeout_s: float = 60) -> socket.socket:
    return socket.create_connection((server.host, server.port), timeout_s)


def raw(server: Server, *pieces: bytes, timeout_s: float = 60) -> bytes:
    """What comes back for bytes as they are, until the server closes."""
    received = b""
    with connected(server, timeout_s) as one, contextlib.suppress(ConnectionError):
        for piece in pieces:
            one.sendall(piece)
        while came := one.recv(65536):
            received += came
    return received


def request(server: Server, first: bytes, *lines: bytes, host: bytes | None = None) -> bytes:
    """A request as bytes: nobody tidies its path or its headers."""
    named = f"{server.host}:{server.port}".encode() if host is None else host
    return b"\r\n".join([first + b" HTTP/1.1", b"Host: " + named, b"Connection: close", *lines, b"", b""])


def parsed(received: bytes) -> Answer:
    """The one answer in what a socket gave, as it stands there (a body in chunks stays in them)."""
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    named = (line.partition(":") for line in lines)
    return Answer(int(first.split()[1]), {name.lower(): value.strip() for name, _, value in named}, body)


def reset(one: socket.socket) -> None:
    """Close without a goodbye."""
    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    one.close()


def refused_to_start(*arguments: str, limit_s: float = READY_S) -> tuple[int, str]:
    """How a ``jumok serve`` that must not start ends, and what it prints."""
    command: Sequence[str] = [sys.executable, "-m", "jumok", "serve", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s)
    return done.returncode, done.stdout + done.stderr
