"""What happened to a job: all of it for who comes in time, enough for who comes late, bounded for who never comes."""

import asyncio
import itertools
import json

from jumok.server import events as module
from jumok.server.events import Events
from jumok.server.limits import EVENTS, KEPT_EVENTS


def read(events, last=None):
    """What a reader gets, up to the end of the stream."""

    async def run():
        return [one async for one in events.stream(last, lambda: {"state": "running"})]

    return [told(one) for one in asyncio.run(run())]


def told(event):
    lines = dict(line.split(": ", 1) for line in event.decode().splitlines() if line)
    return lines["id"], lines["event"], json.loads(lines["data"])


def filled(n):
    events = Events("s")
    for at in range(n):
        events.add("step", {"step": at})
    events.has_ended = True
    return events


def test_a_new_reader_gets_the_job_and_all_steps():
    assert read(filled(3)) == [
        ("s-0", "job", {"state": "running"}), ("s-1", "step", {"step": 0}), ("s-2", "step", {"step": 1}), ("s-3", "step", {"step": 2}),
    ]  # fmt: skip


def test_a_reader_goes_on_after_what_was_seen_and_begins_anew_after_another_start():
    assert [number for number, _, _ in read(filled(3), "s-2")] == ["s-3"]
    for other in ("t-2", "s-", "s-x", "s-end", "", "s--1"):
        assert [number for number, _, _ in read(filled(2), other)] == ["s-0", "s-1", "s-2"], other


def test_a_long_training_keeps_its_whole_curve_in_bounds():
    steps = [data["step"] for _, kind, data in read(filled(20 * EVENTS)) if kind == "step"]
    assert len(steps) <= EVENTS
    assert steps[0] == 0
    assert steps[-1] == 20 * EVENTS - 1
    assert steps == sorted(steps)
    gaps = [b - a for a, b in itertools.pairwise(steps[:-1])]
    assert len(set(gaps)) == 1, "some parts of the curve are told more finely than others"
    assert len(steps) > EVENTS / 4


def test_the_last_table_is_kept():
    events = Events("s")
    events.add("step", {"step": 0, "weights": [[0.0]]})
    events.add("step", {"step": 1, "weights": [[1.0]]})
    for at in range(2, 5 * EVENTS):
        events.add("step", {"step": at})
    events.has_ended = True
    tables = [data["step"] for _, _, data in read(events) if "weights" in data]
    assert tables[-1] == 1


def test_of_states_only_the_last_is_told_and_at_the_end_little_is_kept():
    events = filled(3)
    for state in ("running", "done"):
        events.add("job", {"state": state})
    assert [data["state"] for _, kind, data in read(events, "s-1") if kind == "job"] == ["done"]
    events = filled(100)
    events.end()
    assert len(read(events, "s-1")) == KEPT_EVENTS


def test_who_looks_on_gets_a_sign_of_life(monkeypatch):
    monkeypatch.setattr(module, "HEARTBEAT_S", 0.001)

    async def run():
        stream = Events("s").stream(None, dict)
        return [await anext(stream) for _ in range(3)]

    assert asyncio.run(run())[1:] == [b": still here\n\n"] * 2
