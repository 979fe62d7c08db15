"""A server with a tiny model: every page, every answer, jobs of every kind; visitors apart from each other."""

import base64
import json
import re
import struct
import zlib

import numpy as np
import pytest
import safetensors.numpy

import jumok
from jumok.measurement.roles.table import ENOUGH
from jumok.server.limits import SENTENCES
from jumok.sources.design.asked import answer as designed
from jumok.sources.example import load
from jumok.sources.learn.training import schedule
from small_folders import encoder, folder_of, sentences
from small_runs import history
from small_server import Visitor, events, running, served

EXAMPLE = """title: {en: Mine, ko: 내 것}
tokens: [{나는: [1, 0]}, {학교에: [0, 1]}, {간다: [1, 1]}]
weights: {w_q: identity, w_k: identity, w_v: identity}
wanted: {간다: {나는: .5}}
"""
TEXT = "the cat sat on the mat"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return folder_of(encoder(), tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def given(tmp_path_factory, model):
    """Files of every kind that can be shown."""
    folder = tmp_path_factory.mktemp("given")
    (folder / "내 예제.yaml").write_text(EXAMPLE, encoding="utf-8")
    (folder / "corpus.txt").write_text("\n".join(sentences(12)), encoding="utf-8")
    jumok.attend(load("bank-river")).save(folder / "reading.safetensors")
    history().save(folder / "run.safetensors")
    jumok.measure(str(model), folder / "corpus.txt", folder=folder / "measured", workers=1)
    return folder


@pytest.fixture(scope="module")
def started(tmp_path_factory, given, model):
    files = [given / name for name in ("내 예제.yaml", "reading.safetensors", "run.safetensors", "measured")]
    options = {"model": model, "corpus": given / "corpus.txt", "allow_code": True}
    with running(tmp_path_factory.mktemp("work"), *files, **options) as one:
        yield one


@pytest.fixture
def visitor(started):
    return Visitor(started)


def test_a_server_without_pytorch_says_what_to_install(tmp_path, monkeypatch, started):
    assert Visitor(started).get("/api/session").json["missing"] == {}
    monkeypatch.setattr("jumok.server.shelf.find_spec", lambda _name: None)
    for called, how in ((None, "pip install 'jumok[learn]'"), ("python3 run.py", "python3 run.py --with learn")):
        monkeypatch.delenv("JUMOK_CALLED", raising=False)
        if called is not None:
            monkeypatch.setenv("JUMOK_CALLED", called)
        with running(tmp_path) as server:
            visitor = Visitor(server)
            session = visitor.get("/api/session").json
            assert session["tasks"] == []
            answer = visitor.post("/api/jobs", {"kind": "learn", "task": "previous"})
            assert answer.status == 501
            assert answer.error == session["missing"]["learn"]
            assert how in answer.error["en"]
            assert how in answer.error["ko"]
            assert visitor.submit(kind="cost", n="32", d=8, heads=1)


# pages --------------------------------------------------------------------------------------------


def documents(visitor, page):
    """The documents of a page, as any reader of .safetensors reads them."""
    return [visitor.get(path).body for path in page["documents"]]


def test_the_start_page_and_what_the_server_can_do(visitor):
    assert visitor.served("/")["view"] == "start"
    session = visitor.get("/api/session").json
    assert session["version"] == jumok.__version__
    assert session["model"] == {"name": session["model"]["name"], "limit": 48}
    assert session["corpus"] is True
    assert session["allow_code"] is True
    assert "pronoun" in [task["name"] for task in session["tasks"]]
    names = {one["name"]: one for one in session["examples"]}
    assert {"student", "copy", "내-예제"} <= names.keys()
    assert names["내-예제"]["title"] == {"en": "Mine", "ko": "내 것"}
    assert session["examples"][0]["name"] == "내-예제"  # one's own first
    assert {one["name"]: one["kind"] for one in session["files"]} == {
        "reading": "reading", "run": "run", "measured": "measured",
    }  # fmt: skip
    for one in (*session["examples"][:3], *session["examples"][-1:], *session["files"]):
        assert visitor.get(one["href"], accept="text/html").status == 200


@pytest.mark.parametrize("name", ["student", "it-tired", "내-예제"])
def test_the_page_of_an_example_has_its_numbers_and_a_solver(visitor, tmp_path, given, name):
    page = visitor.served("/examples/" + "".join(f"%{byte:02x}" for byte in name.encode()))
    assert page["view"] == "record"
    assert page["model"]["solver"] is True
    [data] = documents(visitor, page)
    expected = jumok.attend(load(str(given / "내 예제.yaml") if name == "내-예제" else name))
    first = expected if isinstance(expected, jumok.Trace) else expected[0]
    tensors = safetensors.numpy.load(data)
    for part in ("q", "k", "v", "x"):
        assert np.array_equal(tensors[f"layers.0.{part}"], getattr(first, part))


def test_a_saved_reading_a_run_and_measured_heads_are_shown(visitor):
    page = visitor.served("/files/reading")
    tensors = safetensors.numpy.load(documents(visitor, page)[0])
    trace = jumok.attend(load("bank-river"))
    assert np.array_equal(tensors["layers.0.q"], (trace if isinstance(trace, jumok.Trace) else trace[0]).q)
    run = visitor.served("/files/run")
    assert "export" in run["model"]["extension"]
    assert json.loads(header(documents(visitor, run)[0])["__metadata__"]["record"])["kind"] == "history"
    html = visitor.get("/files/measured", accept="text/html").text
    assert 'src="/static/measured.js"' in html
    assert re.search('id="jumok-measured">[A-Za-z0-9+/=]{100,}<', html)


def header(data):
    (size,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + size])


def test_lessons_are_listed_and_shown(visitor):
    listed = visitor.served("/lessons")["lessons"]
    assert [one["number"] for one in listed] == list(range(1, len(listed) + 1))
    page = visitor.served(listed[0]["href"])
    assert page["view"] == "record"
    assert page["model"]["lesson"]["name"] == listed[0]["name"]
    assert page["model"]["checker"] is True
    assert documents(visitor, page)


@pytest.mark.parametrize(
    ("query", "accepts", "lang"), [("", "ko-KR,ko;q=0.9", "ko"), ("", "fr", "en"), ("?lang=ko", "en", "ko"), ("?lang=xx", "en", "en")]
)  # fmt: skip
def test_a_page_speaks_the_language_of_its_reader(started, query, accepts, lang):
    visitor = Visitor(started)
    html = visitor.get(f"/{query}", accept="text/html", accept_language=accepts).text
    assert f'<html lang="{lang}">' in html
    assert served(html)["lang"] == lang
    if query == "?lang=ko":
        assert served(visitor.get("/lessons", accept_language="en").text)["lang"] == "ko"  # it is remembered
        assert visitor.ask("HEAD", "/?lang=en").status == 200  # so does a page that only says what was chosen in it
        assert served(visitor.get("/lessons", accept_language="ko").text)["lang"] == "en"


def test_a_language_that_was_asked_for_at_the_start_is_that_of_every_page_until_its_reader_switches(tmp_path):
    with running(tmp_path, lang="ko") as started:
        visitor = Visitor(started)
        visitor.cookies["jumok_lang"] = "en"  # chosen at a server that left the choice to browsers
        for path in ("/", "/nothing"):
            html = visitor.get(path, accept="text/html", accept_language="en-US,en;q=0.9").text
            assert '<html lang="ko">' in html
        assert served(visitor.get("/?lang=en", accept_language="ko").text)["lang"] == "en"
        assert served(visitor.get("/lessons", accept_language="ko").text)["lang"] == "en"  # it is remembered
        assert '<html lang="en">' in visitor.get("/nothing", accept="text/html", accept_language="ko").text


def test_the_text_form_is_there_with_a_model(visitor):
    assert visitor.served("/text")["view"] == "text"


def test_programs_are_sent_once(visitor):
    first = visitor.get("/static/jumok.js")
    assert first.status == 200
    assert first.headers["content-type"].startswith("text/javascript")
    assert visitor.get("/static/jumok.js", if_none_match=first.headers["etag"]).status == 304
    assert visitor.get("/static/nothing.js").status == 404


# parts of a document ------------------------------------------------------------------------------


def test_a_part_of_a_document_is_brought_alone(visitor):
    [path] = visitor.served("/files/reading")["documents"]
    whole = visitor.get(path)
    size = len(whole.body)
    assert int(whole.headers["content-length"]) == size
    for said, part in [("0-7", slice(0, 8)), (f"8-{size + 99}", slice(8, None)), ("-5", slice(-5, None)), ("100-", slice(100, None))]:  # fmt: skip
        answer = visitor.get(path, range=f"bytes={said}", if_range=whole.headers["etag"])
        assert answer.status == 206
        assert answer.body == whole.body[part]
        start = size - len(answer.body) if said == "-5" else int(said.split("-")[0])
        assert answer.headers["content-range"] == f"bytes {start}-{start + len(answer.body) - 1}/{size}"


def test_what_cannot_be_brought_in_part_is_said_or_brought_whole(visitor):
    [path] = visitor.served("/files/reading")["documents"]
    whole = visitor.get(path)
    behind = visitor.get(path, range=f"bytes={len(whole.body)}-")
    assert behind.status == 416
    assert behind.headers["content-range"] == f"bytes */{len(whole.body)}"
    assert behind.error
    for headers in ({"range": "bytes=0-7", "if_range": '"old"'}, {"range": "bytes=a-b"}, {"range": "bytes=0-1,4-5"}):
        answer = visitor.get(path, **headers)
        assert answer.status == 200
        assert answer.body == whole.body
    assert visitor.get(path, if_none_match=whole.headers["etag"]).status == 304


# answers ------------------------------------------------------------------------------------------


def test_a_design_is_answered_as_in_a_notebook(visitor):
    answer = visitor.post("/api/ask", {"kind": "design", "example": EXAMPLE, "fixed": None})
    assert answer.status == 200
    assert answer.json == json.loads(json.dumps(designed(EXAMPLE)))
    fixed = visitor.post("/api/ask", {"kind": "design", "example": EXAMPLE, "fixed": "w_k"}).json
    assert fixed["w_k"] == [[1, 0], [0, 1]]


def test_what_is_wrong_with_an_example_is_said_with_its_line(visitor):
    answer = visitor.post("/api/ask", {"kind": "design", "example": "tokens: [a, b]\nnonsense: 1\n", "fixed": None})
    assert answer.status == 422
    assert "line 2" in answer.error["en"]
    assert "2행" in answer.error["ko"]


def test_code_gets_its_verdict(visitor):
    code = "from numpy import exp\ndef attention(q, k, v):\n    e = exp(q @ k.T)\n    return e / e.sum(-1, keepdims=True) @ v\n"
    verdict = visitor.post("/api/ask", {"kind": "check", "code": code, "checks": "attention"}).json
    assert verdict["format"] == "jumok-verdict"
    assert "no-scale" in [one["id"] for one in verdict["mistakes"]]
    assert verdict["text"]["ko"]


@pytest.mark.parametrize(
    ("plain", "status"),
    [
        ({}, 422), ({"kind": "nothing"}, 422), ({"kind": "design"}, 422), ({"kind": "design", "example": 5}, 422),
        ({"kind": "design", "example": EXAMPLE, "fixed": "w_v"}, 422), ({"kind": "check", "code": ""}, 422),
        ({"kind": "check", "code": "x" * 30_000}, 413), ({"kind": "cut", "document": "x"}, 422),
        ({"kind": "cut", "document": "x", "layer": 0, "head": 0, "query": 0, "key": True}, 422),
        ({"kind": "cut", "document": "0" * 24 + "-0", "layer": 0, "head": 0, "query": 0, "key": 0}, 404),
    ],
)  # fmt: skip
def test_a_question_that_does_not_fit_is_refused(visitor, plain, status):
    answer = visitor.post("/api/ask", plain)
    assert answer.status == status
    assert answer.error


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b"\xff", b'{"kind": NaN}', b"[" * 100_000, b'{"a":' * 30 + b"1" + b"}" * 30]
)
def test_a_body_that_is_no_object_is_refused(visitor, body):
    answer = visitor.post("/api/ask", body=body)
    assert answer.status == (422 if body == b"" else 400)
    assert answer.error


DEEP = {"en": "it is nested too deeply.", "ko": "너무 깊이 중첩되어 있습니다."}
DIGITS = {"en": "a number in it has too many digits.", "ko": "자릿수가 너무 많은 수가 있습니다."}
OTHER = {"en": "it is no JSON from line 1, column 2 on.", "ko": "1번째 줄 2번째 글자부터 JSON이 아닙니다."}


@pytest.mark.parametrize("path", ["/api/ask", "/api/jobs"])
@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"[" * 10_000, DEEP), (b'{"a":' * 10_000, DEEP), (b'{"kind": "cost", "n": ' + b"9" * 6000 + b"}", DIGITS), (b"{", OTHER),
        (b"\xff", {"en": "it is not UTF-8 text.", "ko": "UTF-8 글이 아닙니다."}),
        (b'{"kind": NaN}', {"en": "NaN is no number of JSON.", "ko": "NaN은 JSON의 수가 아닙니다."}),
    ],
    ids=lambda one: str(one)[:12],
)  # fmt: skip
def test_what_is_no_json_is_told_in_own_words(visitor, path, body, said):
    error = visitor.post(path, body=body).error
    assert error["en"] == f"the body of the request is no JSON that can be read: {said['en']}"
    assert error["ko"] == f"요청 본문을 JSON으로 읽을 수 없습니다: {said['ko']}"


@pytest.mark.parametrize(
    ("path", "plain", "en", "ko"),
    [
        ("ask", {}, "kind expects one of design, cut, check, and it is missing.", "가운데 하나가 필요한데 빠져 있습니다."),
        ("ask", {"kind": "design"}, "example expects a text that is not empty, and it is missing.",
         "example에는 비어 있지 않은 글이 필요한데 빠져 있습니다."),
        ("ask", {"kind": "design", "example": None}, "not empty; got null.", "필요한데 null이 왔습니다."),
        ("ask", {"kind": "design", "example": EXAMPLE, "bogus": 1}, 'design has no field "bogus". It has: kind, example, fixed.',
         'design에는 "bogus" 필드가 없습니다. 쓸 수 있는 필드: kind, example, fixed.'),
        ("ask", {"kind": "check", "code": "def f(): pass", "mask": "allowed"}, 'no field "mask"', '"mask" 필드가 없습니다'),
        ("jobs", {"kind": "learn", "task": "previous", "step": 3}, 'learn has no field "step"', '"step" 필드가 없습니다'),
        ("jobs", {"kind": "cost", "n": "32", "number": 1}, 'cost has no field "number"', '"number" 필드가 없습니다'),
    ],
)  # fmt: skip
def test_a_field_that_is_missing_or_unknown_is_named(visitor, path, plain, en, ko):
    error = visitor.post(f"/api/{path}", plain).error
    assert error["en"].endswith(en) if en.endswith(".") else en in error["en"]
    assert ko in error["ko"]
    assert visitor.get("/api/jobs").json == []


@pytest.mark.parametrize(
    ("code", "en", "ko"),
    [
        ("", "There is no code yet.", "아직 코드가 없습니다."),
        (" \n", "There is no code yet.", "아직 코드가 없습니다."),
        ("# later", "There is no function in the code.", "코드에 함수가 없습니다."),
        ("def f(q): pass\ndef g(q): pass", "which of these functions to check: f, g.", "알 수 없습니다: f, g."),
    ],
)
def test_code_without_a_function_is_told_in_words_that_fit_a_page(visitor, code, en, ko):
    error = visitor.post("/api/ask", {"kind": "check", "code": code, "checks": "attention"}).error
    assert en in error["en"]
    assert ko in error["ko"]
    assert not any(word in error[lang] for word in ("code.py", "colon", "콜론", "--kind") for lang in ("en", "ko"))


@pytest.mark.parametrize(
    ("plain", "status"),
    [
        ({"kind": "learn"}, 422), ({"kind": "learn", "task": "/etc/passwd"}, 422), ({"kind": "learn", "task": "sort", "steps": 0}, 422),
        ({"kind": "learn", "task": "sort", "steps": 10**9}, 422), ({"kind": "learn", "task": "sort", "seed": -1}, 422),
        ({"kind": "learn", "task": "sort", "steps": 2.5}, 422), ({"kind": "cost", "n": "1:x"}, 422),
        ({"kind": "cost", "n": "1048576"}, 422), ({"kind": "cost", "n": "64", "d": 10**9}, 422), ({"kind": "capture"}, 422),
        ({"kind": "capture", "text": "a" * 30_000}, 413), ({"kind": "capture", "text": "  "}, 422), ({"kind": "capture", "text": "a\0"}, 422),
        ({"kind": "measure", "text": 3}, 422),
    ],
)  # fmt: skip
def test_a_job_that_cannot_be_is_refused_at_once(visitor, plain, status):
    answer = visitor.post("/api/jobs", plain)
    assert answer.status == status, answer.text
    assert answer.error
    assert visitor.get("/api/jobs").json == []


@pytest.mark.parametrize(
    ("plain", "en", "ko"),
    [
        ({"kind": "learn", "task": "previous", "steps": 0}, "number of steps (steps) expects", "단계 수(steps)에는"),
        ({"kind": "learn", "task": "previous", "seed": 10**20}, "seed expects a whole number from 0", "시드(seed)에는"),
        ({"kind": "cost", "d": 0}, "width of a head (d) expects", "헤드의 너비(d)에는"),
        ({"kind": "cost", "heads": 65}, "number of heads (heads) expects", "헤드 수(heads)에는"),
        ({"kind": "cost", "n": "0:10"}, "from 1 to 65,536, got '0:10'", "토큰 수(n)에는 1부터 65,536까지"),
        ({"kind": "cost", "n": "65537"}, "from 1 to 65,536, got '65537'", "토큰 수(n)에는 1부터 65,536까지"),
        ({"kind": "cost", "n": "x"}, "numbers of tokens (n) expects", "토큰 수(n)에는 토큰 수를"),
        ({"kind": "cost", "n": "9:3"}, "numbers of tokens (n) FROM:TO expects", "토큰 수(n) 처음:끝에는"),
        ({"kind": "capture", "text": "a" * 30_000}, "text has 30,000 letters", "글(text): 30,000자인데"),
        ({"kind": "capture", "text": "  "}, "got '  '. Spaces alone are nothing", "공백만으로는 참고할 것이"),
    ],
)
def test_a_refusal_calls_a_field_as_its_form_does(visitor, plain, en, ko):
    error = visitor.post("/api/jobs", plain).error
    assert en in error["en"]
    assert ko in error["ko"]


# jobs ---------------------------------------------------------------------------------------------


def test_a_text_is_read_shown_and_cut(visitor, model):
    id = visitor.submit(kind="capture", text=TEXT)
    job = visitor.waited(id)
    assert job["state"] == "done", job
    assert job["made"] == f"/jobs/{id}"
    assert job["title"] == {"en": TEXT, "ko": TEXT}
    page = visitor.served(job["made"])
    assert page["model"]["cutter"] is True
    assert page["title"] == {"en": TEXT, "ko": TEXT}
    [data] = documents(visitor, page)
    reading = jumok.capture(str(model), TEXT)
    assert np.allclose(safetensors.numpy.load(data)["layers.1.q"], reading[1].q, atol=1e-6)
    asked = {
        "kind": "cut",
        "document": page["documents"][0],
        "layer": 1,
        "head": 0,
        "query": 2,
        "key": 3,
        "renormalise": False,
    }
    asked["document"] = asked["document"].removeprefix("/data/")
    cut = visitor.post("/api/ask", asked).json["cut"]
    own = reading.cut(1, 0, 2, 3).to_json()
    assert cut["weight"] == pytest.approx(own["weight"], abs=1e-6)
    assert cut["layer"] == 1


def test_a_training_tells_its_steps_and_its_table(started, visitor):
    id = visitor.submit(kind="learn", task="previous", steps=30, seed=1)
    told = events(started, visitor, id)
    numbers = [one for one, _, _ in told]
    assert len(set(numbers)) == len(numbers)
    steps = [data for _, kind, data in told if kind == "step"]
    assert steps
    assert steps[-1]["step"] == 30
    table = next(data for data in steps if "weights" in data)
    assert len(table["weights"]) == len(table["tokens"])
    assert np.allclose(np.sum(table["weights"], axis=1), 1, atol=0.02)
    far = [data["progress"] for _, kind, data in told if kind == "job" and data["progress"] is not None]
    assert far[0]["left_s"] is None  # until there is a speed: loading libraries is none
    assert told[-1][1] == "job"
    assert told[-1][2]["state"] == "done"
    page = visitor.served(f"/jobs/{id}")
    assert page["view"] == "record"
    record = json.loads(header(documents(visitor, page)[0])["__metadata__"]["record"])
    assert record["settings"]["seed"] == 1
    assert record["settings"]["steps"] == 30


def test_events_go_on_after_the_one_that_was_seen_last(started, visitor):
    id = visitor.submit(kind="learn", task="previous", steps=60)
    first = events(started, visitor, id, until=lambda one: one[1] == "step")
    rest = events(started, visitor, id, last=first[-1][0])
    assert not {number for number, _, _ in first} & {number for number, _, _ in rest}
    assert rest[-1][2]["state"] == "done"
    again = events(started, visitor, id, last="another-7")
    assert again[0][1] == "job"


def test_a_text_that_the_model_is_not_made_for_is_refused_with_both_numbers(visitor):
    job = visitor.waited(visitor.submit(kind="capture", text="the cat sat on the mat . " * 20))
    assert job["state"] == "failed"
    assert re.search(r"the text has 1\d\d tokens, and this model reads 48 at most", job["error"]["en"])
    assert "48개까지" in job["error"]["ko"]


def test_costs_are_measured_and_shown(visitor):
    id = visitor.submit(kind="cost", n="32:64", d=8, heads=1)
    job = visitor.waited(id)
    assert job["state"] == "done", job
    html = visitor.get(f"/jobs/{id}", accept="text/html", accept_language="ko").text
    assert served(html)["view"] == "plain"
    assert "<table>" in html
    assert 'id="say-ko" checked' in html


@pytest.mark.parametrize("text", ["the cat sat on the mat", "\n \r\nthe cat\r\n" + "it was tired\r" * 8])
def test_too_few_sentences_are_refused_before_they_are_measured(visitor, text):
    assert SENTENCES == ENOUGH
    before = visitor.get("/api/jobs").json
    answer = visitor.post("/api/jobs", {"kind": "measure", "text": text})
    assert answer.status == 422
    n = 1 if text.startswith("the") else 9
    assert "at least 10 sentences" in answer.error["en"]
    assert f"has {n}." in answer.error["en"]
    assert f"{n}개입니다" in answer.error["ko"]
    assert visitor.get("/api/jobs").json == before


@pytest.mark.parametrize("text", [None, "the cat sat on the mat\n" * 9 + "it was tired"])
def test_heads_are_measured_over_a_corpus_or_a_text(visitor, text):
    id = visitor.submit(kind="measure", **({} if text is None else {"text": text}))
    job = visitor.waited(id)
    assert job["state"] == "done", job
    html = visitor.get(f"/jobs/{id}", accept="text/html").text
    assert 'src="/static/measured.js"' in html
    [carried] = re.findall(r'id="jumok-measured">([^<]*)<', html)
    data = zlib.decompress(base64.b64decode(carried), -zlib.MAX_WBITS)
    under = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])["under"]
    names = ["corpus.txt"] * 2 if text is None else ["the text you typed", "입력한 글"]
    assert [name in under[lang] for lang, name in zip(("en", "ko"), names, strict=True)] == [True, True]


def test_a_job_that_fails_says_why(visitor):
    id = visitor.submit(kind="capture", text="the " * 400)
    job = visitor.waited(id)
    assert job["state"] == "failed"
    assert "48" in job["error"]["en"]
    assert any("가" <= letter <= "힣" for letter in job["error"]["ko"])
    assert job["made"] is None
    page = visitor.served(f"/jobs/{id}")
    assert page["view"] == "job"
    assert page["job"]["state"] == "failed"


def test_a_training_that_is_stopped_keeps_what_there_is(started, visitor):
    id = visitor.submit(kind="learn", task="previous", steps=20_000)
    seen = events(started, visitor, id, until=lambda one: one[1] == "step" and one[2]["step"] > 150)
    visitor.post(f"/api/jobs/{id}/stop")
    job = visitor.waited(id)
    assert job["state"] == "stopped"
    record = json.loads(header(documents(visitor, visitor.served(job["made"]))[0])["__metadata__"]["record"])
    assert record["settings"]["steps"] == 20_000
    assert record["steps"][-1] >= seen[-1][2]["step"], "a step that was seen is not there any more"
    [saved] = [path for path in started.work.rglob("run.safetensors") if id in path.parts]
    run = jumok.load(saved)
    assert record["steps"][-1] == run.step
    assert run.history.steps[-1] in schedule(20_000), "what goes on from here would not be what it is without a stop"


def test_a_job_that_waits_is_stopped_and_says_how_many_come_before(started, visitor):
    other = Visitor(started)
    first = other.submit(kind="learn", task="previous", steps=20_000)
    other.waited(first, "running")
    own = [visitor.submit(kind="learn", task="previous", steps=5) for _ in range(2)]
    assert [visitor.job(id)["ahead"] for id in own] == [0, 1]
    theirs = other.submit(kind="learn", task="previous", steps=5)
    assert other.job(theirs)["ahead"] == 1, "a visitor's second job comes after every other visitor's first"
    assert visitor.job(own[1])["ahead"] == 2
    assert visitor.post(f"/api/jobs/{own[0]}/stop").json["state"] in ("queued", "stopped")
    assert visitor.waited(own[0])["state"] == "stopped"
    for one, id in ((other, first), (other, theirs), (visitor, own[1])):
        one.ask("DELETE", f"/api/jobs/{id}")


def test_a_visitor_has_a_few_jobs_under_way_and_no_more(started):
    visitor = Visitor(started)
    ids = [visitor.submit(kind="learn", task="previous", steps=20_000) for _ in range(4)]
    answer = visitor.post("/api/jobs", {"kind": "cost", "n": "32"})
    assert answer.status == 429
    assert "4 jobs under way" in answer.error["en"]
    assert "200" not in answer.error["en"]
    for id in ids:
        assert visitor.ask("DELETE", f"/api/jobs/{id}").status == 200
    assert visitor.get("/api/jobs").json == []


def test_nobody_sees_what_another_made(started, visitor):
    id = visitor.submit(kind="capture", text=TEXT)
    visitor.waited(id)
    [path] = visitor.served(f"/jobs/{id}")["documents"]
    stranger = Visitor(started)
    cut = {"kind": "cut", "document": path.removeprefix("/data/"), "layer": 0, "head": 0, "query": 0, "key": 0}
    for answer in (
        stranger.get(f"/jobs/{id}"), stranger.get(path), stranger.get(f"/api/jobs/{id}"), stranger.get(f"/api/jobs/{id}/events"),
        stranger.post(f"/api/jobs/{id}/stop"), stranger.ask("DELETE", f"/api/jobs/{id}"), stranger.post("/api/ask", cut),
    ):  # fmt: skip
        assert answer.status == 404
        assert answer.error == stranger.get("/api/jobs/" + "0" * 24).error, "it would tell that the job is there"
    assert stranger.get("/api/jobs").json == []
    assert visitor.job(id)["state"] == "done"


def test_a_deleted_job_is_gone_with_all_that_it_made(started, visitor):
    id = visitor.submit(kind="capture", text=TEXT)
    visitor.waited(id)
    [path] = visitor.served(f"/jobs/{id}")["documents"]
    assert [one.name for one in started.work.rglob(id)] == [id]
    visitor.ask("DELETE", f"/api/jobs/{id}")
    assert list(started.work.rglob(id)) == []
    assert visitor.get(path).status == 404
    assert visitor.get(f"/api/jobs/{id}").status == 404


# for who runs it ----------------------------------------------------------------------------------


def test_health_and_numbers(visitor):
    health = visitor.get("/health")
    assert health.status == 200
    assert health.json["ok"] is True
    assert set(health.json["lanes"]) == {"quick", "heavy", "code", "measure", "model"}
    assert health.json["lanes"]["quick"]["workers"] >= 1
    assert health.json["lanes"]["model"]["workers"] == 1
    visitor.post("/api/ask", {"kind": "design", "example": EXAMPLE, "fixed": None})
    text = visitor.get("/metrics").text
    assert re.search(r'jumok_requests_total\{route="/api/ask",status="200"\} [1-9]', text)
    assert re.search(r'jumok_answer_seconds_count\{kind="design"\} [1-9]', text)
    assert 'jumok_workers{lane="model"} 1.0' in text


def test_nothing_is_where_nothing_is(visitor):
    for path in (
        "/nothing",
        "/api/nothing",
        "/examples/nothing",
        "/files/student",
        "/lessons/99",
        "/jobs/x",
        "/data/x",
        "/static/../x",
    ):
        answer = visitor.get(path)
        assert answer.status == 404, path
        assert answer.error
    page = visitor.get("/nothing", accept="text/html", accept_language="ko")
    assert page.status == 404
    assert page.text.index("없습니다") < page.text.index("nothing here")
    assert visitor.ask("PUT", "/api/jobs", {}).status == 405
