"""A server that ends and begins again: what was made is there, what was under way goes on."""

import json
import shutil
from pathlib import Path

import pytest

from jumok.errors import OutputError
from jumok.server.limits import TRIES
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
    damaged = changed(tmp_path, for_model, kind="capture", state="queued").with_name("f" * 24)
    damaged.mkdir()
    (damaged / "job.json").write_text("{")
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
