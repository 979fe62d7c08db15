"""A disk that is full, or takes nothing more: what the visitor is told, and that what was made until then is shown.

The workers' own Python is told to find no room for one file, so that the rest of the machine keeps its disk.
"""

import errno
import json
import os
import re
import struct

import pytest

import jumok
from jumok.errors import OutputError
from jumok.picture.learned import Run, pack_run
from jumok.server import limits, refusal
from jumok.server.kept import ROOM_BYTES
from jumok.server.worker import _told
from jumok.sources.learn.training import schedule
from small_server import Visitor, events, running

FULL = """import errno, os
from pathlib import Path

whole, told = os.replace, Path({told!r})

def replace(source, target, **more):
    if told.exists() and os.fspath(target).endswith(told.read_text()):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), os.fspath(source))
    return whole(source, target, **more)

os.replace = replace
"""
LONG = {"kind": "learn", "task": "repeat", "steps": 20_000}


@pytest.fixture
def full(tmp_path, monkeypatch):
    """Written into this file, the end of a name: from then on workers find no room for files that are called so."""
    told, folder = tmp_path / "full", tmp_path / "python"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(FULL.format(told=str(told)))
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return told


def shown(started, visitor, id, least=20):
    """The last step that a visitor saw, once it is as far as that."""
    told = events(started, visitor, id, until=lambda one: one[1] == "step" and one[2]["step"] >= least)
    return told[-1][2]["step"]


def last_step(visitor, made):
    """The last step at which the page of a training shows attention."""
    page = visitor.served(made)
    assert page["kind"] == "run"
    data = visitor.get(page["documents"][0]).body
    (size,) = struct.unpack("<Q", data[:8])
    return json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["record"])["steps"][-1]


def assert_full(error):
    assert "disk of this server is full" in error["en"]
    assert "서버의 디스크가 가득" in error["ko"]
    for text in error.values():
        assert not re.search(r"[/\\]|safetensors|\.json|Try another", text), text


def test_a_training_that_meets_a_full_disk_says_so_and_shows_what_it_had(tmp_path, full):
    with running(tmp_path / "work") as started:
        visitor = Visitor(started)
        id = visitor.submit(**LONG)
        seen = shown(started, visitor, id)
        full.write_text("run.safetensors")
        job = visitor.waited(id)
        assert job["state"] == "failed"
        assert_full(job["error"])
        assert last_step(visitor, job["made"]) >= seen
        assert not list(started.work.rglob("*.part"))
        assert not list(started.work.rglob("room")), "what was set aside for the page is not left behind"


def test_where_nothing_at_all_can_be_written_it_is_said_without_a_path(tmp_path, full):
    with running(tmp_path / "work") as started:
        visitor = Visitor(started)
        full.write_text("")
        for asked in (LONG, {"kind": "cost", "n": "16", "d": 8, "heads": 1}):
            job = visitor.waited(visitor.submit(**asked))
            assert (job["state"], job["made"]) == ("failed", None)
            assert_full(job["error"])


def test_a_training_that_took_too_long_shows_what_it_had_saved(tmp_path, monkeypatch):
    with running(tmp_path / "work") as started:
        visitor = Visitor(started)
        for seconds in (8, 30, 100):  # where the machine is busy nothing is saved yet after the first
            monkeypatch.setitem(limits.JOB_S, "learn", float(seconds))
            job = visitor.waited(visitor.submit(**LONG))
            assert job["state"] == "failed"
            assert f"longer than {seconds} seconds" in job["error"]["en"]
            if job["made"]:
                break
        assert visitor.served(job["made"])["kind"] == "run"


def test_a_job_that_cannot_be_kept_is_refused_without_a_path(tmp_path, monkeypatch):
    with running(tmp_path / "work") as started:
        visitor = Visitor(started)

        def replace(source, target):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), source)

        monkeypatch.setattr("jumok.files.os.replace", replace)
        answer = visitor.post("/api/jobs", LONG)
        assert answer.status == 507
        assert_full(answer.error)
        monkeypatch.undo()
        assert visitor.get("/api/jobs").json == []


def test_a_file_that_is_gone_is_refused_without_its_path(tmp_path):
    file = tmp_path / "given here" / "my example.yaml"
    file.parent.mkdir()
    file.write_text("tokens: [{a: [0, 0]}, {b: [1, 0]}]\nweights: {w_q: identity, w_k: identity, w_v: identity}\n")
    with running(tmp_path / "work", file) as started:
        visitor = Visitor(started)
        file.write_text("tokens: [a, b]\nnonsense: 1\n")
        wrong = visitor.get("/examples/my-example")
        file.unlink()
        gone = visitor.get("/examples/my-example")
        for answer in (wrong, gone):
            assert answer.status == 422, answer.text
            assert "my example.yaml" in answer.error["en"]
            for text in answer.error.values():
                assert "given here" not in text


@pytest.mark.parametrize(
    ("error", "en"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "/srv/a"), "is full"),
        (RuntimeError("IO Error: Could not write file '/srv/a': No space left on device"), "is full"),
        (OSError(errno.EDQUOT, "Disk quota exceeded", "/srv/a"), "is full"),
        (OutputError(en="cannot write /srv/a: no.", ko="/srv/a에 쓸 수 없습니다."), "could not write"),
    ],
)  # fmt: skip
def test_whatever_meets_a_full_disk_is_told_alike(error, en, capfd):
    told = _told(error)
    assert told["status"] == 507
    assert en in told["error"]["en"]
    assert "/srv" not in json.dumps(told)
    assert "/srv/a" in capfd.readouterr().err, "whoever runs the server learns where"


def test_the_reason_of_what_cannot_be_written_is_kept():
    error = OutputError(en="cannot write /srv/a", ko="/srv/a")
    error.__cause__ = PermissionError(errno.EACCES, "Permission denied", "/srv/a")
    found = refusal.unkept(error)
    assert "permission denied" in found.en
    assert "권한" in found.ko
    assert refusal.unkept(ValueError("no")) is None


def test_there_is_room_for_the_page_of_the_longest_training():
    """Of the packaged task with the largest snapshots, with as many of them and as many steps as a visitor may have."""
    run = jumok.learn("repeat", steps=20).history
    a_snapshot = sum(map(len, pack_run(Run(run)).file())) / len(run.steps)
    curves = limits.STEPS * sum(array[:1].nbytes for array in (run.loss, *run.gradient_norm.values()))
    assert a_snapshot * len(schedule(limits.STEPS)) + curves < ROOM_BYTES
