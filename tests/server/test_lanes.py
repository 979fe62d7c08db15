"""Workers that die, do not obey, or take too long: work goes on, and what cannot is said."""

import asyncio
import os
import signal
import subprocess
import sys

import pytest

from jumok.server.lanes import Lane, Task
from jumok.server.limits import ASKS, LEAST_GRACE_S
from jumok.server.process import CODE
from jumok.server.refusal import Refusal

EXAMPLE = (
    "tokens: [{a: [0, 0]}, {b: [1, 0]}]\nweights: {w_q: identity, w_k: identity, w_v: identity}\nwanted: {b: {a: .2}}"
)
ASKED = {"example": EXAMPLE, "fixed": None}
COST = {"n": [2048], "d": 64, "heads": 8}
LONG_S = 120


def inside(lane_name, warm, work):
    """Run something with a lane of one worker."""

    async def run():
        lane = Lane(lane_name, 1, {"memory_bytes": 0}, warm)
        try:
            await lane.start()
            async with asyncio.timeout(LONG_S):
                return await work(lane)
        finally:
            await lane.close()
            assert not any(process.is_alive for process in lane.processes)

    return asyncio.run(run())


def kill(lane):
    [process] = lane.processes
    os.kill(process.pid, signal.SIGKILL)
    return process


async def asked(lane, task):
    await lane.put(task)
    return await task.done


def test_a_worker_that_died_while_it_waited_is_begun_again():
    async def work(lane):
        await lane.ask(Task("a", "design", ASKED, LONG_S))
        before = kill(lane)
        await before.ended()
        answer = await lane.ask(Task("a", "design", ASKED, LONG_S))
        assert lane.restarts == 1
        return answer

    assert inside("quick", True, work)["report"]["exact"] is True


def test_a_worker_whose_server_is_gone_before_it_is_ready_ends_without_a_word():
    """Its standard input still stands open, as for the moment in which its reader has not seen the end of it."""
    hears, says = os.pipe()
    os.close(hears)
    worker = subprocess.Popen(
        [sys.executable, "-P", "-c", CODE, "quick", '{"memory_bytes": 0}'],
        stdin=subprocess.PIPE,
        stdout=says,
        stderr=subprocess.PIPE,
    )
    os.close(says)
    with worker:
        assert (worker.wait(LONG_S), worker.stderr.read()) == (0, b"")


def test_what_a_dead_worker_did_is_tried_once_more_and_then_said(tmp_path):
    begun = []

    async def work(lane):
        task = Task("a", "cost", {**COST, "folder": str(tmp_path)}, LONG_S)
        task.begun = lambda: begun.append(1)
        task.tell = lambda _told: kill(lane)  # as soon as it says something
        with pytest.raises(Refusal) as caught:
            await asked(lane, task)
        assert caught.value.status == 500
        assert "ended twice" in caught.value.en
        assert "두 번" in caught.value.ko

    inside("heavy", False, work)
    assert begun == [1, 1]


def test_work_that_takes_too_long_is_ended(tmp_path):
    async def work(lane):
        task = Task("a", "cost", {**COST, "n": [16_384], "folder": str(tmp_path)}, 0.5)
        with pytest.raises(Refusal) as caught:
            await asked(lane, task)
        assert caught.value.status == 504
        assert "longer" in caught.value.en
        assert await lane.ask(Task("b", "design", ASKED, LONG_S)), "the lane works on"

    inside("heavy", False, work)


def test_what_does_not_stop_is_ended():
    async def work(lane):
        task = Task("a", "cost", {**COST, "folder": "/nowhere"}, LONG_S)
        told = asyncio.Event()
        task.tell = lambda _told: (lane.stop(task), os.kill(next(iter(lane.processes)).pid, signal.SIGSTOP), told.set())
        await lane.put(task)
        await told.wait()
        assert await task.done is None

    inside("heavy", False, work)


def test_a_training_is_given_time_to_keep_what_was_seen_of_it(tmp_path):
    """Where many train, the next step of one may come late."""

    async def work(lane):
        asked_for = {"task": "previous", "steps": 20_000, "seed": 0, "folder": str(tmp_path)}
        task = Task("a", "learn", asked_for, LONG_S)
        told = asyncio.Event()
        task.tell = lambda one: told.set() if one.get("step", {}).get("step", 0) > 20 else None
        await lane.put(task)
        await told.wait()
        [process] = lane.processes
        os.kill(process.pid, signal.SIGSTOP)
        lane.stop(task)
        await asyncio.sleep(LEAST_GRACE_S + 1)
        os.kill(process.pid, signal.SIGCONT)
        assert await task.done == {}

    inside("heavy", False, work)


def test_a_visitor_has_a_few_questions_under_way():
    async def work(lane):
        tasks = [asyncio.create_task(lane.ask(Task("a", "design", ASKED, LONG_S))) for _ in range(ASKS)]
        await asyncio.sleep(0)
        with pytest.raises(Refusal) as caught:
            await lane.ask(Task("a", "design", ASKED, LONG_S))
        assert caught.value.status == 429
        assert await lane.ask(Task("b", "design", ASKED, LONG_S))
        assert len(await asyncio.gather(*tasks)) == ASKS

    inside("quick", True, work)


def test_work_that_nobody_foresaw_to_fail_is_said_without_its_details(capfd):
    async def work(lane):
        with pytest.raises(Refusal) as caught:
            await lane.ask(Task("a", "design", {}, LONG_S))
        return caught.value

    error = inside("heavy", False, work)
    assert error.status == 500
    assert "KeyError" in error.en
    assert "example" not in error.en
    assert "Traceback" in capfd.readouterr().err
