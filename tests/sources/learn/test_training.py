"""The loop: whole updates, whole snapshots, the same numbers every time."""

import math
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import jumok
from jumok.errors import InputError
from jumok.history import parts
from jumok.saved import opened
from jumok.sources.learn import training as trainings
from jumok.sources.learn.learned import _problem, _settings
from jumok.sources.learn.tasks import task_of
from jumok.sources.learn.training import Training, apart, schedule


def training(name="previous", learning_rate=3e-3, **asked):
    task = task_of(name)
    settings = _settings(task, {"seed": 0} | asked, None)
    with apart():
        return Training(_problem(task, settings), 0, learning_rate)


def numbers(history):
    """Everything in a history, as bytes by name."""
    tensors, plain = parts(history)
    return {name: np.asarray(array).tobytes() for name, array in tensors.items()}, plain


def contents(path):
    """Everything in a file: the order of its header is no one's."""
    tensors, plain = opened(path, lambda tensors, plain: (tensors, plain))
    return {name: (array.dtype, array.shape, array.tobytes()) for name, array in tensors.items()}, plain


def state(one):
    copies = {name: tensor.detach().clone() for name, tensor in one.tensors().items()}
    return copies, one.step, list(one.loss), {name: list(kept) for name, kept in one.gradient_norm.items()}


def same(a, b):
    return all(torch.equal(a[0][name], b[0][name]) for name in a[0]) and a[1:] == b[1:]


@pytest.mark.parametrize("steps", [1, 2, 9, 10, 11, 40, 41, 600, 2500])
def test_snapshots_are_dense_at_the_start_and_never_far_apart(steps):
    taken = schedule(steps)
    assert taken[0] == 0
    assert taken[-1] == steps
    assert taken[: min(10, steps) + 1] == tuple(range(min(10, steps) + 1))
    assert max(np.diff(taken)) <= max(1, math.ceil(steps / 40))
    assert len(taken) < 100


# the same seed, the same numbers ------------------------------------------------------------------


def test_the_same_seed_gives_the_same_history_whatever_torch_was_doing(monkeypatch):
    first = numbers(jumok.learn("sort", steps=12, seed=3).history)
    torch.manual_seed(99)
    torch.rand(5)
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad():
            again = numbers(jumok.learn("sort", steps=12, seed=3).history)
        assert torch.get_num_threads() == 2
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_num_threads(threads)
        torch.set_default_dtype(torch.float32)
    assert first == again
    assert first != numbers(jumok.learn("sort", steps=12, seed=4).history)


def test_another_process_gives_the_same_history(tmp_path):
    here, there = tmp_path / "here.safetensors", tmp_path / "there.safetensors"
    jumok.learn("sort", steps=6, seed=1, out=here)
    code = f"import jumok; jumok.learn('sort', steps=6, seed=1, out={str(there)!r})"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert contents(here) == contents(there)


def test_the_user_s_random_numbers_go_on_as_if_nothing_had_been():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    learned = jumok.learn("sort", steps=2)
    assert learned.model.training is False
    assert torch.equal(torch.rand(3), expected)


def test_one_update_is_adam_on_the_shortened_gradient():
    """Against PyTorch's own Adam, written out plainly, with the step growing over the warm-up."""
    one, plain = training(), training()
    optimizer = torch.optim.Adam(plain.model.parameters(), betas=(0.9, 0.98))
    with apart():
        for step in range(3):
            one.update()
            optimizer.zero_grad()
            plain.problem.loss(plain.model, 0, step).backward()
            torch.nn.utils.clip_grad_norm_(plain.model.parameters(), 1.0)
            optimizer.param_groups[0]["lr"] = 3e-3 * (step + 1) / 50
            optimizer.step()
    for ours, theirs in zip(one.model.parameters(), plain.model.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-7)


# whole or not at all ------------------------------------------------------------------------------


class Stop(Exception):
    """Something that ends an update where nobody expects it."""


def test_an_update_that_is_ended_half_way_is_undone():
    one = training()
    with apart():
        one.update()
        before = state(one)
        move = one.optimizer.step

        def half_way():
            move()
            raise Stop

        one.optimizer.step = half_way
        with pytest.raises(Stop):
            one.update()
        assert same(state(one), before)
        one.optimizer.step = move
        one.update()
        other = training()
        other.update()
        other.update()
    assert same(state(one), state(other))


@pytest.fixture(scope="module")
def whole():
    return numbers(jumok.learn("previous", steps=5).history)


@pytest.mark.parametrize("line", [3, 40, 90, 150, 260, 400])
def test_ctrl_c_at_any_line_of_an_update_or_a_snapshot_ends_the_run_whole(tmp_path, whole, line):
    """SIGINT at the n-th line that the loop or a snapshot runs: what is kept fits together and goes on to the same end."""
    out, seen = tmp_path / "run.safetensors", 0

    def watch(frame, event, _):
        nonlocal seen
        if Path(frame.f_code.co_filename).name not in ("training.py", "recording.py", "learned.py"):
            return None
        if event == "line" and ready:
            seen += 1
            if seen == line:
                signal.raise_signal(signal.SIGINT)
        return watch

    ready = False

    def progress(now):
        nonlocal ready
        ready = now.step >= 1

    sys.settrace(watch)
    try:
        learned = jumok.learn("previous", steps=5, out=out, progress=progress)
    finally:
        sys.settrace(None)
    assert seen >= line
    assert len(learned.history.loss) == learned.step < 5
    assert learned.history.steps[-1] <= learned.step
    assert numbers(jumok.learn("previous", steps=5, out=out, resume=True).history) == whole


def test_a_second_ctrl_c_ends_it_at_once():
    def progress(now):
        if now.step == 2:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            pytest.fail("the second Ctrl-C was swallowed")

    assert jumok.learn("previous", steps=30, progress=progress).step == 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


# a loss that is no number -------------------------------------------------------------------------


def test_a_loss_that_is_no_number_after_the_first_update_leaves_the_untrained_state(tmp_path):
    out = tmp_path / "run.safetensors"
    with pytest.raises(InputError, match="nan at step 1") as caught:
        jumok.learn("previous", steps=20, learning_rate=1e30, out=out)
    for run in (jumok.load(out), caught.value.learned):
        assert (run.step, run.history.steps) == (0, (0,))
        assert math.isnan(run.loss)
        assert "0 steps" in repr(run)
        assert jumok.explain(run).text("ko")
        assert jumok.draw(run).svg()


def test_a_loss_that_is_no_number_says_the_step_and_keeps_the_last_good_state(tmp_path, monkeypatch):
    out = tmp_path / "run.safetensors"
    real = trainings.Training._gradients

    def broken(self):
        if self.step == 7:
            with torch.no_grad():
                next(iter(self.model.parameters())).fill_(math.nan)
        return real(self)

    monkeypatch.setattr(trainings.Training, "_gradients", broken)
    with pytest.raises(InputError, match=r"nan at step 7") as caught:
        jumok.learn("previous", steps=20, out=out)
    assert "7단계" in caught.value.text("ko")
    monkeypatch.undo()
    kept = jumok.load(out)
    assert kept.step == 6
    assert kept.history.steps == (0, 1, 2, 3, 4, 5, 6)
    good = jumok.learn("previous", steps=6)
    assert all(np.array_equal(kept.tensors[name], good.tensors[name]) for name in good.tensors)
    assert caught.value.learned.step == 6


@pytest.mark.parametrize(("task", "rate"), [("student", 1e300), ("previous", 1e38)])
def test_a_learning_rate_far_too_large_stops_with_finite_weights(tmp_path, task, rate):
    out = tmp_path / "run.safetensors"
    with pytest.raises(InputError, match=r"at step \d+, so training stopped.*learning_rate"):
        jumok.learn(task, steps=300, learning_rate=rate, out=out)
    kept = jumok.load(out)
    assert all(np.isfinite(array).all() for array in kept.tensors.values())
    assert np.isfinite(kept.history.loss).all()
    assert kept.history.steps[-1] <= kept.step
    kept.history.trace()


# what a snapshot holds ----------------------------------------------------------------------------


def test_a_snapshot_s_weights_are_the_model_s_own():
    learned = jumok.learn("pronoun", steps=15)
    model = learned.model
    found = []
    for module in model.attentions:
        module.register_forward_hook(lambda m, a, r: found.append(m.forward(*a[:2])[1]))
    for number, probe in enumerate(learned.history.probes):
        found.clear()
        with torch.no_grad():
            model(torch.tensor([learned.task.numbered(" ".join(token.text for token in probe.tokens))]))
        for layer, weights in enumerate(found):
            traced = learned.history.trace(15, number, layer).weights
            np.testing.assert_allclose(traced, weights[0].numpy(), atol=2e-7)


@pytest.mark.parametrize(("task", "layer", "name"), [("repeat", 1, "gradient"), ("student", 0, "weights_gradient")])
def test_the_gradient_of_a_probe_is_the_slope_of_its_loss(task, layer, name):
    """dL/d(output), or dL/d(weights), against finite differences in float64."""
    one = training(task)
    with apart():
        for _ in range(3):
            one.update()
        one.snapshot()
        told = np.asarray(one.recorder.probes()[0].arrays[layer][name][0])
        one.model.double()
        module = list(one.problem.attentions(one.model).values())[layer]
        watched = one.problem.watched(one.model)[0]
        at, h = np.unravel_index(np.abs(told).argmax(), told.shape), 1e-5
        slope = (_shifted(module, watched, name, at, h) - _shifted(module, watched, name, at, -h)) / (2 * h)
    assert abs(told[at]) > 1e-4
    assert slope == pytest.approx(told[at], rel=2e-3)


def _shifted(module, watched, name, at, by):
    """The loss with one number of the output, or of the weights, shifted."""
    which = 0 if name == "gradient" else 1

    def hook(_module, _arguments, result):
        results = list(result)
        shift = torch.zeros_like(results[which])
        shift.view(-1)[np.ravel_multi_index(at, shift.squeeze(0).shape if which == 0 else shift.shape)] = by
        results[which] = results[which] + shift
        return tuple(results)

    handle = module.register_forward_hook(hook)
    try:
        with torch.no_grad():
            return float(watched.run())
    finally:
        handle.remove()
