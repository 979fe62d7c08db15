"""Runs: kept in a file, stopped anywhere, gone on with, refused where they do not fit."""

import errno
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

import jumok
from jumok.errors import InputError, OutputError, SavedFileError, UnknownName
from jumok.saved import opened

KILLS = int(os.environ.get("JUMOK_KILLS", "2"))
WORKER = """
import sys, jumok
from jumok.sources.learn import learned
learned.SAVE_EVERY_S = 0.0
print("ready", flush=True)
jumok.learn("previous", steps=int(sys.argv[2]), seed=2, out=sys.argv[1], resume=True)
"""


def contents(path):
    """Everything in a file: the order of its header is no one's."""
    tensors, plain = opened(path, lambda tensors, plain: (tensors, plain))
    return {name: (array.dtype, array.shape, array.tobytes()) for name, array in tensors.items()}, plain


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run and its file."""
    out = tmp_path_factory.mktemp("run") / "run.safetensors"
    return jumok.learn("previous", steps=8, out=out), out


@pytest.fixture
def copy(run, tmp_path):
    """A copy of that file."""
    out = tmp_path / "run.safetensors"
    out.write_bytes(run[1].read_bytes())
    return out


# killed and gone on with --------------------------------------------------------------------------


def test_a_run_that_is_killed_goes_on_to_the_same_end(tmp_path):
    """kill -9 at random moments; more of them: JUMOK_KILLS."""
    rng, out, steps = random.Random(KILLS), tmp_path / "run.safetensors", 30 * KILLS
    killed = 0
    while killed < KILLS:
        with subprocess.Popen([sys.executable, "-c", WORKER, str(out), str(steps)], stdout=subprocess.PIPE) as worker:
            worker.stdout.readline()
            before = _step(out)
            until = time.monotonic() + 60
            while worker.poll() is None and _step(out) <= before and time.monotonic() < until:
                time.sleep(0.01)
            time.sleep(rng.uniform(0, 0.3))
            worker.kill()
        killed += 1
    stopped = _step(out)
    assert stopped > 0
    jumok.learn("previous", steps=steps, seed=2, out=out, resume=True)
    whole = tmp_path / "whole.safetensors"
    jumok.learn("previous", steps=steps, seed=2, out=whole)
    assert contents(out) == contents(whole)


def _step(out):
    return jumok.load(out).step if out.exists() else 0


def test_a_run_ended_early_goes_on_to_the_same_end(tmp_path, run):
    def stop(now):
        if now.step == 3:
            raise KeyboardInterrupt

    out = tmp_path / "run.safetensors"
    early = jumok.learn("previous", steps=8, out=out, progress=stop)
    assert (early.step, early.emerged) == (3, None)
    assert jumok.load(out).step == 3
    jumok.learn("previous", out=out, resume=True)  # steps as the file says
    assert contents(out) == contents(run[1])


def test_a_finished_run_stays_as_it_is_and_goes_on_with_more_steps(copy, run):
    before = contents(copy)
    jumok.learn("previous", steps=8, out=copy, resume=True)
    assert contents(copy) == before
    longer = jumok.learn("previous", steps=12, out=copy, resume=True)
    assert longer.step == 12
    assert longer.history.steps[-1] == 12
    np.testing.assert_array_equal(longer.history.loss[:8], run[0].history.loss)
    np.testing.assert_array_equal(longer.history.loss, jumok.learn("previous", steps=12).history.loss)


def test_resume_without_a_file_starts_anew(tmp_path, run):
    out = tmp_path / "new.safetensors"
    jumok.learn("previous", steps=8, out=out, resume=True)
    assert contents(out) == contents(run[1])


@pytest.mark.parametrize(
    ("asked", "phrase"),
    [
        ({"task": "sort"}, "a training of 'previous', made from other data than 'sort'"),
        ({"seed": 1}, "trained with seed = 0, not 1"),
        ({"batch": 16}, "trained with batch = 32, not 16"),
        ({"learning_rate": 0.5}, "trained with learning_rate = 0.003, not 0.5"),
        ({"n_heads": 2}, "trained with n_heads = 1, not 2"),
        ({"steps": 5}, "8 steps already, more than 5"),
    ],
)
def test_going_on_with_something_else_is_refused(copy, asked, phrase):
    before = copy.read_bytes()
    asked = {"task": "previous", "steps": 8} | asked
    with pytest.raises(InputError, match=phrase) as caught:
        jumok.learn(**asked, out=copy, resume=True)
    assert copy.name in caught.value.text("ko")
    assert copy.read_bytes() == before


def test_a_torn_or_foreign_file_is_refused_and_left_alone(copy, tmp_path):
    torn = copy.read_bytes()[:-100]
    copy.write_bytes(torn)
    with pytest.raises(SavedFileError, match="not a whole"):
        jumok.learn("previous", steps=8, out=copy, resume=True)
    assert copy.read_bytes() == torn
    trace = tmp_path / "trace.safetensors"
    jumok.attend(jumok.load("student")).save(trace)
    with pytest.raises(InputError, match="no training run that can go on"):
        jumok.learn("previous", out=trace, resume=True)
    with pytest.raises(InputError, match="resume needs out="):
        jumok.learn("previous", resume=True)


# files --------------------------------------------------------------------------------------------


def test_a_saved_run_is_the_run(run):
    learned, kept = run[0], jumok.load(run[1])
    assert (kept.step, kept.accuracy, kept.loss) == (learned.step, learned.accuracy, learned.loss)
    assert kept.emerged == _plain(learned.emerged)
    assert kept.answer("A B C") == learned.answer("A B C")
    np.testing.assert_array_equal(kept.trace("A B C").weights, learned.trace("A B C").weights)


def _plain(value):
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, (list, tuple)) else value


def test_a_path_that_cannot_be_written_is_refused_before_training(tmp_path):
    def never(now):
        pytest.fail(f"trained to step {now.step}")

    for out in (tmp_path / "none" / "run.safetensors", "/proc/run.safetensors"):
        with pytest.raises(OutputError):
            jumok.learn("previous", steps=3, out=out, progress=never)
    with pytest.raises(InputError, match=r"saved as \.safetensors"):
        jumok.learn("previous", steps=3, out=tmp_path / "run.pt", progress=never)


def test_a_disk_that_is_full_on_the_way_loses_nothing(tmp_path, monkeypatch):
    out = tmp_path / "run.safetensors"
    monkeypatch.setattr("jumok.sources.learn.learned.SAVE_EVERY_S", 0.0)
    real, calls = os.fsync, 0

    def full(handle):
        nonlocal calls
        calls += 1
        if calls > 4:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="no space left") as caught:
        jumok.learn("previous", steps=8, out=out)
    monkeypatch.undo()
    assert jumok.load(out).step == 3  # what was saved last
    assert caught.value.learned.step == 4  # what was in memory
    assert [path.name for path in tmp_path.iterdir()] == ["run.safetensors"]
    caught.value.learned.save(out)
    jumok.learn("previous", steps=8, out=out, resume=True)
    whole = tmp_path / "whole.safetensors"
    jumok.learn("previous", steps=8, out=whole)
    assert contents(out) == contents(whole)


@pytest.mark.parametrize(
    ("name", "value"),
    [("data", {"example": "tokens: ["}), ("data", {"name": "own", "pairs": [["a", "b"]]}), ("data", 5)],
)
def test_a_hostile_file_is_refused(copy, name, value):
    tensors, plain = opened(copy, lambda tensors, plain: (tensors, plain))
    from jumok.saved import write

    write(copy, tensors, plain | {"learned": plain["learned"] | {name: value}})
    with pytest.raises(SavedFileError):
        jumok.load(copy)


def test_a_run_of_a_task_that_has_changed_since_is_looked_at_but_answers_nothing(copy):
    tensors, plain = opened(copy, lambda tensors, plain: (tensors, plain))
    from jumok.saved import write

    write(copy, tensors, plain | {"task": plain["task"] | {"vocabulary": list("BACDEFGHIJKLMNOP")}})
    old = jumok.load(copy)
    assert old.history.trace(3).n_tokens == 12
    assert jumok.draw(old).svg()
    for use in (lambda: old.model, lambda: old.answer("A B"), lambda: old.trace("A B")):
        with pytest.raises(InputError, match="was another task") as caught:
            use()
        assert "과제" in caught.value.text("ko")


def test_a_saved_run_names_no_file(copy, tmp_path):
    tensors, plain = opened(copy, lambda tensors, plain: (tensors, plain))
    from jumok.saved import write

    own = tmp_path / "own.tsv"
    own.write_text("".join(f"a {n}\t{n % 2}\n" for n in range(40)))
    write(copy, tensors, plain | {"task": plain["task"] | {"name": str(own)}})
    with pytest.raises(SavedFileError, match="task"):
        jumok.load(copy)


# what is asked of it ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "phrase"),
    [
        ({"steps": 0}, "steps expects a whole number from 1"),
        ({"steps": 2.5}, "steps expects a whole number"),
        ({"steps": True}, "steps expects a whole number"),
        ({"seed": -1}, "seed expects a whole number from 0"),
        ({"batch": 0}, "batch expects"),
        ({"learning_rate": 0}, "learning_rate expects a number above 0"),
        ({"learning_rate": float("nan")}, "learning_rate expects a number above 0"),
        ({"n_layers": 4}, "n_layers expects a whole number from 1 to 3"),
        ({"n_heads": 5}, "n_heads expects a whole number from 1 to 4"),
        ({"n_heads": 3}, "n_heads=3 does not divide d_model=32"),
        ({"norm": 1}, "norm expects True or False"),
    ],
)
def test_settings_that_do_not_fit_are_refused(asked, phrase):
    with pytest.raises(InputError, match=phrase) as caught:
        jumok.learn("previous", **{"steps": 3} | asked)
    assert caught.value.text("ko") != str(caught.value)


def test_a_task_that_is_none_is_refused_with_those_that_are():
    with pytest.raises(UnknownName, match="pronoun") as caught:
        jumok.learn("pronouns")
    assert "과제" in caught.value.text("ko")
    with pytest.raises(InputError, match="a task is a name"):
        jumok.learn(5)
    with pytest.raises(InputError, match="leave out n_heads"):
        jumok.learn("student", n_heads=2)


def test_texts_that_the_model_cannot_know_are_refused(run):
    learned = run[0]
    with pytest.raises(UnknownName, match="never shown"):
        learned.trace("A Ω")
    with pytest.raises(InputError, match="1 to 12 words, got 0"):
        learned.trace("  ")
    with pytest.raises(InputError, match="got 13"):
        learned.answer("A " * 13)
    assert learned.trace("A B C").n_tokens == 3


@pytest.mark.parametrize("sizes", [{"n_layers": 3, "n_heads": 4}, {"d_mlp": 16, "norm": False}, {"d_model": 8}])
def test_other_sizes_train_and_come_back(tmp_path, sizes):
    out = tmp_path / "run.safetensors"
    learned = jumok.learn("sort", steps=2, out=out, **sizes)
    assert len(learned.history.layers) == sizes.get("n_layers", 1)
    text = "3 1 2 5 4 7 6 8 = 1"
    with torch.no_grad():
        numbers = torch.tensor([learned.task.numbered(text)])
        torch.testing.assert_close(jumok.load(out).model(numbers), learned.model(numbers))


def test_student_finds_another_w_for_the_same_row():
    learned = jumok.learn("student", steps=500)
    compared = learned.emerged["compared"]
    assert learned.loss < 1e-6
    assert compared["rows"] < 1e-3
    assert compared["w_q"] > 0.1
    row, trace = learned.task.rows[0], learned.history.trace()
    np.testing.assert_allclose(trace.weights[0, row], learned.task.wanted[row], atol=1e-3)
    with pytest.raises(InputError, match="own sentence only"):
        learned.trace("it was")


def test_ctrl_c_from_outside_ends_the_command_s_process_whole(tmp_path):
    """SIGINT to a process in the middle of it: it ends by itself, and its file can be gone on with."""
    out = tmp_path / "run.safetensors"
    with subprocess.Popen([sys.executable, "-c", WORKER, str(out), "100000"], stdout=subprocess.PIPE) as worker:
        worker.stdout.readline()
        until = time.monotonic() + 60
        while _step(out) < 3 and time.monotonic() < until:
            time.sleep(0.02)
        worker.send_signal(signal.SIGINT)
        try:
            assert worker.wait(60) == 0
        finally:
            worker.kill()
    assert 3 <= jumok.load(out).step < 100_000
    assert not [path for path in Path(tmp_path).iterdir() if path != out]
