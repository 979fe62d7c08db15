"""A server that ends and begins again: what was made is there, what was under way goes on."""

import itertools
import json
import shutil
from pathlib import Path

import pytest

import jumok
from jumok.errors import OutputError
from jumok.server import work
from jumok.server.kept import document, keep, whole_page
from jumok.server.limits import EVENTS, TRIES
from jumok.server.shelf import Given, Shelf
from small_server import Visitor, events, running

RUN = min((Path(__file__).parents[1] / "saved").glob("*/learned.safetensors"))


def again(started, before):
    """The same visitor at the next server."""
    visitor = Visitor(started)
    visitor.cookies = dict(before.cookies)
    return visitor


def changed(work, id, **changes):
    """A kept job, as another end of the server would have left it."""
    [file] = work.rglob(f"{id}/job.json")
    file.write_text(json.dumps({**json.loads(file.read_text()), "made": False, **changes}))
    return file.parent


def test_jobs_are_there_after_a_restart_and_go_on(tmp_path):
    cost = {"kind": "cost", "n": "32", "d": 8, "heads": 1}
    with running(tmp_path) as first:
        visitor = Visitor(first)
        done, ends_it, for_model = (visitor.submit(**cost) for _ in range(3))
        assert all(visitor.waited(id)["state"] == "done" for id in (done, ends_it, for_model))
        page = visitor.get(f"/jobs/{done}").body
        runs = visitor.submit(**{**cost, "n": "16384"})
        waits = visitor.submit(**cost)
        trains = visitor.submit(**cost)
        events(first, visitor, runs, until=lambda one: one[1] == "step")
        with pytest.raises(OutputError, match="another jumok serve") as caught, running(tmp_path):
            pass
        assert "--work" in caught.value.ko
    changed(tmp_path, ends_it, state="running", starts=TRIES)
    training = {"kind": "learn", "asked": {"task": "student", "steps": 600, "seed": 0}}
    shutil.copy(RUN, changed(tmp_path, trains, state="running", **training) / "run.safetensors")
    changed(tmp_path, for_model, kind="capture", state="queued")
    with running(tmp_path) as second:
        assert second.started_id != first.started_id
        after = again(second, visitor)
        assert [job["id"] for job in after.get("/api/jobs").json] == [trains, waits, runs, for_model, ends_it, done]
        assert after.job(done)["state"] == "done"
        assert after.get(f"/jobs/{done}").body == page
        assert f"{TRIES} times" in after.job(ends_it)["error"]["en"]
        assert "--model" in after.job(for_model)["error"]["en"]
        after.post(f"/api/jobs/{trains}/stop")  # before any worker has it: what was saved is shown all the same
        after.waited(runs, "running")
        after.post(f"/api/jobs/{runs}/stop")
        assert after.waited(runs)["state"] == "stopped"
        assert after.waited(waits)["state"] == "done"
        stopped = after.waited(trains)
        assert stopped["state"] == "stopped"
        assert after.served(stopped["made"])["kind"] == "run"
        assert Visitor(second).get("/api/jobs").json == []


def test_a_second_server_says_that_it_has_another_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("JUMOK_HOME", str(tmp_path))
    with running(None) as first:
        assert capsys.readouterr().err == ""
        for lang, said in (("en", "another jumok serve uses"), ("ko", "다른 jumok serve가")):
            with running(None, lang=lang) as second:
                assert (first.work, second.work) == (tmp_path / "serve", tmp_path / "serve-2")
                [line] = capsys.readouterr().err.splitlines()
                assert said in line
                assert f"{first.work}" in line.replace(str(second.work), "")
                assert str(second.work) in line


DAMAGES = {
    "empty": b"", "cut": b'{"id":', "deep": b"[" * 10_000, "no text": b"\xff\xfe", "a list": b"[]",
    "unknown kind": {"kind": "paint"}, "unknown state": {"state": "lost"}, "later": {"version": 2}, "no title": {"title": {}},
}  # fmt: skip


def test_a_job_whose_file_is_damaged_stays_listed_and_nothing_is_deleted(tmp_path, capsys):
    cost = {"kind": "cost", "n": "32", "d": 8, "heads": 1}
    with running(tmp_path) as first:
        visitor = Visitor(first)
        whole = visitor.submit(**cost)
        assert visitor.waited(whole)["state"] == "done"
        page = visitor.get(f"/jobs/{whole}").body
    [folder] = tmp_path.rglob(whole)
    left = {}
    for at, damage in enumerate(DAMAGES.values()):
        for with_page in (True, False):
            one = folder.with_name(f"{at:012x}{with_page:012x}")
            shutil.copytree(folder, one) if with_page else one.mkdir()
            kept = json.loads((folder / "job.json").read_text())
            data = damage if isinstance(damage, bytes) else json.dumps({**kept, **damage}).encode()
            (one / "job.json").write_bytes(data)
            left[one] = (data, with_page)
    (next(iter(left)) / "page.json").write_text("[1, 2")  # of one the page as well
    left[next(iter(left))] = (b"", False)
    capsys.readouterr()
    with running(tmp_path, lang="ko") as second:
        printed = capsys.readouterr().err
        assert f"저장된 작업 {len(left)}개" in printed
        after = again(second, visitor)
        listed = {job["id"]: job for job in after.get("/api/jobs").json}
        assert set(listed) == {whole, *(one.name for one in left)}
        assert Visitor(second).get("/api/jobs").json == []
        for one, (data, with_page) in left.items():
            job = listed[one.name]
            assert str(one) in printed
            assert job["state"] == "failed"
            assert "damaged" in job["error"]["en"]
            assert "손상" in job["error"]["ko"]
            assert set(job["title"]) == {"en", "ko"}
            assert (one / "job.json").read_bytes() == data
            assert [kind for _, kind, _ in events(second, after, one.name)] == ["job"]
            if with_page:
                assert "cost" in job["title"]["en"]
                assert after.get(f"{job['made']}?lang=en").body == page
            else:
                assert job["made"] is None
                assert after.served(f"/jobs/{one.name}")["job"]["error"] == job["error"]
        assert after.get("/metrics").status == 200
        one = next(iter(left))
        assert after.ask("DELETE", f"/api/jobs/{one.name}", {}).status == 200  # its owner may
        assert not one.exists()


def test_a_training_that_goes_on_tells_its_whole_curve(tmp_path):
    def ends(told):
        if told.step == 300:
            raise KeyboardInterrupt

    asked = {"task": "previous", "steps": 310, "seed": 0}
    learned = jumok.learn(**asked, out=tmp_path / "run.safetensors", progress=ends)
    assert learned.step == 300
    told = []
    work.learn({**asked, "folder": str(tmp_path)}, told.append)
    steps = [one["step"] for one in told if "step" in one]
    history = jumok.load(tmp_path / "run.safetensors").history
    at = [one["step"] for one in steps]
    assert at[0] == 1
    assert at[-1] == 310
    assert at == sorted(set(at))
    assert max(later - one for one, later in itertools.pairwise(at)) <= 10
    assert len(at) <= EVENTS
    for one in steps:
        assert one["loss"] == history.loss[one["step"] - 1]
        last = max(at for at, step in enumerate(history.steps) if step <= one["step"])
        assert one["accuracy"] == history.accuracy[last]
    (tmp_path / "run.safetensors").write_bytes(b"damaged")
    told.clear()
    with pytest.raises(jumok.errors.SavedFileError):
        work.learn({**asked, "folder": str(tmp_path)}, told.append)
    assert told == []


def test_a_page_is_whole_only_with_all_its_documents(tmp_path):
    keep(tmp_path, {"view": "record"}, work._packed(jumok.attend(jumok.load("student"))))
    assert whole_page(tmp_path)["n_documents"] == 1
    file = document(tmp_path, 0)
    data = file.read_bytes()
    for damaged in (b"", data[:-7], data + b"0", b"\0" * len(data), b"\x02" + b"\0" * 7 + b"[]"):
        file.write_bytes(damaged)
        assert whole_page(tmp_path) is None
    file.unlink()
    assert whole_page(tmp_path) is None
    assert whole_page(tmp_path / "nowhere") is None


def test_a_page_is_made_anew_where_its_file_or_jumok_itself_is_another(tmp_path):
    file = tmp_path / "mine.yaml"
    given = Given({}, {"mine": file}, None, None, tmp_path, allow_code=False, lang="en")
    keys = []
    for text in ("tokens: [a]", "tokens: [a, b]"):
        file.write_text(text)
        keys.append(Shelf(given, {}, print)._key("example", "mine"))
    shelf = Shelf(given, {}, print)
    assert shelf._key("example", "mine") == keys[-1]
    assert shelf._key("example", "student") != shelf._key("lesson", "student")
    shelf.edition = "another"
    assert len({*keys, shelf._key("example", "mine")}) == 3
