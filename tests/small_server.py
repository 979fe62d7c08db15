"""A server for tests: in this process, on a free port, and what a visitor asks of it."""

from __future__ import annotations

import http.client
import json
import threading
import time
from contextlib import contextmanager

from jumok.server.serving import serve

LONG_S = 120.0  # no test waits so long on a machine that is not stuck


@contextmanager
def running(work, *files, lang=None, **options):
    """A server that answers; it ends with the block. lang : that its pages begin in, whatever a browser prefers"""
    came, failed = threading.Event(), []
    told = []

    def opened(started):
        told.append(started)
        came.set()

    def run():
        try:
            serve(files, work=work, port=0, lang=lang, opened=opened, **options)
        except BaseException as error:
            failed.append(error)
            came.set()

    thread = threading.Thread(target=run)
    thread.start()
    assert came.wait(LONG_S)
    if failed:
        thread.join(LONG_S)
        raise failed[0]
    try:
        yield told[0]
    finally:
        told[0].end()
        thread.join(LONG_S)
        assert not thread.is_alive()


class Answer:
    """What came back."""

    def __init__(self, response):
        self.status, self.headers, self.body = response.status, response.headers, response.read()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def text(self):
        return self.body.decode()

    @property
    def error(self):
        """The refusal, which speaks both languages."""
        error = self.json["error"]
        assert set(error) == {"en", "ko"}
        assert error["en"]
        assert any("가" <= letter <= "힣" for letter in error["ko"]), error
        return error


class Visitor:
    """A browser's part: it keeps its cookies, and sends what a page sends."""

    def __init__(self, started):
        self.host, _, port = started.url.removeprefix("http://").partition("/")[0].rpartition(":")
        self.port = int(port)
        self.cookies = {}

    def ask(self, method, path, plain=None, headers=None, body=None):
        given = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())} if self.cookies else {}
        if method != "GET":
            given |= {"Content-Type": "application/json", "X-Jumok": "1"}
        body = json.dumps(plain).encode() if plain is not None else body
        connection = http.client.HTTPConnection(self.host, self.port, timeout=LONG_S)
        try:
            connection.request(method, path, body, given | (headers or {}))
            answer = Answer(connection.getresponse())
        finally:
            connection.close()
        for said in answer.headers.get_all("set-cookie") or ():
            name, _, value = said.partition(";")[0].partition("=")
            self.cookies[name] = value
        return answer

    def get(self, path, **headers):
        return self.ask("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})

    def post(self, path, plain=None, **options):
        return self.ask("POST", path, plain, **options)

    def submit(self, **plain):
        answer = self.post("/api/jobs", plain)
        assert answer.status == 202, answer.text
        return answer.json["id"]

    def job(self, id):
        return self.get(f"/api/jobs/{id}").json

    def waited(self, id, *states):
        """The job, once it is in one of these states."""
        states = states or ("done", "failed", "stopped")
        until = time.monotonic() + LONG_S
        while (job := self.job(id))["state"] not in states:
            assert time.monotonic() < until, job
            time.sleep(0.05)
        return job

    def served(self, path):
        """What a page is drawn from."""
        answer = self.get(path, accept="text/html")
        assert answer.status == 200, answer.text
        return served(answer.text)


def served(html):
    """What a page is drawn from, out of its HTML."""
    start = html.index('id="jumok-served">') + len('id="jumok-served">')
    return json.loads(html[start : html.index("</script>", start)])


def events(started, visitor, id, last=None, until=None):
    """The events of a job as a list of (id, kind, data), up to its end or to the first that ``until`` is true of."""
    connection = http.client.HTTPConnection(visitor.host, visitor.port, timeout=LONG_S)
    headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())}
    found, event = [], {}
    try:
        connection.request("GET", f"/api/jobs/{id}/events", headers=headers | ({"Last-Event-ID": last} if last else {}))
        response = connection.getresponse()
        assert response.status == 200
        for line in response:
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name:
                event[name] = value
            elif event.get("data"):
                found.append((event["id"], event["event"], json.loads(event["data"])))
                event = {}
                if until is not None and until(found[-1]):
                    break
    finally:
        connection.close()
    return found
