"""A run in the middle of a training leaves no trace of itself."""

import random

import numpy as np
import pytest
import torch
from torch import nn

from jumok.sources.learn.record_undisturbed import Undisturbed


class Counting(nn.Module):
    """Writes to a buffer in place, replaces another, and draws random numbers of every kind."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))
        self.register_buffer("last", torch.zeros(3))
        self.norm, self.drop = nn.BatchNorm1d(3), nn.Dropout(0.5)
        self.w = nn.Linear(3, 3)

    def forward(self, x):
        self.calls += 1
        self.last = x[0].detach()
        torch.rand(1), random.random(), np.random.rand()
        return self.drop(self.norm(self.w(x)))


def state(model):
    return (
        {name: buffer.clone() for name, buffer in model.named_buffers()},
        {name: id(buffer) for name, buffer in model.named_buffers()},
        [module.training for module in model.modules()],
        torch.get_rng_state(),
        random.getstate(),
        np.random.get_state()[1].tolist(),
        torch.is_grad_enabled(),
    )


def same(before, after):
    for name, buffer in before[0].items():
        torch.testing.assert_close(after[0][name], buffer, rtol=0, atol=0)
    assert torch.equal(before[3], after[3])
    assert [before[at] for at in (1, 2, 4, 5, 6)] == [after[at] for at in (1, 2, 4, 5, 6)]


@pytest.mark.parametrize("fails", [False, True])
def test_modes_buffers_and_random_numbers_are_as_they_were(fails):
    model = Counting().train()
    model.norm.eval()  # somebody keeps it frozen
    undisturbed, x = Undisturbed(model), torch.randn(4, 3)
    model(x)
    for _ in range(3):
        before = state(model)
        try:
            with undisturbed.running(gradients=False):
                assert not any(module.training for module in model.modules())
                model(x)
                if fails:
                    raise ValueError
        except ValueError:
            assert fails
        same(before, state(model))


def test_buffers_that_nobody_writes_to_are_copied_only_once():
    model = nn.Linear(2, 2)
    model.register_buffer("mask", torch.ones(4))
    undisturbed = Undisturbed(model)
    for _ in range(2):
        with undisturbed.running(gradients=False):
            model(torch.ones(1, 2))
    assert undisturbed._copy("", "mask", model.mask) is None


def test_a_run_is_not_under_the_autocast_of_the_loop():
    model = nn.Linear(2, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with Undisturbed(model).running(gradients=False):
            assert model(torch.ones(1, 2)).dtype == torch.float32
        assert model(torch.ones(1, 2)).dtype == torch.bfloat16
