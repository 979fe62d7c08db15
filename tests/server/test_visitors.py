"""A class on one server: everybody edits, opens pages, reads layers and starts jobs, while a text is read and a model trained.

Longer: JUMOK_SERVE_SECONDS=600 JUMOK_SERVE_VISITORS=30 JUMOK_SERVE_MODEL=demo (docs/drills.md); ``-s`` shows the times.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import statistics
import threading
import time

import numpy as np
import psutil
import pytest

import jumok
from real_weights import named
from served import Server, Visitor, data_of, serving
from small_folders import WORDS, encoder, folder_of

SECONDS = float(os.environ.get("JUMOK_SERVE_SECONDS", "5"))
VISITORS = int(os.environ.get("JUMOK_SERVE_VISITORS", "6"))
MODEL = os.environ.get("JUMOK_SERVE_MODEL")
WARM_S = 60  # until caches are full; what is shorter says nothing of memory
EXAMPLES = ["student", "cat-fish", "bank-river", "who-whom", "copy", "ship"]


class Pupil(threading.Thread):
    """One visitor, as a person who thinks between two things; every answer is held against the visitor's own question."""

    def __init__(self, server: Server, number: int, seen: dict[str, str], end: float) -> None:
        super().__init__(daemon=True)
        self.visitor = Visitor(server)
        self.number, self.seen, self.end = number, seen, end
        self.rng, self.draw = random.Random(number), np.random.default_rng(number)
        self.edits_ms: list[float] = []
        self.opened = self.layers = 0
        self.jobs: dict[str, str] = {}  # name → what only this visitor asked for
        self.wrong: list[str] = []

    def run(self) -> None:
        while time.monotonic() < self.end:
            step = self.rng.choices([self.drag, self.open, self.read, self.start_job], [10, 4, 4, 1])[0]
            try:
                step()
            except Exception as error:
                self.wrong.append(f"visitor {self.number}, {step.__name__}: {type(error).__name__}: {error}")
            time.sleep(self.rng.uniform(0.5, 4))

    def drag(self) -> None:
        """A slider is moved: a page asks anew as soon as it has its answer."""
        for _ in range(self.rng.randint(2, 6)):
            wanted = self.draw.dirichlet(np.full(5, 5.0))
            text = example(self.number, wanted)
            start = time.monotonic()
            answer = self.visitor.post("/api/ask", {"kind": "design", "example": text, "fixed": None})
            self.edits_ms.append(1000 * (time.monotonic() - start))
            assert answer.status == 200, answer.body[:300]
            assert np.abs(attended(answer.json()) - wanted).max() < 1e-3

    def open(self) -> None:
        """A page, and the numbers in it: the same for everybody, and none of another page."""
        name = self.rng.choice(EXAMPLES)
        for path in data_of(self.visitor, f"/examples/{name}"):
            answer = self.visitor.get(path)
            assert answer.status == 200
            assert tokens(answer.body) == list(jumok.load(name).tokens)
            digest = hashlib.sha256(answer.body).hexdigest()
            assert self.seen.setdefault(f"{name} {path}", digest) == digest
        self.opened += 1

    def read(self) -> None:
        """One layer of a long reading."""
        [path] = data_of(self.visitor, "/files/long")
        size = int.from_bytes(self.visitor.get(path, Range="bytes=0-7").body, "little")
        names = json.loads(self.visitor.get(path, Range=f"bytes=8-{7 + size}").body)
        name = self.rng.choice([one for one in names if one != "__metadata__"])
        first, last = (8 + size + at for at in names[name]["data_offsets"])
        answer = self.visitor.get(path, Range=f"bytes={first}-{last - 1}")
        assert answer.status == 206
        digest = hashlib.sha256(answer.body).hexdigest()
        assert len(answer.body) == last - first
        assert self.seen.setdefault(f"long {name}", digest) == digest
        self.layers += 1

    def start_job(self) -> None:
        """A text of one's own, where no other is under way; what was made of the last one is one's own."""
        if any(job["state"] in ("queued", "running") for job in self.listed()):
            return
        self.check()
        text = " ".join(self.rng.choices(WORDS, k=12))
        self.jobs[self.visitor.submit("capture", text=text)] = text

    def listed(self) -> list[dict]:
        jobs = self.visitor.get("/api/jobs").json()
        assert {job["id"] for job in jobs} == set(self.jobs)
        return jobs

    def check(self) -> None:
        """Every job that is done holds the words that this visitor typed, in their order."""
        for job in self.listed():
            if job["state"] in ("queued", "running"):
                continue
            assert job["state"] == "done", job
            [path] = data_of(self.visitor, f"/jobs/{job['id']}")
            assert words(self.visitor.get(path).body) == self.jobs[job["id"]].split()


def example(number: int, wanted: np.ndarray) -> str:
    """An example in words that no other visitor has."""
    names = [f"w{number}x{at}" for at in range(5)]
    tokens = "".join(f"  - {name}: {[int(at == one) for one in range(5)]}\n" for at, name in enumerate(names))
    row = ", ".join(f"{name}: {weight!r}" for name, weight in zip(names, wanted.tolist(), strict=True))
    return f"tokens:\n{tokens}weights: {{w_q: identity, w_k: identity, w_v: identity}}\nwanted: {{{names[1]}: {{{row}}}}}\n"


def attended(answer: dict) -> np.ndarray:
    """The weights of the second token, by the formula, from W_Q and W_K as they came: x is the identity."""
    w_q, w_k = np.asarray(answer["w_q"]), np.asarray(answer["w_k"])
    scores = np.exp((w_q @ w_k.T)[1] / np.sqrt(w_q.shape[1]))
    return scores / scores.sum()


def tokens(data: bytes) -> list[str]:
    """The tokens of a document."""
    size = int.from_bytes(data[:8], "little")
    record = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["record"])
    return [token[0] for token in record["tokens"][0]]


def words(data: bytes) -> list[str]:
    """The words of a document, without the marks that a tokenizer adds."""
    pieces = [token for token in tokens(data) if token not in ("[CLS]", "[SEP]")]
    return "".join(piece[2:] if piece.startswith("##") else f" {piece}" for piece in pieces).split()


class Memory(threading.Thread):
    """What the server and its workers hold, once a second, in megabytes."""

    def __init__(self, server: Server, end: float) -> None:
        super().__init__(daemon=True)
        self.server, self.end = server, end
        self.at_s: list[float] = []
        self.server_mb: list[float] = []
        self.all_mb: list[float] = []

    def run(self) -> None:
        start = time.monotonic()
        while time.monotonic() < self.end:
            self.at_s.append(time.monotonic() - start)
            self.server_mb.append(psutil.Process(self.server.process.pid).memory_info().rss / 2**20)
            self.all_mb.append(self.server.memory() / 2**20)
            time.sleep(1)

    def halves(self, values: list[float]) -> tuple[float, float]:
        """The median of the second quarter of the time and of the last one."""
        quarter = len(values) // 4
        return statistics.median(values[quarter : 2 * quarter + 1]), statistics.median(values[-quarter - 1 :])


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """A model and a long reading."""
    folder = tmp_path_factory.mktemp("given")
    n_layers, n = (12, 2048) if SECONDS > WARM_S else (3, 300)
    draw = np.random.default_rng(0).standard_normal((n_layers, 3, 4, n, 32)).astype(np.float32)
    layers = [jumok.attend(q=q, k=k, v=v, tokens=[f"t{at}" for at in range(n)]) for q, k, v in draw]
    jumok.Reading(layers).save(folder / "long.safetensors")
    model = named(MODEL) if MODEL else str(folder_of(encoder(), folder / "model"))
    return model, str(folder / "long.safetensors")


def test_a_class_works_at_the_same_time(tmp_path, given):
    """No error, no answer of another's question, and, where it lasts long enough, no memory that grows."""
    model, long = given
    with serving(tmp_path / "work", long, "--model", model) as server:
        teacher, seen = Visitor(server), {}
        training = teacher.submit("learn", task="repeat", steps=20_000)
        text = " ".join(random.Random(0).choices(WORDS, k=40))
        reading = teacher.submit("capture", text=text)
        teacher.wait(training, "running")
        end = time.monotonic() + SECONDS
        pupils = [Pupil(server, number, seen, end) for number in range(VISITORS)]
        memory = Memory(server, end)
        for one in (*pupils, memory):
            one.start()
        while time.monotonic() < end:  # one text after another is read all the time
            assert teacher.wait(reading)["state"] == "done"
            teacher.delete(f"/api/jobs/{reading}")
            reading = teacher.submit("capture", text=text)
            if teacher.job(training)["state"] == "done":  # and one model after another is trained
                training = teacher.submit("learn", task="repeat", steps=20_000)
        for one in (*pupils, memory):
            one.join(120)
            assert not one.is_alive()
        assert teacher.job(training)["state"] in ("running", "done")
        teacher.post(f"/api/jobs/{training}/stop", {})
        for one in pupils:
            for name in one.jobs:
                one.visitor.wait(name)
            one.check()
    wrong = [said for one in pupils for said in one.wrong]
    told = report(pupils, memory, wrong)
    print(f"\n{told}")
    assert not wrong, wrong[:5]
    assert all(one.edits_ms for one in pupils) or SECONDS < WARM_S
    before, after = memory.halves(memory.all_mb)
    assert after < 1.1 * before + 50 or SECONDS < WARM_S, told


def report(pupils: list[Pupil], memory: Memory, wrong: list[str]) -> str:
    edits = sorted(ms for one in pupils for ms in one.edits_ms)
    of = [edits[min(len(edits) - 1, int(len(edits) * part))] for part in (0.5, 0.95, 0.99)] + [edits[-1]]
    grew = ["{:.0f} → {:.0f} MB".format(*memory.halves(values)) for values in (memory.server_mb, memory.all_mb)]
    return (
        f"{len(pupils)} visitors, {SECONDS:.0f} s: {len(edits)} edits, median {of[0]:.0f} ms, 95 % {of[1]:.0f} ms, 99 % {of[2]:.0f} ms, "
        f"longest {of[3]:.0f} ms; {sum(one.opened for one in pupils)} pages, {sum(one.layers for one in pupils)} layers, "
        f"{sum(len(one.jobs) for one in pupils)} jobs, {len(wrong)} errors; memory of the server {grew[0]}, with its workers {grew[1]}"
    )
