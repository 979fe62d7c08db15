"""What a foreign page, a foreign visitor or a hostile file tries on ``jumok serve``, tried on a real one."""

from __future__ import annotations

import json
import re
import time
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import jumok
from jumok.trace import Source
from served import Server, Visitor, assert_safe, connected, parsed, raw, refused_to_start, request, serving

SECRET = "what nobody may read"
EVIL = "</script></title><jumok-evil onload=alert(1)>\"'><jumok-evil>--><jumok-evil>"
STUDENT = (Path(jumok.__file__).parent / "examples" / "student.yaml").read_text(encoding="utf-8")
LIMIT = 2**20  # bytes of a body
GIB = 2**30


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A secret, and beside it a folder with what the server is given: an example and a Trace that are all markup."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.txt").write_text(SECRET)
    (outside / "secret.yaml").write_text(STUDENT.replace("Who studies what", SECRET))
    given = outside / "given"
    given.mkdir()
    hostile = json.dumps(EVIL)
    (given / "<jumok-evil>.yaml").write_text(
        f"title: {hostile}\nsentence: {hostile}\ndimensions: [{hostile}, b]\ntokens:\n  - {hostile}: [1, 0]\n  - b: [0, 1]\n"
        f"weights: {{w_q: identity, w_k: identity, w_v: identity}}\nmeaning: {{{hostile}: {hostile}}}\n"
    )
    ones = np.ones((1, 2, 2))
    source = Source(name=EVIL, details={"title": {"en": EVIL, "ko": EVIL}})
    trace = jumok.attend(q=ones, k=ones, v=ones, tokens=[EVIL, "b"], source=source)
    trace.save(given / "<jumok-evil>.safetensors")
    return outside


@pytest.fixture(scope="module")
def server(folder):
    given = sorted(str(one) for one in (folder / "given").iterdir())
    with serving(folder / "work", *given, "--allow-code") as server:
        yield server


@pytest.fixture
def visitor(server):
    return Visitor(server)


# who asks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1.evil.example:{port}",
        "",
        "[::1",
        "localhost:{port}@evil.example",
        "*",
    ],
)
@pytest.mark.parametrize("path", ["/", "/api/session", "/metrics", "/health", "/static/jumok.js", "/nowhere"])
def test_a_name_that_was_bound_anew_gets_nothing(server, host, path):
    """DNS rebinding: the browser believes that evil.example is 127.0.0.1."""
    named = host.format(port=server.port).encode()
    answer = parsed(raw(server, request(server, f"GET {path}".encode(), host=named)))
    assert answer.status in {400, 403, 421}
    assert b"set-cookie" not in b"".join(name.encode() for name in answer.headers)
    assert len(answer.body) < 4096


@pytest.mark.parametrize(
    "lines", [[], [b"Host: localhost", b"Host: evil.example"]], ids=["no name of a host", "two names of a host"]
)
def test_a_request_has_one_host(server, lines):
    sent = b"\r\n".join([b"GET /api/session HTTP/1.1", *lines, b"Connection: close", b"", b""])
    assert parsed(raw(server, sent)).status == 400


def test_a_whole_address_in_the_first_line_is_no_way_around_the_host(server):
    sent = request(server, b"GET http://evil.example/api/session", host=b"evil.example")
    assert parsed(raw(server, sent)).status in {400, 403, 421}


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST"])
def test_the_names_of_this_machine_are_served(server, name):
    answer = parsed(raw(server, request(server, b"GET /api/session", host=f"{name}:{server.port}".encode())))
    assert answer.status == 200


FOREIGN = {
    "another origin": {"Origin": "https://evil.example"},
    "no origin that has a name": {"Origin": "null"},
    "another port here": {"Origin": "http://127.0.0.1:1"},
    "a name that only begins so": {"Origin": "http://127.0.0.1:{port}.evil.example"},
    "another site": {"Sec-Fetch-Site": "cross-site"},
    "another site of this machine": {"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:3000"},
    "no mark": {"X-Jumok": None},
    "a form": {"Content-Type": "application/x-www-form-urlencoded", "X-Jumok": None},
    "a form with the mark": {"Content-Type": "application/x-www-form-urlencoded"},
    "a form with a file": {"Content-Type": "multipart/form-data; boundary=x"},
    "plain text": {"Content-Type": "text/plain"},
    "plain text that says JSON": {"Content-Type": "text/plain; application/json"},
    "no type": {"Content-Type": None},
}


@pytest.mark.parametrize("path", ["/api/jobs", "/api/ask"])
@pytest.mark.parametrize("headers", FOREIGN.values(), ids=FOREIGN.keys())
def test_a_foreign_page_can_write_nothing(server, visitor, path, headers):
    asked = (
        {"kind": "cost", "n": "64", "d": 8, "heads": 1}
        if path == "/api/jobs"
        else {"kind": "design", "example": STUDENT, "fixed": None}
    )
    named = {name: value and value.format(port=server.port) for name, value in headers.items()}
    visitor.page()
    visitor.post(path, asked, headers=named).refused(400, 403, 415)
    assert visitor.get("/api/jobs").json() == []


@pytest.mark.parametrize("path", ["/api/jobs/x/stop", "/api/jobs/x"])
def test_stopping_and_taking_away_are_writing_as_well(visitor, path):
    visitor.page()
    method = "POST" if path.endswith("stop") else "DELETE"
    visitor.ask(method, path, b"").refused(400, 403, 415)
    visitor.ask(method, path, b"", {"Content-Type": "application/json", "X-Jumok": "1"}).refused(404)


def test_no_page_elsewhere_is_let_in_by_a_header(visitor):
    asked = {
        "Origin": "https://evil.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "x-jumok",
    }
    answer = visitor.ask("OPTIONS", "/api/jobs", headers=asked)
    assert answer.status >= 400
    assert not [name for name in answer.headers if name.startswith("access-control-")]


@pytest.mark.parametrize("method", ["PUT", "PATCH", "TRACE", "PROPFIND", "POST", "DELETE"])
def test_another_method_is_refused(visitor, method):
    for path in ("/", "/api/session", "/static/jumok.js", "/data/x"):
        assert visitor.ask(method, path, b"", {"Content-Type": "application/json", "X-Jumok": "1"}).status in {404, 405}


def test_a_socket_of_the_web_is_not_opened(server):
    key = (
        b"Upgrade: websocket",
        b"Connection: Upgrade",
        b"Sec-WebSocket-Version: 13",
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    )
    for path in (b"GET /", b"GET /api/jobs"):
        sent = request(server, path, b"Origin: https://evil.example", *key).replace(b"Connection: close\r\n", b"")
        with connected(server, 20) as one:
            one.sendall(sent)
            assert b" 101 " not in one.recv(4096).split(b"\r\n")[0]


# whose it is --------------------------------------------------------------------------------------


def test_a_visitor_does_not_see_what_another_has(server, visitor):
    name = visitor.submit("learn", task="previous", steps=1)
    assert visitor.wait(name)["state"] == "done"
    other = Visitor(server)
    other.page()
    assert name not in other.get("/api/jobs").text
    for path in (f"/api/jobs/{name}", f"/api/jobs/{name}/events", f"/jobs/{name}", f"/data/{name}-0"):
        assert visitor.get(path).status == 200, path
        assert other.get(path).status == 404, path
    other.post(f"/api/jobs/{name}/stop", {}).refused(404)
    other.delete(f"/api/jobs/{name}").refused(404)
    assert visitor.job(name)["state"] == "done"


def test_a_name_that_a_visitor_thought_up_is_no_folder(server, folder):
    before = sorted(one.name for one in folder.iterdir())
    for name in ("", ".", "..", "../..", "/etc", "a/b", "%2e%2e", "\\..\\..", "con"):
        visitor = Visitor(server, {"jumok_visitor": name})
        assert visitor.get("/api/jobs").json() == []
        assert visitor.cookies["jumok_visitor"] != name
        visitor.cookies["jumok_visitor"] = name
        assert visitor.get("/api/jobs").json() == []
    visitor.cookies["jumok_visitor"] = "../../evil"
    job = visitor.submit("learn", task="previous", steps=1)
    visitor.delete(f"/api/jobs/{job}")
    assert sorted(one.name for one in folder.iterdir()) == before
    assert Visitor(server, {"jumok_visitor": "x" * 5000}).get("/api/jobs").status in {200, 431}


def test_the_cookie_is_out_of_reach_of_programs_and_of_other_sites(server):
    with connected(server) as one:
        one.sendall(request(server, b"GET /"))
        answer = parsed(one.recv(65536))
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert len(re.search("jumok_visitor=([^;]+)", cookie)[1]) >= 22  # 128 bits


# where it lies ------------------------------------------------------------------------------------

UP = ["..", "%2e%2e", "%252e%252e", ".%2e", "..%00", "....", "%c0%ae%c0%ae", "%uff0e%uff0e", "．．"]
BETWEEN = ["/", "%2f", "%252f", "\\", "%5c"]
BEFORE = ["/", "/static/", "/examples/", "/files/", "/data/", "/jobs/", "/lessons/", "/api/jobs/"]


def climbing(before):
    """Paths that lead out of where they begin, however somebody spells it."""
    for up in UP:
        for between in BETWEEN:
            for name in ("secret.txt", "secret.yaml"):
                yield before + between.join([up, name])
            yield before + between.join([up] * 12 + ["etc", "passwd"])


@pytest.mark.parametrize("before", BEFORE)
def test_no_path_leads_out_of_what_was_given(server, folder, before):
    outside = str(folder)
    paths = [*climbing(before), *(before + one for one in (f"{outside}/secret.txt", f"/{outside}/secret.yaml", "/etc/passwd",
        "file:///etc/passwd", "%2fetc%2fpasswd", "secret.txt%00.yaml", "student.yaml%00", "student/../../secret", "C:\\secret.txt",
        "x" * 8000, "%", "%zz", "%00", "%0d%0aSet-Cookie:%20evil=1", "~/secret.txt", "$HOME", "", "."))]  # fmt: skip
    for path in paths:
        answer = parsed(raw(server, request(server, b"GET " + path.encode())))
        assert answer.status in {200, 303, 307, 308, 400, 404, 414, 431}, (path, answer)
        assert SECRET.encode() not in answer.body, path
        assert b"root:" not in answer.body, path
        assert "evil" not in answer.headers.get("set-cookie", ""), path
        where = answer.headers.get("location", "/")
        assert re.match(rf"/(?![/\\])|http://127\.0\.0\.1:{server.port}/", where), (path, where)
        if answer.status == 200:
            assert path in {"/", "/lessons/", "/.", "/lessons/.", "//"} or before == "/", path


@pytest.mark.parametrize(
    "name", ["../../secret", "/etc/passwd", "demo", "https://evil.example/model", "bert-base-uncased"]
)
def test_a_model_is_named_at_the_start_and_nowhere_else(visitor, name):
    """This server has none: no question brings one, under whatever key."""
    for more in ({}, {"model": name}, {"path": name}, {"corpus": name}, {"tokenizer": name}):
        visitor.post("/api/jobs", {"kind": "capture", "text": "a text", **more}).refused()
        visitor.post("/api/jobs", {"kind": "measure", **more}).refused()


@pytest.mark.parametrize(
    "name", ["../../secret.yaml", "{outside}/secret.yaml", "{outside}/secret.txt", "/etc/passwd", "", "\0", EVIL]
)
def test_a_task_is_one_of_those_that_travel(visitor, folder, name):
    """``jumok learn`` takes files: a visitor must not choose any."""
    en, ko = visitor.post("/api/jobs", {"kind": "learn", "task": name.format(outside=folder), "steps": 1}).refused()
    assert SECRET not in en + ko


# how large it is ----------------------------------------------------------------------------------


def test_headers_that_are_too_large_are_refused(server, visitor):
    for line in (b"X-Long: " + b"x" * 200_000, b"Cookie: jumok_visitor=" + b"x" * 200_000, b"X" * 200_000 + b": 1"):
        answer = parsed(raw(server, request(server, b"GET /", line)))
        assert answer.status in {400, 431}
    assert visitor.get("/health").status == 200


def test_headers_without_end_are_cut_off(server, visitor):
    before = server.memory()
    sent = flood(server, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n", b"X-More: " + b"x" * 1000 + b"\r\n")
    assert sent < 16 * 2**20
    assert server.memory() - before < 32 * 2**20
    assert visitor.get("/health").status == 200


def test_ten_thousand_headers_are_refused(server):
    answer = parsed(raw(server, request(server, b"GET /", *(b"X-%d: 1" % at for at in range(10_000)))))
    assert answer.status in {400, 431}


def test_a_long_address_is_refused(server):
    assert parsed(raw(server, request(server, b"GET /?" + b"x" * 200_000))).status in {400, 414, 431}


@pytest.mark.parametrize("path", ["/api/ask", "/api/jobs", "/nowhere", "/"])
def test_a_gibibyte_that_is_announced_is_refused_before_it_comes(server, path):
    sent = request(
        server, f"POST {path}".encode(), b"Content-Type: application/json", b"X-Jumok: 1", b"Content-Length: %d" % GIB
    )
    with connected(server, 20) as one:
        one.sendall(sent)
        answer = parsed(one.recv(65536))
    assert answer.status == 413 or (path in {"/nowhere", "/"} and answer.status in {404, 405, 413})
    assert_safe(answer)


@pytest.mark.parametrize("path", ["/api/ask", "/api/jobs", "/nowhere"])
def test_a_gibibyte_in_chunks_is_cut_off(server, visitor, path):
    head = request(
        server, f"POST {path}".encode(), b"Content-Type: application/json", b"X-Jumok: 1", b"Transfer-Encoding: chunked"
    )
    before = server.memory()
    sent = flood(server, head, b"10000\r\n" + b"x" * 65536 + b"\r\n")
    assert sent < 16 * 2**20  # what fits into the buffers of two sockets besides
    assert server.memory() - before < 32 * 2**20
    assert visitor.get("/health").status == 200


def flood(server: Server, head: bytes, again: bytes) -> int:
    """How many bytes the server lets us send, of a gibibyte."""
    sent = 0
    with connected(server, 20) as one:
        try:
            one.sendall(head)
            while sent < GIB:
                one.sendall(again)
                sent += len(again)
        except (TimeoutError, ConnectionError):
            pass
    return sent


def test_a_body_at_the_limit_is_read_and_one_beyond_it_is_not(visitor):
    for size, said in ((LIMIT, 400), (LIMIT + 1, 413)):
        body = json.dumps({"kind": "design", "example": ""}).encode()
        padded = body.ljust(size)
        answer = visitor.post("/api/ask", padded)
        answer.refused(said, 422 if said == 400 else said)


def test_a_text_that_is_too_long_is_refused(visitor):
    example = "title: " + "x" * 900_000 + "\n" + STUDENT
    started = time.monotonic()
    visitor.post("/api/ask", {"kind": "design", "example": example, "fixed": None})  # an answer, whichever
    assert time.monotonic() - started < 60


HUGE = {
    "tokens": "tokens: ["
    + ", ".join(f"t{at}: [1]" for at in range(2_000))
    + "]\nweights: {w_q: [[1]], w_k: [[1]], w_v: [[1]]}",
    "random numbers": "tokens: [a, b]\nrandom: {seed: 1, d_model: 512, d_k: 100000000}\nwanted: {a: {a: 1}}",
    "heads": "tokens: [a: [1], b: [1]]\nheads: 1000000000\nweights: {w_q: identity, w_k: identity, w_v: identity}",
    "aliases": "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b]\ntokens: [*c,*c,*c,*c,*c]",
    "depth": "tokens: " + "[" * 100_000,
    "a number": "tokens: [a: [" + "9" * 400_000 + "]]\nweights: {w_q: identity, w_k: identity, w_v: identity}",
    "constructed": "tokens: !!python/object/apply:os.system ['touch evil']",
}


@pytest.mark.parametrize("example", HUGE.values(), ids=HUGE.keys())
def test_an_example_that_would_take_all_memory_is_refused(visitor, example):
    visitor.post("/api/ask", {"kind": "design", "example": example, "fixed": None}).refused()


@pytest.mark.parametrize(
    "asked",
    [
        {"kind": "cost", "n": "1:1000000000000", "d": 64, "heads": 8},
        {"kind": "cost", "n": "1," * 100_000, "d": 64, "heads": 8},
        {"kind": "cost", "n": "64", "d": 10**12, "heads": 8},
        {"kind": "cost", "n": "64", "d": 64, "heads": 10**30},
        {"kind": "cost", "n": "64", "d": -1, "heads": 0},
        {"kind": "learn", "task": "previous", "steps": 10**15},
        {"kind": "learn", "task": "previous", "steps": -1},
        {"kind": "learn", "task": "previous", "steps": 10, "seed": 10**40},
        {"kind": "learn", "task": "previous", "steps": True},
        {"kind": "learn", "task": ["previous"], "steps": 1},
    ],
    ids=str,
)
def test_a_job_that_nobody_could_finish_is_refused_at_once(visitor, asked):
    visitor.post("/api/jobs", asked).refused()


def test_more_jobs_than_a_visitor_may_wait_for_are_refused(server, visitor):
    names = [visitor.submit("learn", task="repeat", steps=20_000)]
    answers = [visitor.post("/api/jobs", {"kind": "learn", "task": "repeat", "steps": 20_000}) for _ in range(8)]
    en, _ = next(one for one in answers if one.status != 202).refused(429)
    assert re.search(r"\d", en)  # how many may wait
    names += [one.json()["id"] for one in answers if one.status == 202]
    assert len(names) <= 5
    other = Visitor(server)
    other.submit("learn", task="previous", steps=1)  # another visitor is not kept out
    for name in names:
        assert visitor.post(f"/api/jobs/{name}/stop", {}).status in {200, 202, 204}
        assert visitor.wait(name)["state"] == "stopped"


# what it says -------------------------------------------------------------------------------------


class Elements(HTMLParser):
    """The names of all elements in a page, and of all attributes that run something."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.handlers = set(), set()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.handlers |= {name for name, _ in attributes if name.startswith("on")}


def assert_no_markup(page):
    found = Elements(page)
    assert not [tag for tag in found.tags if tag.startswith("jumok-evil")], page[:2000]
    assert not found.handlers


def test_a_hostile_text_would_be_seen_as_markup():
    assert "jumok-evil" in Elements(f"<title>{EVIL}</title>").tags


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_nothing_that_was_given_becomes_markup(server, visitor, lang):
    session = visitor.get(f"/api/session?lang={lang}")
    assert session.headers["content-type"].split(";")[0] == "application/json"
    assert "jumok-evil" in session.text
    links = set(re.findall(r'/(?:examples|files|lessons)/[^"\\]*', session.text))
    for path in ["/", "/lessons", "/examples/%3Cjumok-evil%3E", "/files/%3Cjumok-evil%3E", "/examples/%3Cjumok-evil%3E.yaml",
                 "/files/%3Cjumok-evil%3E.safetensors", *sorted(link for link in links if "evil" in link)]:  # fmt: skip
        answer = visitor.get(f"{path}?lang={lang}")
        if answer.headers["content-type"].startswith("text/html"):
            assert_no_markup(answer.text)


@pytest.mark.parametrize(
    "path",
    ["/{evil}", "/examples/{evil}", "/files/{evil}", "/jobs/{evil}", "/lessons/{evil}", "/?lang={evil}", "/?token={evil}",
     "/lessons/1?lang={evil}", "/static/{evil}", "/data/{evil}", "/api/{evil}", "/api/jobs/{evil}", "/api/jobs?lang={evil}"],
)  # fmt: skip
def test_nothing_that_was_asked_for_becomes_markup(server, visitor, path):
    quoted = EVIL.replace("%", "%25").replace(" ", "%20").replace("/", "%2f").replace('"', "%22").replace("<", "%3C")
    for evil in (quoted, EVIL.replace(" ", "+")):
        answer = parsed(raw(server, request(server, b"GET " + path.format(evil=evil).encode())))
        kind = answer.headers.get("content-type", "")
        if kind.startswith("text/html"):
            assert_no_markup(answer.text)
        else:
            assert kind.split(";")[0] in {"application/json", "text/plain", ""}, (path, kind)
        if path.startswith("/api"):
            assert kind.split(";")[0] == "application/json"


@pytest.mark.parametrize(
    "header", ["Accept-Language", "Cookie", "User-Agent", "Referer", "X-Forwarded-Host", "X-Forwarded-Prefix"]
)
def test_no_header_becomes_markup(visitor, header):
    assert_no_markup(visitor.ask("GET", "/", headers={header: EVIL}).text)


@pytest.mark.parametrize(
    "asked",
    [
        {"kind": EVIL},
        {"kind": "design", "example": EVIL, "fixed": None},
        {"kind": "design", "example": f"title: {json.dumps(EVIL)}\ntokens: [{json.dumps(EVIL)}]", "fixed": None},
        {"kind": "design", "example": STUDENT, "fixed": EVIL},
        {"kind": "cut", "document": EVIL, "layer": 0, "head": 0, "query": 0, "key": 0},
        {"kind": "check", "code": EVIL, "for": EVIL},
        {"kind": "check", "code": EVIL, "exercise": EVIL},
    ],
    ids=lambda asked: asked["kind"][:8],
)
def test_an_answer_with_a_hostile_text_is_json(visitor, asked):
    answer = visitor.post("/api/ask", asked)
    assert answer.headers["content-type"].split(";")[0] == "application/json"
    assert answer.status in {200, 400, 404, 409, 413, 422}


def test_no_page_runs_what_stands_in_it(visitor):
    """No inline program, and every script comes from this server."""
    for path in ("/", "/lessons", "/lessons/1", "/examples/student"):
        page = visitor.page(path)
        for attributes, content in re.findall(r"<script\b([^>]*)>(.*?)</script>", page, re.DOTALL):
            inert = 'type="application/json"' in attributes or 'type="text/plain"' in attributes
            assert inert or (re.search(r'src="/static/', attributes) and not content.strip()), attributes
        assert not re.search(r"""(?:src|href|action)=["']?(?:https?:)?//""", page)


# which address ------------------------------------------------------------------------------------


def test_code_is_run_on_this_machine_only(tmp_path):
    code, told = refused_to_start("--allow-code", "--host", "0.0.0.0", "--work", str(tmp_path / "work"))
    assert code == 2
    assert "--allow-code" in told
    assert not (tmp_path / "work").exists() or not list((tmp_path / "work").iterdir())


@pytest.fixture(scope="module")
def open_to_all(tmp_path_factory):
    """A server at every address of this machine, which runs no code."""
    with serving(tmp_path_factory.mktemp("open") / "work", "--host", "0.0.0.0") as server:
        yield server


def token_of(server: Server) -> str:
    return re.search(r"token=([\w-]+)", server.url)[1]


@pytest.fixture
def guest(open_to_all):
    """Who was given the link, and opened it."""
    guest = Visitor(open_to_all)
    assert guest.get(f"/?token={token_of(open_to_all)}").status in {200, 302, 303, 307}
    return guest


def test_another_address_needs_the_link_that_was_printed(open_to_all, guest):
    token = token_of(open_to_all)
    assert len(set(token)) > 4  # and 59 bits, see below
    stranger = Visitor(open_to_all)
    for path in ("/", "/api/session", "/api/jobs", "/health", "/metrics", "/static/jumok.js", "/data/x", "/nowhere",
                 "/?token=", f"/?token={token[:-1]}", f"/?token={token}x", "/?token=%C3%A9", "/?token=%00"):  # fmt: skip
        answer = stranger.get(path)
        assert answer.status == 403, path
        assert token not in answer.text
        assert "?token=" in answer.refused(403)[0]  # what to do
    stranger.post("/api/jobs", {"kind": "cost", "n": "64", "d": 8, "heads": 1}).refused(403)
    assert guest.get("/api/session").status == 200
    for path in ("/", "/lessons", "/examples/student", "/api/session"):
        answer = guest.get(path)
        assert answer.status == 200
        assert token not in answer.text


def test_the_link_opens_as_somebody_types_it(open_to_all):
    token = token_of(open_to_all)
    plain = token.replace("-", "")
    for typed in (token.upper(), plain, token.replace("-", "+"), token.replace("-", "%20"), f"%20{token}+", f"{plain[:6]}-{plain[6:]}",
                  token.replace("-", "%E2%80%93"), plain.title()):  # fmt: skip
        guest = Visitor(open_to_all)
        assert guest.get(f"/?token={typed}").status == 303, typed
        assert guest.get("/api/session").status == 200, typed
    for wrong in (
        plain[:-1],
        plain + plain[0],
        plain[::-1],
        plain[1:] + plain[0],
        "-",
        token.replace("-", "."),
        token.replace("-", "%00"),
    ):
        assert Visitor(open_to_all).get(f"/?token={wrong}").status == 403, wrong


def test_a_class_finds_its_way_back_after_a_new_start(tmp_path):
    urls = []
    for _ in range(2):
        with serving(tmp_path / "work", "--host", "0.0.0.0") as server:
            urls.append(token_of(server))
    assert urls[0] == urls[1]
    assert re.fullmatch("([abcdefghjkmnpqrstuvwxyz23456789]{4}-?){3}", urls[0])  # 31 letters, 12 of them: 59 bits
    for broken in ("", "short", "aaaa-aaaa-aaa%"):
        (tmp_path / "work" / "token").write_text(broken)
        with serving(tmp_path / "work", "--host", "0.0.0.0") as server:
            assert token_of(server) not in (broken, urls[0])


def test_a_token_does_not_make_every_host_a_good_one(open_to_all):
    sent = request(open_to_all, f"GET /?token={token_of(open_to_all)}".encode(), host=b"evil.example")
    assert parsed(raw(open_to_all, sent)).status == 421


def test_code_is_not_run_unless_it_was_allowed(guest, tmp_path):
    mark = tmp_path / "evil"
    code = f"open({str(mark)!r}, 'w')\ndef attention(q, k, v):\n    return v\n"
    assert guest.get("/api/session").json()["allow_code"] is False
    for where in ({"checks": "attention"}, {"exercise": "1"}, {"lesson": 1}, {}):
        guest.post("/api/ask", {"kind": "check", "code": code, **where}).refused(403)
    guest.post("/api/jobs", {"kind": "check", "code": code}).refused()
    assert not mark.exists()


def test_code_that_is_allowed_is_run(visitor):
    """So that the refusal above is one."""
    code = "import numpy as np\ndef attention(q, k, v):\n    return np.zeros(5)\n"
    answer = visitor.post("/api/ask", {"kind": "check", "code": code, "checks": "attention"})
    assert answer.status == 200
