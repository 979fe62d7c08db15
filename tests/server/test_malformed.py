"""Clients of ``jumok serve`` that are slow, silent or send what is no question: it answers clearly or lets go, and goes on.

Longer: JUMOK_SERVE_FUZZ=10000 (docs/drills.md).
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import socket
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

import jumok
from jumok.sources.design.asked import answer as designed
from served import (
    Visitor,
    assert_safe,
    connected,
    data_of,
    parsed,
    raw,
    refused_to_start,
    request,
    reset,
    serving,
    until,
)

FUZZ = int(os.environ.get("JUMOK_SERVE_FUZZ", "200"))
STUDENT = (Path(jumok.__file__).parent / "examples" / "student.yaml").read_text(encoding="utf-8")
DESIGN = {"kind": "design", "example": STUDENT, "fixed": None}
DEADLINE_S = 3.0  # here; no client that means well is so slow, however busy the machine
SHORT = f"import jumok.server.limits as limits\nlimits.HEADER_S = limits.BODY_S = limits.IDLE_S = {DEADLINE_S}\n"


# slow and silent clients --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A Trace of a few megabytes."""
    draw = np.random.default_rng(0).standard_normal((3, 4, 1500, 64)).astype(np.float32)
    trace = jumok.attend(q=draw[0], k=draw[1], v=draw[2])
    return str(trace.save(tmp_path_factory.mktemp("large") / "large.safetensors"))


@pytest.fixture(scope="module")
def changing(tmp_path_factory):
    """A small Trace, which somebody writes anew while it is served."""
    ones = np.ones((1, 2, 2))
    path = tmp_path_factory.mktemp("changing") / "changing.safetensors"
    return Path(jumok.attend(q=ones, k=ones, v=ones).save(path))


@pytest.fixture(scope="module")
def impatient(tmp_path_factory, large, changing):
    """A server that waits three seconds where others wait longer."""
    given = (large, str(changing), "--allow-code")
    with serving(tmp_path_factory.mktemp("impatient") / "work", *given, before=SHORT) as server:
        yield server


HALVES = {
    "nothing": b"",
    "half a line": b"GET / HT",
    "half of the headers": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-",
    "half of a body": b"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nX-Jumok: 1\r\n"
    b"Content-Length: 1000\r\n\r\n{",
    "half of a chunk": b"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nX-Jumok: 1\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n1000\r\n{",
}


def test_half_a_request_is_not_waited_for(impatient):
    """Three hundred at once: others are answered meanwhile, and each is told so after a while, or simply let go."""
    before = psutil.Process(impatient.process.pid).num_fds()
    with contextlib.ExitStack() as stack:
        silent = [(half, stack.enter_context(connected(impatient, 30))) for half in list(HALVES.values()) * 60]
        for half, one in silent:
            one.sendall(half.replace(b"{port}", str(impatient.port).encode()))
        assert Visitor(impatient).post("/api/ask", DESIGN).status == 200
        for _, one in silent:
            told = rest_of(one)
            assert not told or assert_safe(parsed(told)).status == 408
    until(lambda: psutil.Process(impatient.process.pid).num_fds() <= before + 5)


def rest_of(one: socket.socket) -> bytes:
    """What comes until the other side closes."""
    told = b""
    with contextlib.suppress(ConnectionError):
        while came := one.recv(4096):
            told += came
    return told


def test_a_client_that_sends_a_letter_at_a_time_is_not_waited_for(impatient):
    """Each letter comes in time, the whole would take an hour."""
    with connected(impatient, 30) as one:
        end = time.monotonic() + 20
        with contextlib.suppress(ConnectionError):
            for letter in request(impatient, b"GET /", *[b"X-More: 1"] * 60):
                one.sendall(bytes([letter]))
                time.sleep(0.02)
                assert time.monotonic() < end
            assert b" 200 " not in one.recv(100)


def test_clients_that_do_not_read_cost_little_memory(impatient, large):
    [path] = data_of(Visitor(impatient), "/files/large")
    whole = len(Visitor(impatient).get(path).body)
    assert whole > 2**20
    before = impatient.memory()
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            one = stack.enter_context(connected(impatient))
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.sendall(request(impatient, b"GET " + path.encode()))
            one.recv(100)
        assert Visitor(impatient).post("/api/ask", DESIGN).status == 200
        assert impatient.memory() - before < 100 * whole / 3


def test_visitors_who_vanish_leave_nothing_open(impatient):
    visitor = Visitor(impatient)
    name = visitor.submit("learn", task="repeat", steps=20_000)
    cookies = "; ".join(f"{one}={value}" for one, value in visitor.cookies.items()).encode()
    before = psutil.Process(impatient.process.pid).num_fds()
    listening = [connected(impatient) for _ in range(100)]
    for one in listening:
        one.sendall(request(impatient, f"GET /api/jobs/{name}/events".encode(), b"Cookie: " + cookies))
    for one in listening:
        one.recv(100)
    assert Visitor(impatient).post("/api/ask", DESIGN).status == 200
    for one in listening:
        reset(one)
    until(lambda: psutil.Process(impatient.process.pid).num_fds() <= before + 5)
    assert visitor.job(name)["state"] in {"queued", "running"}
    visitor.post(f"/api/jobs/{name}/stop", {})
    assert visitor.wait(name)["state"] == "stopped"


# malformed questions ------------------------------------------------------------------------------

VALUES = [
    None,
    True,
    -1,
    0,
    2**63,
    1e308,
    -0.0,
    "",
    "\0",
    "\ud800",
    "../..",
    [],
    {},
    [[]],
    "a" * 70_000,
    "w_k",
    "student",
    0.5,
    [None] * 999,
]
BYTES = [
    b"", b"{", b"null", b"[]", b"0", b'"text"', b"\xff\xfe", b"\xef\xbb\xbf{}", b"{}" * 2, b"NaN", b'{"kind": NaN}', b'{"kind": Infinity}',
    b"[" * 100_000, b'{"a":' * 50_000, b"1" * 500_000, b"1e999999", b'{"kind": "design", "kind": "cut"}', b'{"kind": "\\ud800"}', b"\0" * 100,
]  # fmt: skip
ASKED = {
    "/api/ask": [
        *[DESIGN] * 4,
        {"kind": "cut", "document": "x", "layer": 0, "head": 0, "query": 0, "key": 0, "renormalise": True},
        {"kind": "check", "code": "def attention(q, k, v", "checks": "attention"},
    ],
    "/api/jobs": [
        {"kind": "learn", "task": "previous", "steps": 1, "seed": 0},
        {"kind": "cost", "n": "32", "d": 8, "heads": 1},
        {"kind": "capture", "text": "the cat"},
        {"kind": "measure", "text": "the cat sat on the mat"},
    ],
}


def damaged(rng: random.Random, asked: dict) -> bytes:
    """A question that is wrong in its bytes, in one value, in its keys, or, where it has one, in its example."""
    how = rng.randrange(5)
    if how == 0:
        return rng.choice(BYTES)
    if how == 1:
        return scrambled(rng, json.dumps(asked).encode())
    if how == 2:
        return json.dumps(
            {name: value for name, value in asked.items() if rng.random() < 0.6} | {"more": rng.choice(VALUES)}
        ).encode()
    if how == 3 and "example" in asked:
        return json.dumps(asked | {"example": scrambled(rng, STUDENT.encode()).decode(errors="replace")}).encode()
    return json.dumps(asked | {rng.choice(list(asked)): rng.choice(VALUES)}).encode()


def scrambled(rng: random.Random, data: bytes) -> bytes:
    """Some bytes changed, taken away or doubled."""
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        at, to = sorted(rng.choices(range(len(out) + 1), k=2))
        to = min(to, at + rng.choice([1, 1, 4, 40]))
        out[at:to] = rng.choice([b"", bytes(out[at:to]) * 2, rng.randbytes(to - at), b"[", b": ", b"\n", b"9" * 20])
    return bytes(out)


def test_malformed_questions_get_a_clear_answer(impatient):
    """Whatever is sent, an answer comes that is one, and the server goes on; more: JUMOK_SERVE_FUZZ."""
    rng, right = random.Random(FUZZ), designed(STUDENT)
    visitor = Visitor(impatient)
    for at in range(FUZZ):
        path = rng.choice(list(ASKED))
        body = damaged(rng, rng.choice(ASKED[path]))
        answer = visitor.post(path, body)
        if answer.status not in (
            200,
            202,
        ):  # with some jobs under way, the next ones that could be begun are refused as well
            try:
                answer.refused()
            except AssertionError as error:
                raise AssertionError(f"case {at}: {body[:300]!r}") from error
        if at % 100 == 99:
            assert visitor.post("/api/ask", DESIGN).json()["w_q"] == right["w_q"]
    assert visitor.get("/health").status == 200
    for job in visitor.get("/api/jobs").json():
        visitor.delete(f"/api/jobs/{job['id']}")


POST = b"POST /api/ask HTTP/1.1\r\nHost: {host}\r\n"
REQUESTS = [
    b"", b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01",
    b"GET / HTTP/1.1\r\nHost : x\r\n\r\n", b"GET / HTTP/1.1\r\n Host: x\r\n\r\n", b"GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n", b"\xff" * 500,
    b"CONNECT evil.example:443 HTTP/1.1\r\nHost: {host}\r\n\r\n", b"OPTIONS * HTTP/1.1\r\nHost: {host}\r\n\r\n",
    POST + b"Content-Length: -1\r\n\r\n", POST + b"Content-Length: 1e9\r\n\r\n",
    POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
    POST + b"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n",
    POST + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
    POST + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n", POST + b"Transfer-Encoding: xchunked\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: {host}\r\nRange: bytes=" + b"0-1," * 2000 + b"0-1\r\nConnection: close\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: {host}\r\nCookie: jumok_visitor=\xff\xfe\r\nConnection: close\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: {host}\r\nAccept-Language: " + b"ko;q=0.1," * 3000 + b"\r\nConnection: close\r\n\r\n",
]  # fmt: skip


@pytest.mark.parametrize("sent", REQUESTS, ids=lambda sent: sent[:30].decode("latin-1").replace("\0", "NUL"))
def test_what_is_no_request_is_refused(impatient, sent):
    came = raw(impatient, sent.replace(b"{host}", f"{impatient.host}:{impatient.port}".encode()))
    assert not came or assert_safe(parsed(came)).status in {
        200,
        400,
        403,
        404,
        405,
        408,
        411,
        413,
        415,
        421,
        426,
        431,
        501,
        505,
    }, came[:200]
    assert came.count(b"HTTP/1.1 200") <= 1
    assert Visitor(impatient).get("/health").status == 200


RANGES = ["bytes=0-", "bytes=-1", "bytes=5-4", "bytes=0-0,2-3", "bytes=99999999999-", "bytes=-0", "bytes=a-b", "lines=0-1", "bytes=",
          "bytes=0-99999999999999999999", "bytes=18446744073709551616-", "bytes=" + ",".join(["0-"] * 500)]  # fmt: skip


@pytest.mark.parametrize("given", RANGES, ids=lambda given: given[:20])
def test_a_range_is_what_was_asked_for_or_refused(impatient, given):
    visitor = Visitor(impatient)
    [path] = data_of(visitor, "/files/large")
    whole = visitor.get(path).body
    answer = visitor.get(path, Range=given)
    assert answer.status in {200, 206, 400, 416}
    if answer.status == 200:
        assert answer.body == whole
    if answer.status == 206 and "multipart" not in answer.headers["content-type"]:
        first, last = map(int, answer.headers["content-range"].removeprefix("bytes ").partition("/")[0].split("-"))
        assert answer.body == whole[first : last + 1]
    assert len(answer.body) <= 2 * len(whole)


# malformed files ----------------------------------------------------------------------------------


def test_a_malformed_file_is_refused_at_the_start(tmp_path, changing):
    file = tmp_path / "mine.safetensors"
    file.write_bytes(changing.read_bytes()[:-1])
    code, told = refused_to_start(str(file), "--work", str(tmp_path / "work"), "--port", "0")
    assert code == 2
    assert "mine.safetensors" in told
    assert "Traceback" not in told


def test_a_file_that_is_malformed_since_is_told_of(impatient, changing):
    """Whatever stands in the file now, a page or a clear answer comes, and the other pages stay; more: JUMOK_SERVE_FUZZ."""
    rng, visitor, good = random.Random(FUZZ), Visitor(impatient), changing.read_bytes()
    other = visitor.page("/files/large")
    refusals = 0
    for at in range(FUZZ):
        changing.write_bytes(scrambled(rng, good[: rng.choice([16, len(good)])]) + good[16:] * (at % 2))
        answer = visitor.get("/files/changing")
        if answer.status != 200:
            answer.refused(422, 500)
            refusals += 1
    changing.write_bytes(good)
    assert visitor.get("/files/changing").status == 200
    assert visitor.page("/files/large") == other
    assert refusals > FUZZ / 2
