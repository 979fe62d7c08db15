"""Watching leaves a program as it was, keeps no table, and sees its own thread alone."""

from __future__ import annotations

import contextlib
import gc
import threading

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.modules import module as hooks
from torch.utils._python_dispatch import _get_current_dispatch_mode

from jumok.sources.capture.capturing import Captured
from jumok.sources.capture.modules import Modules
from jumok.sources.capture.watch import Watch
from programs import agree, captured, sharpened, traces

B, H, N, D = 2, 3, 5, 4
E = H * D


pytestmark = pytest.mark.usefixtures("one_thread")


class Layer(nn.Module):
    """Attention written out, with a mask that follows no rule."""

    def __init__(self, mask):
        super().__init__()
        self.qkv, self.out = nn.Linear(E, 3 * E), nn.Linear(E, E)
        self.register_buffer("mask", mask)

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = (one.view(b, n, H, D).transpose(1, 2) for one in self.qkv(x).chunk(3, -1))
        weights = (q @ k.mT / 2).masked_fill(~self.mask, -torch.inf).softmax(-1)
        return x + self.out((weights @ v).transpose(1, 2).reshape(b, n, E))


def model_of(n=N, n_layers=3, mask=None):
    """Layers that share one mask."""
    mask = torch.ones(n, n, dtype=torch.bool) if mask is None else mask
    return sharpened(nn.Sequential(*(Layer(mask) for _ in range(n_layers))))


def settings():
    """What a capture could leave behind."""
    return (
        dict(hooks._global_forward_hooks),
        dict(hooks._global_forward_pre_hooks),
        dict(hooks._global_forward_hooks_always_called),
        _get_current_dispatch_mode(),
        torch.backends.mha.get_fastpath_enabled(),
        torch.is_grad_enabled(),
    )


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("inside", [True, False], ids=["in the model", "in the block"])
def test_an_exception_leaves_nothing_behind_and_comes_out(error, inside):
    class Breaks(nn.Module):
        def forward(self, x):
            raise error("mine")

    model = nn.Sequential(Layer(torch.ones(N, N, dtype=torch.bool)), Breaks() if inside else nn.Identity())
    before, reading = settings(), Captured()

    def program():
        with torch.no_grad(), reading:
            model(torch.randn(B, N, E))
            raise error("mine")

    with pytest.raises(error, match="mine"):
        program()
    assert settings() == before
    assert len(reading) == 0


def test_an_exception_that_the_program_handles_changes_nothing():
    model = model_of()

    class Tries(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, x):
            with contextlib.suppress(RuntimeError):
                self.model(x[..., :3])
            return self.model(x)

    reading = captured(lambda: Tries()(torch.randn(1, N, E)))
    assert [trace.source.details["module"] for trace in reading] == [f"model.{at}" for at in range(3)]


def test_what_is_switched_off_stays_off_where_it_was():
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        captured(lambda: model_of()(torch.randn(1, N, E)))
        assert not torch.backends.mha.get_fastpath_enabled()
    finally:
        torch.backends.mha.set_fastpath_enabled(True)


def test_captures_within_captures_and_one_after_the_other():
    model, x = model_of(), torch.randn(1, N, E)
    before = settings()
    with torch.no_grad(), Captured() as outer:
        model(x)
        with Captured() as inner:
            model(x)
        assert not torch.backends.mha.get_fastpath_enabled()
        model(x)
    with torch.no_grad(), Captured() as later:
        model(x)
    assert settings() == before
    assert [len(one.readings) for one in (outer, inner, later)] == [3, 1, 1]
    for one in (*outer.readings, inner, later):
        for trace, other in zip(one, later, strict=True):
            np.testing.assert_array_equal(trace.weights, other.weights)


def test_threads_see_their_own():
    """Two at once, each with a model of its own; the first to come leaves while the second is inside."""
    models = [
        model_of(n_layers=2),
        nn.TransformerEncoder(nn.TransformerEncoderLayer(E, 2, 8, batch_first=True), 3).eval(),
    ]
    both_in, first_out, made = threading.Barrier(2), threading.Event(), {}
    before = settings()

    def first():
        with torch.no_grad(), Captured() as made[0]:
            both_in.wait(30)
            models[0](torch.randn(1, N, E))
        first_out.set()

    def second():
        with torch.no_grad(), Captured() as made[1]:
            both_in.wait(30)
            first_out.wait(30)
            models[1](torch.randn(1, N, E))

    threads = [threading.Thread(target=one) for one in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [[len(one) for one in made[at].readings] for at in (0, 1)] == [[2], [3]]
    assert settings() == before


def test_a_thread_beside_a_capture_is_not_watched():
    model, ready, go_on = model_of(), threading.Event(), threading.Event()

    def beside():
        ready.wait(30)
        with torch.no_grad():
            model(torch.randn(1, N, E))
        go_on.set()

    thread = threading.Thread(target=beside)
    thread.start()
    with torch.no_grad(), Captured() as reading:
        ready.set()
        go_on.wait(30)
    thread.join()
    assert reading.readings == ()


def tables_alive(n):
    """How many tensors of n × n numbers somebody holds."""
    gc.collect()
    alive = [one for one in gc.get_objects() if issubclass(type(one), torch.Tensor)]
    return sum(tuple(one.shape[-2:]) == (n, n) for one in alive)


def test_no_table_is_kept():
    n = 37
    model = model_of(n, mask=torch.ones(n, n, dtype=torch.bool).tril())
    x, before = torch.randn(1, n, E), tables_alive(n)
    reading = captured(lambda: model(x))
    assert {trace.source.details["mask"] for trace in reading} == {"causal"}
    assert tables_alive(n) == before
    assert sum(trace.source.details["mask_bytes"] for trace in reading) == 0


def test_a_mask_without_a_rule_is_kept_once_for_all_layers_and_sequences():
    n = 37
    mask = (torch.rand(n, n) > 0.3) | torch.eye(n, dtype=torch.bool)
    model = model_of(n, mask=mask)
    reading = captured(lambda: model(torch.randn(B, n, E)))
    kept = {id(trace.rule.allowed.array) for trace in traces(reading)}
    assert len(traces(reading)) == 3 * B
    assert len(kept) == 1
    np.testing.assert_array_equal(reading[0].rule.allowed.array, mask.numpy())


def test_tables_of_the_program_are_let_go_while_it_runs():
    n, most = 64, 0

    class Counts(nn.Module):
        def forward(self, x):
            nonlocal most
            most = max(most, tables_alive(n))
            return x

    model = nn.Sequential(*(nn.Sequential(Layer(torch.ones(n, n, dtype=torch.bool)), Counts()) for _ in range(6)))
    with torch.no_grad():
        model(torch.randn(1, n, E))
    alone, most = most, 0
    captured(lambda: model(torch.randn(1, n, E)))
    assert most <= alone + 1, "the mask is kept, once; no scores, no weights"


def test_what_was_read_does_not_change_with_the_program():
    q, k, v = (torch.randn(B, H, N, D) for _ in range(3))
    weights = (q @ k.mT / 2).softmax(-1)

    def program():
        out = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, N, E)
        for one in (q, k, v, out):
            one.zero_()

    reading = captured(program)
    agree(reading[0], weights[0])


def test_the_result_of_the_program_is_bit_for_bit_the_same():
    model, x = model_of(), torch.randn(B, N, E)
    with torch.no_grad():
        alone, seen = model(x), []
    captured(lambda: seen.append(model(x)))
    assert torch.equal(alone, seen[0])


def test_a_mistake_of_ours_is_noted_and_the_program_goes_on(monkeypatch):
    def breaks(*_):
        raise RuntimeError("a mistake")

    monkeypatch.setattr(Watch, "complete", breaks)
    x = torch.randn(1, N, E)
    with torch.no_grad(), Captured() as reading:
        out = model_of()(x)
    assert out.shape == x.shape
    assert len(reading) == 0
    assert all("a mistake" in one.why for one in reading.seen)
    assert [one.module for one in reading.seen] == ["0", "1", "2"]


def test_a_watch_alone_finds_calls():
    model = model_of()
    with torch.no_grad(), Modules(model) as modules, Watch(modules) as watch:
        model(torch.randn(B, N, E))
    calls = [found.call() for found in watch.found]
    assert [call.module for call in calls] == ["0", "1", "2"]
    assert [tuple(call.q.shape) for call in calls] == [(B, H, N, D)] * 3
    assert {call.way for call in calls} == {"written"}


def test_operations_of_higher_order_run_unwatched():
    def program():
        return torch.cond(torch.tensor(True), lambda x: x * 2, lambda x: x, (torch.ones(2),))

    with torch.no_grad(), Captured() as reading:
        out = program()
    assert out.tolist() == [2.0, 2.0]
    assert (len(reading), reading.seen) == (0, ())
