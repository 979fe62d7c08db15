"""What goes wrong around ``jumok serve``: kills at any moment, a full disk, damaged files.

Longer: JUMOK_SERVE_KILLS=50 JUMOK_SERVE_MODEL=demo, with a model that reads texts and a browser that is killed as well
(docs/drills.md).
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import os
import random
import resource
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from playwright.sync_api import Error, Playwright, sync_playwright

import jumok
from browser.conftest import FLAGS, chromium
from real_weights import named
from served import ENDED, Server, Visitor, connected, request, reset, serving, until

KILLS = int(os.environ.get("JUMOK_SERVE_KILLS", "2"))
MODEL = os.environ.get("JUMOK_SERVE_MODEL")
STUDENT = (Path(jumok.__file__).parent / "examples" / "student.yaml").read_text(encoding="utf-8")
SHORTEST = {"task": "previous", "steps": 1}
DESIGN = {"kind": "design", "example": STUDENT, "fixed": None}


# kills --------------------------------------------------------------------------------------------


class Busy(threading.Thread):
    """A visitor who goes on asking through every restart, and remembers what was promised."""

    def __init__(self, server: Server, seed: int) -> None:
        super().__init__(daemon=True)
        self.visitor = Visitor(server)
        self.rng = random.Random(seed)
        self.promised: dict[str, dict] = {}  # of every job that was accepted: what was asked
        self.ended: dict[str, str] = {}  # of every job that was seen to be done: what its page is, by its digest
        self.answered = 0
        self.wrong: list[str] = []
        self.enough = threading.Event()

    def run(self) -> None:
        steps = [self.submit, self.look, self.edit, self.leave]
        while not self.enough.is_set():
            try:
                self.rng.choice(steps)()
            except (
                OSError,
                http.client.HTTPException,
            ):  # the server is killed, also in the middle of an answer, or starts
                time.sleep(0.1)
            except Exception as error:
                self.wrong.append(f"{type(error).__name__}: {error}")
            time.sleep(self.rng.uniform(0.05, 0.3))

    def submit(self) -> None:
        kinds = [
            {"kind": "learn", "task": "previous", "steps": self.rng.randint(3, 12), "seed": self.rng.randint(0, 99)},
            {"kind": "cost", "n": str(self.rng.choice([32, 64, 128])), "d": 8, "heads": 1},
            {"kind": "capture", "text": " ".join(self.rng.choices(["the", "cat", "sat", "on", "it"], k=6))},
        ]
        asked = self.rng.choices(kinds, [4, 1, 2 if MODEL else 0])[0]
        answer = self.visitor.post("/api/jobs", asked)
        if answer.status == 202:
            self.promised[answer.json()["id"]] = asked
        else:
            answer.refused(429, 503)

    def look(self, at_most: int = 5) -> None:
        for name in self.rng.sample(list(self.promised), min(at_most, len(self.promised))):
            job = self.visitor.job(name)
            assert job["kind"] == self.promised[name]["kind"], job
            if job["state"] == "done":
                digest = hashlib.sha256(self.visitor.page(f"/jobs/{name}").encode()).hexdigest()
                assert self.ended.setdefault(name, digest) == digest, f"{name} is another than it was"

    def edit(self) -> None:
        answer = self.visitor.post("/api/ask", DESIGN)
        if answer.status == 200:
            assert answer.json()["report"]["exact"] is True
            self.answered += 1
        else:
            answer.refused(503)

    def leave(self) -> None:
        """In the middle of what is told, without a word: the other side gets a reset, as of a killed browser."""
        if not self.promised:
            return
        cookies = "; ".join(f"{name}={value}" for name, value in self.visitor.cookies.items()).encode()
        path = self.rng.choice(["/api/jobs/{}/events", "/jobs/{}", "/data/{}"]).format(
            self.rng.choice(list(self.promised))
        )
        with connected(self.visitor.server, 10) as one:
            one.sendall(request(self.visitor.server, b"GET " + path.encode(), b"Cookie: " + cookies))
            one.recv(self.rng.choice([1, 100]))
            reset(one)


class Browser:
    """A browser with a folder of its own, which looks on at a training and is killed as well."""

    def __init__(self, server: Server, playwright: Playwright, profile: Path) -> None:
        self.server, self.playwright, self.profile = server, playwright, profile
        self.opened()
        until(
            lambda: b"jumok_visitor" in (profile / "Default" / "Cookies").read_bytes()
        )  # Chromium writes it after 30 s
        self.job: str | None = None
        self.look_on()

    def opened(self) -> None:
        """Open it anew, at the start page."""
        self.context = self.playwright.chromium.launch_persistent_context(
            self.profile, executable_path=chromium(), args=FLAGS
        )
        self.page = self.context.pages[0]
        self.page.goto(self.server.url)

    def look_on(self) -> None:
        """At the last training; where it has ended, at another one."""
        if self.job is None or self.asked(f"/api/jobs/{self.job}")["state"] in ENDED:
            self.job = self.asked("/api/jobs", {"kind": "learn", "task": "previous", "steps": 50})["id"]
        self.page.goto(f"{self.server.url}jobs/{self.job}")

    def asked(self, path: str, body: dict | None = None) -> dict:
        """What the server answers to a page in this browser."""
        return self.page.evaluate(
            """([path, body]) => fetch(path, body === null ? {} : {
              method: "POST", headers: {"Content-Type": "application/json", "X-Jumok": "1"}, body: JSON.stringify(body)
            }).then((answer) => answer.json())""",
            [path, body],
        )

    def kill(self) -> None:
        """Kill it, and find the training again in the next one."""
        for process in psutil.process_iter(["cmdline"]):
            if f"--user-data-dir={self.profile}" in (process.info["cmdline"] or []):
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
        with contextlib.suppress(Error):
            self.context.close()
        self.opened()
        self.look_on()


def kill_server(server: Server) -> None:
    workers = server.workers()
    server.kill()
    _, alive = psutil.wait_procs(workers, 30)
    assert not alive, f"workers outlive their server: {alive}"
    server.start()


def kill_worker(server: Server, rng: random.Random) -> None:
    if workers := server.workers():
        with contextlib.suppress(psutil.NoSuchProcess):
            rng.choice(workers).kill()


class Patient:
    """A visitor with one long training after another, each of which has to come to the end that it has without a kill."""

    def __init__(self, server: Server) -> None:
        self.visitor = Visitor(server)
        self.trainings: dict[str, dict] = {}
        self.go_on()

    def go_on(self) -> None:
        """Another training, where the last one has ended."""
        if all(self.visitor.job(name)["state"] in ENDED for name in self.trainings):
            asked = {"task": "previous", "steps": 240, "seed": len(self.trainings)}
            self.trainings[self.visitor.submit("learn", **asked)] = asked

    def is_under_way(self) -> bool:
        """Whether something of the last one would be lost."""
        self.go_on()  # on a fast machine the last one may have ended unseen
        progress = self.visitor.job(list(self.trainings)[-1])["progress"]
        return progress is not None and progress["done"] > 3

    def assert_same_end(self, work: Path) -> None:
        for name, asked in self.trainings.items():
            assert self.visitor.wait(name, limit_s=300)["state"] == "done"
            [made] = [path for path in work.rglob("run.safetensors") if name in path.parts]
            ours, whole = jumok.load(made).history, jumok.learn(**asked).history
            assert ours.steps == whole.steps
            for mine, its in zip(ours.layers, whole.layers, strict=True):
                assert all(np.array_equal(mine.weights[key], its.weights[key]) for key in its.weights), name


def test_kills_at_any_moment_lose_nothing(tmp_path):
    """Server and workers, while visitors ask for everything and now and then vanish; more: JUMOK_SERVE_KILLS."""
    rng = random.Random(KILLS)
    given = ["--model", named(MODEL)] if MODEL else []
    with serving(tmp_path / "work", *given) as server, contextlib.ExitStack() as stack:
        started = Visitor(server).get("/api/session").json()["started"]
        patient, busy = Patient(server), [Busy(server, seed) for seed in range(2)]
        for one in busy:
            one.start()
        until(patient.is_under_way)
        kills = [lambda: kill_server(server), lambda: kill_worker(server, rng)]
        if len(kills) < KILLS:
            kills.append(Browser(server, stack.enter_context(sync_playwright()), tmp_path / "profile").kill)
        killed = [0] * len(kills)
        for at in range(KILLS):
            which = at if at < len(kills) else rng.randrange(len(kills))
            kills[which]()
            killed[which] += 1
            patient.go_on()
            time.sleep(rng.uniform(0.5, 4))
        for one in busy:
            one.enough.set()
        for one in busy:
            one.join(150)
            assert not one.is_alive()
            assert not one.wrong, one.wrong[:3]
        assert_all_kept(busy, failures=killed[1] // 2)
        patient.assert_same_end(tmp_path / "work")
        assert Visitor(server).get("/api/session").json()["started"] != started
        events = patient.visitor.get(f"/api/jobs/{next(iter(patient.trainings))}/events").text
        assert '"state": "done"' in events


def assert_all_kept(busy: list[Busy], failures: int) -> None:
    """Every job that was accepted is there and has ended well; of a worker that died under it twice, it says so."""
    failed = []
    for one in busy:
        assert one.promised
        assert one.answered
        assert {job["id"] for job in one.visitor.get("/api/jobs").json()} >= set(one.promised)
        for name in one.promised:
            job = one.visitor.wait(name, limit_s=300)
            failed += [job] if job["state"] != "done" else []
        one.look(len(one.promised))
    assert len(failed) <= failures, failed
    assert all(job["state"] == "failed" and job["error"]["en"] and job["error"]["ko"] for job in failed), failed


# a full disk --------------------------------------------------------------------------------------


def limit_files(server: Server, most: int) -> None:
    """Files of the server and its workers end here, as on a full disk."""
    for process in [psutil.Process(server.process.pid), *server.workers()]:
        hard = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (most, hard))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("faults") / "work") as server:
        yield server


def test_a_full_disk_is_said_and_what_was_made_is_kept(server):
    """First nothing can be written at all, then records of jobs can and results cannot, then there is room again."""
    visitor = Visitor(server)
    kept = visitor.submit("learn", **SHORTEST)
    visitor.wait(kept)
    before = visitor.page(f"/jobs/{kept}")
    limit_files(server, 0)
    en, ko = visitor.post("/api/jobs", {"kind": "learn", **SHORTEST}).refused(507)
    assert ("write" in en, "쓸 수 없습니다" in ko) == (True, True)
    assert visitor.post("/api/ask", DESIGN).status == 200
    assert visitor.page(f"/jobs/{kept}") == before
    limit_files(server, 3000)
    job = visitor.wait(visitor.submit("learn", task="previous", steps=3))
    assert job["state"] == "failed"
    assert ("write" in job["error"]["en"], "쓸 수 없습니다" in job["error"]["ko"]) == (True, True)
    limit_files(server, resource.RLIM_INFINITY)
    assert visitor.wait(visitor.submit("learn", task="previous", steps=3))["state"] == "done"
    assert visitor.page(f"/jobs/{kept}") == before
    assert not list(server.work.rglob("*.part"))


# damaged files ------------------------------------------------------------------------------------


def test_a_work_folder_that_was_damaged_is_read_as_far_as_it_goes(server):
    """Every file of one visitor is damaged: the other visitor has everything, and the first is told."""
    rng = random.Random(KILLS)
    hurt, whole = Visitor(server), Visitor(server)
    theirs = [hurt.submit("learn", **SHORTEST) for _ in range(3)]
    kept = whole.submit("learn", **SHORTEST)
    for name in theirs:
        hurt.wait(name)
    whole.wait(kept)
    page = whole.page(f"/jobs/{kept}")
    server.kill()
    files = [one for one in server.work.rglob("*") if one.is_file() and set(theirs) & set(one.parts)]
    assert files
    for one in files:
        one.write_bytes(rng.choice([b"", b"\0" * 10, b"[1, 2", one.read_bytes()[:-7]]))
    server.start()
    assert whole.page(f"/jobs/{kept}") == page
    for name in theirs:
        for path in (f"/jobs/{name}", f"/api/jobs/{name}", f"/data/{name}-0"):
            assert hurt.get(path).status < 500 or hurt.get(path).refused(500)
    assert hurt.get("/api/jobs").status == 200
    assert hurt.wait(hurt.submit("learn", **SHORTEST))["state"] == "done"
