"""A history of anybody's training loop, taken beside it."""
# ruff: noqa: PT012, PT031 (the loop is what is tested)

import copy
import itertools
import os
import signal
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch.optim.optimizer import _global_optimizer_post_hooks

import jumok
from jumok.errors import InputError, OutputError, TooLargeError
from jumok.sources.learn import recorded as recording

TOKENS = ["the", "cat", "sat"]


class Small(nn.Module):
    """One head of jumok.nn between two linear layers, with dropout."""

    def __init__(self):
        super().__init__()
        self.first, self.attention, self.drop, self.last = (
            nn.Linear(4, 4),
            jumok.nn.MultiHeadAttention(4, 2),
            nn.Dropout(0.2),
            nn.Linear(4, 1),
        )

    def forward(self, x):
        return self.last(self.drop(self.attention(self.first(x), "causal")[0]))


class Plain(Small):
    """The same with attention written by hand."""

    def __init__(self):
        super().__init__()
        self.attention = nn.Linear(4, 12)

    def forward(self, x):
        q, k, v = self.attention(self.first(x)).chunk(3, dim=-1)
        mixed = ((q @ k.transpose(-1, -2)) / 2).softmax(-1) @ v
        return self.last(self.drop(mixed))


def encoder():
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 2)


MODELS = [Small, Plain, encoder]


def trained(model, n_steps=4, recorded=None, optimizer=None, seed=0):
    """Ordinary steps; the losses."""
    optimizer = optimizer or torch.optim.Adam(model.parameters(), lr=0.01)
    generator = torch.Generator().manual_seed(seed)
    losses = []
    for _ in range(n_steps):
        loss = model(torch.randn(8, 3, 4, generator=generator)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if recorded is not None:
            recorded.log(loss)
        losses.append(float(loss.detach()))
    return losses


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)


@pytest.fixture
def x():
    return torch.randn(1, 3, 4)


def hooks(model):
    """All hooks that stand anywhere."""
    own = sum(len(m._forward_hooks) + len(m._forward_pre_hooks) + len(m._backward_hooks) for m in model.modules())
    return own + len(_global_optimizer_post_hooks)


# what is kept ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", MODELS)
def test_a_loop_is_recorded_without_being_touched(make, x, tmp_path):
    model = make()
    with jumok.record(model, x, tokens=TOKENS) as recorded:
        losses = trained(model, 5, recorded)
    history = recorded.history
    assert history.steps == (0, 1, 2, 3, 4, 5)
    np.testing.assert_allclose(history.loss, losses, rtol=1e-6)
    history.save(tmp_path / "a.safetensors")
    again = jumok.load(tmp_path / "a.safetensors")
    for at in range(len(history.layers)):
        trace = again.trace(3, layer=at)
        np.testing.assert_array_equal(trace.weights, history.trace(3, layer=at).weights)
        assert [token.text for token in trace.tokens] == TOKENS
        assert {"w_q", "w_k", "w_v"} <= set(history.layers[at].weights)


@pytest.mark.parametrize("make", MODELS)
def test_the_last_snapshot_is_what_capture_reads_of_the_trained_model(make, x):
    model = make()
    with jumok.record(model, x) as recorded:
        trained(model, 3)
    expected = jumok.capture(model.eval(), x)
    for at, trace in enumerate(expected):
        mine = recorded.history.trace(layer=at)
        np.testing.assert_allclose(mine.weights, trace.weights, atol=1e-6)
        np.testing.assert_allclose(mine.x @ mine.heads.w_q + mine.heads.b_q, _joined(trace.q), rtol=1e-4, atol=1e-6)


def _joined(heads):
    return heads.transpose(1, 0, 2).reshape(heads.shape[1], -1)


@pytest.mark.parametrize("make", MODELS)
def test_looking_changes_nothing_of_the_training(make, x):
    model = make()
    other = copy.deepcopy(model)
    torch.manual_seed(5)
    plain = trained(other, 6)
    torch.manual_seed(5)
    with jumok.record(model, [x, x * 2], every=1, loss=lambda y: y.square().mean()):
        watched = trained(model, 6)
    assert plain == watched
    for a, b in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b)
        assert torch.equal(a.grad, b.grad)
    assert all(module.training for module in model.modules())


@pytest.mark.parametrize(("make", "place"), [(Small, "attention"), (encoder, "layers.1.self_attn")])
def test_the_gradient_at_a_probe_is_that_of_its_loss(make, place, x):
    model, x = make().double(), x.double()
    with jumok.record(model, x, loss=lambda y: y.square().mean()) as recorded:
        pass_one_step(model)
    model.eval()
    outputs = []
    hook = model.get_submodule(place).register_forward_hook(lambda m, a, made: outputs.append(made[0]))
    loss = model(x).square().mean()
    hook.remove()
    (gradient,) = torch.autograd.grad(loss, outputs)
    np.testing.assert_allclose(recorded.history.probes[0].arrays[-1]["gradient"][-1], gradient[0], rtol=1e-6)


def pass_one_step(model):
    loss = model(torch.ones(1, 3, 4, dtype=torch.float64)).square().mean()
    loss.backward()
    torch.optim.SGD(model.parameters(), lr=0.1).step()


def test_weights_can_be_left_out(x):
    model = encoder()
    with jumok.record(model, x, weights=False) as recorded:
        trained(model, 1)
    assert all(not layer.weights for layer in recorded.history.layers)
    assert recorded.history.trace().weights.shape == (2, 3, 3)


def test_a_bias_that_is_learned_is_kept_at_each_snapshot(x, tmp_path):
    class Biased(Plain):
        def __init__(self):
            super().__init__()
            self.bias = nn.Parameter(torch.zeros(3, 3))

        def forward(self, x):
            q, k, v = self.attention(self.first(x)).chunk(3, dim=-1)
            return self.last((q @ k.transpose(-1, -2) / 2 + self.bias).softmax(-1) @ v)

    model = Biased()
    with jumok.record(model, x) as recorded:
        trained(model, 2)
    recorded.history.save(tmp_path / "a.safetensors")
    for history in (recorded.history, jumok.load(tmp_path / "a.safetensors")):
        for step, zero in ((0, True), (2, False)):
            trace = history.trace(step)
            bias = trace.scaled - trace.scores * trace.rule.scale_for(trace.d_head)
            assert np.allclose(bias, 0, atol=1e-6) == zero
    np.testing.assert_allclose(bias[0], model.bias.detach(), atol=1e-6)


def test_keys_that_were_the_same_for_all_heads_at_first_are_told_apart_later(x):
    model = encoder()
    for layer in model.layers:
        nn.init.zeros_(layer.self_attn.in_proj_weight)
    with jumok.record(model, x) as recorded:
        trained(model, 3)
    assert recorded.ended is None
    assert recorded.history.trace(0).n_kv_heads == recorded.history.trace(3).n_kv_heads == 2


# when ---------------------------------------------------------------------------------------------------


def test_the_first_and_the_last_state_are_always_kept(x):
    model = Small()
    with jumok.record(model, x, every=[3]) as recorded:
        trained(model, 5)
    assert recorded.history.steps == (0, 3, 5)


def test_losses_are_of_their_step_whether_logged_before_or_after_it(x):
    for before in (True, False):
        model = Small()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with jumok.record(model, x) as recorded:
            for step in range(4):
                model(x).sum().backward()
                if before:
                    recorded.log(step)
                optimizer.step()
                if not before:
                    recorded.log(torch.tensor(float(step)))
        assert recorded.history.loss.tolist() == [0, 1, 2, 3]


def test_accumulated_losses_are_their_mean_and_missing_ones_are_nan(x):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with jumok.record(model, x) as recorded:
        model(x).sum().backward()
        recorded.log(1.0)
        recorded.log(2.0)
        optimizer.step()
        optimizer.step()
    np.testing.assert_array_equal(recorded.history.loss, [1.5, np.nan])


def test_two_optimizers_make_one_step(x):
    model = Small()
    parts = [model.first, model.attention]
    optimizers = [torch.optim.SGD(part.parameters(), lr=0.1) for part in parts]
    with jumok.record(model, x) as recorded:
        for _ in range(3):
            model(x).sum().backward()
            for optimizer in optimizers:
                optimizer.step()
    assert recorded.history.steps == (0, 1, 2, 3)
    np.testing.assert_array_equal(recorded.history.layers[0].weights["w_q"][-1], model.attention.w_q.weight.detach().T)


def test_another_optimizer_may_take_over(x):
    model = Small()
    with jumok.record(model, x) as recorded:
        trained(model, 5)
        trained(model, 6)
    assert recorded.step_number in (10, 11), "the two may share the step in which they changed"
    assert recorded.history.steps[-1] == recorded.step_number


def test_one_optimizer_of_two_models_counts_for_each_of_them_and_others_for_none(x):
    one, two = Small(), Small()
    both = torch.optim.SGD([*one.parameters(), *two.parameters()], lr=0.1)
    with jumok.record(one, x) as first, jumok.record(two, x) as second:
        (one(x) + two(x)).sum().backward()
        both.step()
        trained(Small(), 2)
    assert first.step_number == second.step_number == 1


def test_frozen_attention_is_recorded_as_it_is(x):
    model = Small()
    model.attention.requires_grad_(False)
    optimizer = torch.optim.SGD(model.last.parameters(), lr=0.1)
    with jumok.record(model, x, loss=lambda y: y.sum()) as recorded:
        trained(model, 2, optimizer=optimizer)
    weights = recorded.history.layers[0].weights["w_q"]
    assert len(weights) == 3
    assert np.array_equal(weights[0], weights[-1])


def test_steps_counted_by_hand(x):
    model = Small()
    with jumok.record(model, x) as recorded:
        for step in range(3):
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter -= 0.1
            recorded.step(step)
    assert recorded.history.steps == (0, 1, 2, 3)
    assert recorded.history.loss.tolist() == [0, 1, 2]


def test_counting_by_hand_beside_an_optimizer_counts_once(x):
    model = Small()
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3)
    with jumok.record(model, x) as recorded:
        for step in range(3):
            optimizer.step(lambda: _closure(model, x, optimizer))
            optimizer.step(lambda: _closure(model, x, optimizer)) if step else None
            recorded.step(1.0 + step)
    assert recorded.step_number == 3
    assert recorded.history.loss.tolist() == [1, 2, 3]


def _closure(model, x, optimizer):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    return loss


def test_a_loop_in_which_nothing_was_counted_is_told(x):
    with pytest.warns(RuntimeWarning, match=r"saw no step.*recorded\.step"), jumok.record(Small(), x) as recorded:
        trained(Small(), 2)
    assert recorded.history.steps == (0,)


# what goes wrong ----------------------------------------------------------------------------------------


def test_no_hook_is_left_behind_whatever_happens(x):
    model = Small()
    before = hooks(model)
    with pytest.raises(ZeroDivisionError), jumok.record(model, x) as recorded:
        trained(model, 2)
        assert hooks(model) > before
        raise ZeroDivisionError
    assert hooks(model) == before
    assert recorded.history.steps == (0, 1, 2)
    trained(model, 2)
    assert recorded.step_number == 2


def test_a_model_in_which_nothing_attends_is_refused_at_the_start(x):
    model = nn.Linear(4, 4)
    before = hooks(model)
    with pytest.raises(InputError, match="nothing attends") as caught, jumok.record(model, x):
        pytest.fail("the loop was entered")
    assert "어텐션" in caught.value.text("ko")
    assert hooks(model) == before


def test_layers_that_change_end_the_recording_and_not_the_training(x):
    model = encoder()
    with (
        pytest.warns(RuntimeWarning, match=r"stopped at step 3.*gone \['layers\.1"),
        jumok.record(model, x) as recorded,
    ):
        trained(model, 2)
        del model.layers[1]
        losses = trained(model, 2)
    assert len(losses) == 2
    assert recorded.history.steps == (0, 1, 2)
    assert "없어진" in recorded.ended.text("ko")


def test_numbers_that_are_none_end_the_recording(x):
    model = encoder()
    with pytest.warns(RuntimeWarning, match="stopped at step 2"), jumok.record(model, x) as recorded:
        trained(model, 1)
        with torch.no_grad():
            model.layers[0].self_attn.in_proj_weight.fill_(torch.nan)
        trained(model, 1)
    assert recorded.history.trace().weights.shape == (2, 3, 3)


def test_an_error_of_the_model_on_a_probe_ends_the_recording(x):
    model = Small()
    calls = []

    def probe():
        calls.append(1)
        if len(calls) > 4:
            raise RuntimeError("out of memory")
        return model(x)

    with pytest.warns(RuntimeWarning, match="out of memory"), jumok.record(model, probe) as recorded:
        trained(model, 4)
    assert recorded.history.steps == (0, 1)


def test_several_sequences_in_one_probe_are_refused():
    with pytest.raises(InputError, match="one sequence"), jumok.record(encoder(), torch.randn(2, 3, 4)):
        pass


def test_other_tokens_than_the_model_reads_are_refused(x):
    with pytest.raises(InputError, match="tokens has 2"), jumok.record(Small(), x, tokens=["a", "b"]):
        pass


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"every": 0}, "every expects"),
        ({"probes": []}, "at least one"),
        ({"probes": "a text"}, "needs a tokenizer"),
        ({"probes": 3}, "a probe is"),
        ({"probes": [None]}, "a probe is"),
        ({"loss": 3}, "loss expects"),
        ({"model": "a name"}, "expects a torch"),
        ({"out": "a.txt"}, "safetensors"),
        ({"most_bytes": 0}, "most_bytes"),
        ({"probes": [torch.ones(1, 3, 4)], "query": 1}, "query expects a list"),
    ],
)
def test_what_does_not_fit_is_refused_before_the_loop(options, said):
    options = {"model": Small(), "probes": torch.ones(1, 3, 4)} | options
    with pytest.raises(InputError, match=said) as caught:
        jumok.record(options.pop("model"), options.pop("probes"), **options)
    assert any("가" <= letter <= "힣" for letter in caught.value.text("ko"))


def test_a_loss_that_is_no_number_is_refused(x):
    with pytest.raises(InputError, match="one number"), jumok.record(Small(), x, loss=lambda y: y):
        pass
    with pytest.raises(InputError, match="one number"), jumok.record(Small(), x) as recorded:
        recorded.log(torch.ones(3))


def test_a_recording_is_begun_once(x):
    recorded = jumok.record(Small(), x)
    with pytest.raises(InputError, match="nothing is recorded yet"):
        recorded.history  # noqa: B018
    recorded.begin()
    with pytest.raises(InputError, match="begun before"):
        recorded.begin()


# memory and files -------------------------------------------------------------------------------------


def test_memory_is_bounded_by_letting_every_second_snapshot_go(x):
    model = Small()
    recorded = jumok.record(model, x)
    recorded.begin()
    one = recorded.held_bytes
    with (
        pytest.warns(RuntimeWarning, match="every second"),
        jumok.record(model, x, every=1, most_bytes=10 * one) as recorded,
    ):
        trained(model, 100)
    assert recorded.held_bytes <= 10 * one
    steps = recorded.history.steps
    assert (steps[0], steps[-1]) == (0, 100)
    assert len({b - a for a, b in itertools.pairwise(steps[:-1])}) == 1, steps


def test_snapshots_that_cannot_fit_are_refused_at_the_start(x):
    with pytest.raises(TooLargeError, match="weights=False"), jumok.record(Small(), x, most_bytes=100):
        pass


def test_out_is_written_at_the_start_and_at_the_end_also_after_an_error(x, tmp_path):
    model, path = Small(), tmp_path / "a.safetensors"
    with pytest.raises(ZeroDivisionError), jumok.record(model, x, out=path):
        assert jumok.load(path).steps == (0,)
        trained(model, 2)
        raise ZeroDivisionError
    assert jumok.load(path).steps == (0, 1, 2)


def test_an_out_that_cannot_be_written_is_refused_at_the_start(x, tmp_path):
    with (
        pytest.raises(OutputError, match="no such folder"),
        jumok.record(Small(), x, out=tmp_path / "no" / "a.safetensors"),
    ):
        pass


def test_an_out_that_cannot_be_written_later_is_told_and_the_training_goes_on(x, tmp_path):
    model, folder = Small(), tmp_path / "there"
    folder.mkdir()
    with (
        pytest.warns(RuntimeWarning, match="no such folder"),
        jumok.record(model, x, out=folder / "a.safetensors") as recorded,
    ):
        (folder / "a.safetensors").unlink()
        folder.rmdir()
        trained(model, 2)
    assert recorded.history.steps == (0, 1, 2)


def test_a_process_that_is_killed_leaves_a_whole_file(tmp_path):
    path = tmp_path / "a.safetensors"
    code = f"""
        import os, signal, torch, jumok
        from jumok.sources.learn import recorded
        recorded.SAVE_EVERY_S, recorded.SAVING_SHARE = 0, 1e9
        model = torch.nn.MultiheadAttention(4, 2)
        x = torch.ones(3, 1, 4)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with jumok.record(model, (x, x, x), every=1, out={str(path)!r}):
            for step in range(9):
                model(x, x, x)[0].sum().backward()
                optimizer.step()
            os.kill(os.getpid(), signal.SIGKILL)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], env=os.environ, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert jumok.load(path).steps == tuple(range(10))


# models of every kind -----------------------------------------------------------------------------------


def test_what_wraps_a_model_is_looked_at_from_inside(x):
    model = Plain()
    wrapped = torch.compile(nn.DataParallel(model), backend="eager")
    with jumok.record(wrapped, x) as recorded:
        trained(wrapped, 2)
    assert recorded.history.steps == (0, 1, 2)
    assert recorded.history.layers[0].name == "attention"


def test_a_module_compiled_in_place_is_looked_at_and_only_its_steps_run_compiled(x):
    model, runs = Plain(), []

    def backend(graph, _):
        def run(*given):
            runs.append(graph)
            return graph.forward(*given)

        return run

    model.compile(backend=backend)
    with jumok.record(model, x, every=1) as recorded:
        trained(model, 3)
    assert recorded.history.steps == (0, 1, 2, 3)
    assert len(runs) == 3, "one for each step of the training"


def test_nested_recordings_see_the_same_steps(x):
    model = Small()
    with jumok.record(model, x) as outer:
        trained(model, 2)
        with jumok.record(model, x) as inner:
            trained(model, 3)
    assert (outer.history.steps[-1], inner.history.steps[-1]) in {(5, 3), (4, 3)}
    assert np.array_equal(outer.history.layers[0].weights["w_q"][-1], inner.history.layers[0].weights["w_q"][-1]), (
        "the same last state"
    )


def test_probes_of_every_form(x):
    model = Small()
    probes = [x, (x,), {"x": x}, lambda: model(x)]
    with jumok.record(model, probes, tokens=[TOKENS, None, TOKENS, None], query=["cat", 1, None, None]) as recorded:
        trained(model, 1)
    history = recorded.history
    assert [probe.query for probe in history.probes] == [1, 1, None, None]
    assert [history.probes[at].tokens[0].text for at in range(4)] == ["the", "0", "the", "0"]
    for at in range(1, 4):
        np.testing.assert_array_equal(history.trace(probe=at).weights, history.trace(probe=0).weights)


def test_a_model_moved_to_another_number_type_is_kept_as_float32(x):
    model = encoder().to(torch.bfloat16)
    with jumok.record(model, x.to(torch.bfloat16)) as recorded:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(x.to(torch.bfloat16)).sum().backward()
        optimizer.step()
    assert recorded.history.layers[0].weights["w_q"].dtype == np.float32


def test_recording_is_quiet_where_nothing_is_wrong(x, capsys):
    model = Small()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with jumok.record(model, x):
            trained(model, 2)
    assert capsys.readouterr() == ("", "")


# what it costs ------------------------------------------------------------------------------------


class Clock:
    """Time that passes only where it is told to."""

    now = 0.0

    def perf_counter(self):
        return self.now


def snapshots_of(monkeypatch, look_s, step_s, n_steps=15, **asked):
    """How many snapshots there are where a snapshot and a step take so long."""
    model, x, clock = Small(), torch.randn(1, 3, 4), Clock()
    monkeypatch.setattr(recording, "time", clock)

    def look():
        clock.now += look_s
        model(x)

    with jumok.record(model, look, tokens=TOKENS, **asked) as recorded:
        for _ in range(n_steps):
            clock.now += step_s
            trained(model, 1)
    return len(recorded.history.steps)


def test_snapshots_that_would_take_much_of_the_training_are_left_out_where_nobody_said_how_often(monkeypatch):
    assert snapshots_of(monkeypatch, 10, 0) == 16  # of a training this short nobody counts the time
    assert snapshots_of(monkeypatch, 10, 0, n_steps=60) == 1 + 20 + 1  # the start, the last
    assert snapshots_of(monkeypatch, 10, 0, n_steps=60, every=1) == 61
    assert snapshots_of(monkeypatch, 10, 300, n_steps=60) == 1 + 33  # as planned, and the last
    assert 22 < snapshots_of(monkeypatch, 10, 30, n_steps=100) <= 1 + 30 * 100 * 0.08 // 10 + 1
